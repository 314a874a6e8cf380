"""A small store, and what can be done to its file behind its back."""

import os
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from amfs_sqlite import (
    HANDOFF,
    Anchor,
    CountedIds,
    EntryRef,
    FixedClock,
    MemoryEntry,
    OutcomeRecord,
    SqliteAdapter,
)

# Where a page of SQLite's says how many cells it has.
CELL_COUNT_AT = 3

# Each edit is one way to do what a row of the table says, and every statement of it is carried out.
# The store: three versions of one record (rows and commits 1 to 3), another record (4), an outcome
# of that (commit 5), a third record (row 5, commit 6), and a fourth (row 6, commit 7), which was erased
# (commit 8).
EDITS: Mapping[str, tuple[tuple[str, ...], ...]] = MappingProxyType(
    {
        "a value edited, or taken away without an erasure": (
            ("UPDATE versions SET value = '\"forged\"' WHERE id = 2",),
            ("UPDATE versions SET value = NULL WHERE id = 2",),
            ("UPDATE versions SET value = NULL, kind = 'tombstone' WHERE id = 2",),
        ),
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
        "a version moved before the one it follows, a commit deleted from the beginning or the middle": (
            ("UPDATE versions SET sequence = 1 WHERE id = 3",),
            ("DELETE FROM commits WHERE sequence = 1",),
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
            ("DELETE FROM commits WHERE sequence = 8", "DELETE FROM erasures"),
            (
                "DELETE FROM versions WHERE sequence > 5",
                "DELETE FROM current WHERE sequence > 5",
                "DELETE FROM commits WHERE sequence > 5",
                "DELETE FROM erasures",
                "DELETE FROM text_index WHERE rowid > 2",
                "DELETE FROM entry_tags WHERE key_id > 2",
                "UPDATE text_state SET indexed_version_id = 4",
            ),
        ),
        "a hash missing, or of another form; a trigger, view, table or index added, altered or dropped": (
            ("UPDATE versions SET content_hash = '' WHERE id = 2",),
            ("UPDATE versions SET integrity_chain = 'md5:1' WHERE id = 2",),
            ("UPDATE versions SET record_digest = '' WHERE id = 2",),
            ("CREATE VIEW everything AS SELECT * FROM current",),
            ("DROP INDEX versions_by_commit",),
        ),
        "an erasure undone, hidden or invented": (
            ("INSERT INTO erasures VALUES (2, 2)",),
            ("DELETE FROM erasures",),
            ("UPDATE erasures SET sequence = 1",),
            ("UPDATE versions SET value = '\"gone\"' WHERE id = 6",),
        ),
        "tags or words indexed otherwise than they are stored": (
            ("DELETE FROM entry_tags",),
            ("UPDATE entry_tags SET tag = 'another'",),
            ("UPDATE text_index SET tokens = 'another' WHERE rowid = 1",),
            ("UPDATE text_state SET indexed_version_id = indexed_version_id + 1",),
        ),
    }
)
"""What can be done to the file, under the words of the table in docs/explanation/integrity.md."""

CUT_SHORT: tuple[str, ...] = (
    *EDITS["the newest commits cut off"][1],
    "UPDATE head SET sequence = 5, digest = (SELECT digest FROM commits WHERE sequence = 5)",
)
"""The newest commit cut off, and the head put back to the one before."""

DAMAGED = "damage to the file's own pages, of SQLite's indexes too"
"""What no statement does: see ``damage``."""

ANCHORED = "another store, an older copy or a history made over, held against an anchor"
"""The row of that table that takes an anchor."""

UNCOVERED: tuple[str, ...] = (
    "DELETE FROM idempotency",
    "UPDATE idempotency SET payload_digest = 'another'",
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
        await adapter.write(_draft("listing/1", "gone"))
        await adapter.erase([EntryRef(entity_path="listing/1", key="assessment")], author="owner")


def edit(path: Path, statements: Iterable[str]) -> None:
    """Change the file as anybody with a SQLite client can. Every statement must change something."""
    connection = sqlite3.connect(path)
    try:
        for statement in statements:
            changed = connection.execute(statement).rowcount
            assert changed > 0 or statement.startswith(("CREATE", "DROP")), statement
        connection.commit()
    finally:
        connection.close()


def damage(path: Path) -> None:
    """Take a row out of an index of SQLite's own, as a bad disk may: one cell less on its page."""
    connection = sqlite3.connect(path)
    try:
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_current_1'"
        ).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    finally:
        connection.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * size + CELL_COUNT_AT)
        count = int.from_bytes(file.read(2), "big")
        file.seek(-2, os.SEEK_CUR)
        file.write((count - 1).to_bytes(2, "big"))


async def found(path: Path, anchor: Anchor | None = None) -> set[str]:
    """The codes of what verify finds, without an anchor or held against one."""
    async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
        return {finding.code for finding in (await adapter.verify(anchor=anchor)).findings}


async def anchor_of(path: Path) -> Anchor:
    """What the store comes to, which anybody may have kept."""
    async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
        return await adapter.anchor()


def _draft(scope: str, value: str) -> MemoryEntry:
    return MemoryEntry.draft(scope, "assessment", value, agent_id="scout", tags=("job",), confidence=0.8)
