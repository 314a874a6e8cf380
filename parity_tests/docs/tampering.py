"""A small store, and what can be done to its file behind its back."""

import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from amfs_sqlite import HANDOFF, CountedIds, EntryRef, FixedClock, MemoryEntry, OutcomeRecord, SqliteAdapter

# Each edit is one way to do what a row of the table says, and every statement of it is carried out.
# The store: three versions of one record (rows and commits 1 to 3), another record (4), an outcome
# of that (commit 5), and a third record (row 5, commit 6).
EDITS: Mapping[str, tuple[tuple[str, ...], ...]] = MappingProxyType(
    {
        "a value edited": (("UPDATE versions SET value = '\"forged\"' WHERE id = 2",),),
        "author, session, time, tags, shared, ttl, or confidence as written edited": (
            ("UPDATE versions SET agent_id = 'somebody else' WHERE id = 2",),
            ("UPDATE versions SET session_id = 'another' WHERE id = 2",),
            ("UPDATE versions SET written_at = written_at + 1 WHERE id = 2",),
            ("UPDATE versions SET tags = '[\"forged\"]' WHERE id = 2",),
            ("UPDATE versions SET shared = 0 WHERE id = 2",),
            ("UPDATE versions SET ttl_at = 1 WHERE id = 2",),
            ("UPDATE versions SET confidence = 0.9 WHERE id = 2",),
        ),
        "a chain edited, versions swapped, or the current row differing from the newest version": (
            ("UPDATE versions SET integrity_chain = content_hash WHERE id = 2",),
            (
                "UPDATE versions SET version = 9 WHERE id = 1",
                "UPDATE versions SET version = 1 WHERE id = 2",
                "UPDATE versions SET version = 2 WHERE id = 1",
            ),
            ("UPDATE current SET value = '\"forged\"' WHERE id = 1",),
        ),
        "a version deleted": (
            ("DELETE FROM versions WHERE id = 1",),
            ("DELETE FROM versions WHERE id = 2",),
            ("DELETE FROM versions WHERE id = 3",),
            ("DELETE FROM versions WHERE id = 4",),
        ),
        "a version moved before the one it follows, a commit deleted from the middle": (
            ("UPDATE versions SET sequence = 1 WHERE id = 3",),
            ("DELETE FROM commits WHERE sequence = 2",),
        ),
        "a commit edited, its place in the log changed, or its versions taken away": (
            ("UPDATE commits SET author = 'somebody else' WHERE sequence = 2",),
            ("UPDATE commits SET created_at = created_at + 1 WHERE sequence = 2",),
            (
                "UPDATE commits SET sequence = 99 WHERE sequence = 2",
                "UPDATE commits SET sequence = 2 WHERE sequence = 3",
                "UPDATE commits SET sequence = 3 WHERE sequence = 99",
            ),
            ("UPDATE versions SET sequence = 4 WHERE id = 3",),
        ),
        "a confidence or a count moved without an outcome, an outcome or effect edited": (
            ("UPDATE current SET confidence = 0.99 WHERE id = 1",),
            ("UPDATE current SET failure_count = 0 WHERE id = 2",),
            ("UPDATE outcomes SET outcome_ref = 'another'",),
            ("UPDATE outcomes SET record = replace(record, 'failure', 'success')",),
            ("UPDATE outcome_effects SET confidence_after = 0.5",),
            ("DELETE FROM outcome_effects",),
        ),
        "the newest commits cut off": (
            (
                "DELETE FROM versions WHERE sequence = 6",
                "DELETE FROM current WHERE sequence = 6",
                "DELETE FROM commits WHERE sequence = 6",
            ),
        ),
        "a hash missing, or of another form": (
            ("UPDATE versions SET content_hash = '' WHERE id = 2",),
            ("UPDATE versions SET integrity_chain = 'md5:1' WHERE id = 2",),
            ("UPDATE versions SET record_digest = '' WHERE id = 2",),
        ),
    }
)
"""What can be done to the file, under the words of the table in docs/explanation/integrity.md."""

CUT_SHORT: tuple[str, ...] = (
    *EDITS["the newest commits cut off"][0],
    "UPDATE head SET sequence = 5, digest = (SELECT digest FROM commits WHERE sequence = 5)",
)
"""The newest commit cut off, and the head put back to the one before."""

UNCOVERED: tuple[str, ...] = (
    "DELETE FROM entry_tags",
    "UPDATE text_state SET indexed_version_id = indexed_version_id + 1",
    "DELETE FROM idempotency",
)
"""What the same page says is not covered."""


async def write_store(path: Path, *, first_value: str = "apply") -> None:
    """Make the store; with the same values it is the same to the last byte that is hashed."""
    async with SqliteAdapter(path, outcomes=HANDOFF, clock=FixedClock(), ids=CountedIds()) as adapter:
        for value in (first_value, "maybe", "skip"):
            await adapter.write(_draft("listing/553", value), idempotency_key=f"to {value}")
        await adapter.write(_draft("source/boards", "60 s"))
        await adapter.commit_outcome(
            OutcomeRecord(
                outcome_ref="run-7",
                outcome_type="failure",
                agent_id="executor",
                refs=(EntryRef(entity_path="source/boards", key="assessment"),),
            )
        )
        await adapter.write(_draft("listing/482", "apply"))


def edit(path: Path, statements: Iterable[str]) -> None:
    """Change the file as anybody with a SQLite client can. Every statement must change something."""
    connection = sqlite3.connect(path)
    try:
        for statement in statements:
            assert connection.execute(statement).rowcount > 0, statement
        connection.commit()
    finally:
        connection.close()


async def found(path: Path) -> set[str]:
    """The codes of what verify finds."""
    async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
        return {finding.code for finding in (await adapter.verify()).findings}


async def digest_at(path: Path, sequence: int) -> str | None:
    """The digest of the commit of this number, which anybody may have noted; None where it is gone."""
    async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
        commits = await adapter.list_commits(before=sequence + 1, limit=1)
        return next((commit.digest for commit in commits if commit.sequence == sequence), None)


def _draft(scope: str, value: str) -> MemoryEntry:
    return MemoryEntry.draft(scope, "assessment", value, agent_id="scout", tags=("job",), confidence=0.8)
