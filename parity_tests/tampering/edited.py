"""A store to be changed behind its back, with plain sqlite3 on the closed file, and what is found then.

The store holds two keys, `a` under svc/a in three versions and `b` under svc/b in two, in commits 1 to 4,
one outcome on each of them in commits 5 and 6, a commit from outside (7) and a description of it (8).
A finding is written `code path/key@version` or `code #commit`, both where it has both.
"""

import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from amfs_sqlite import HANDOFF, Anchor, Commit, CountedIds, Finding, FixedClock, SqliteAdapter
from amfs_sqlite.clock import instant
from parity_tests.drafts import at, draft, outcome

COMMIT_IDS = [f"{number:016x}" for number in range(2, 8)] + [
    "saved",
    *(f"{number:016x}" for number in range(8, 12)),
]


async def fill(path: Path, *, first: str = "one") -> None:
    """Make the store; with the same first value it is the same to the last digest."""
    everything: dict[str, Any] = {
        "session": "s",
        "tags": ("t",),
        "confidence": 0.5,
        "outcome_count": 2,
        "ttl_at": "2030-01-01",
        "artifact_refs": [{"uri": "file:x"}],
        "custom": {"a": 1},
    }
    async with SqliteAdapter(path, outcomes=HANDOFF, clock=FixedClock(), ids=CountedIds()) as adapter:
        await adapter.write_batch(
            [draft("svc/a", "a", first, **everything), draft("svc/b", "b", 1, agent="bob")]
        )
        await adapter.write(draft("svc/a", "a", "two", **everything))
        await adapter.write(draft("svc/b", "b", "another", agent="bob"))
        await adapter.write(draft("svc/a", "a", "three", **everything))
        await adapter.commit_outcome(outcome("success", at("svc/a", "a"), at("svc/b", "b", 1)))
        await adapter.commit_outcome(outcome("failure", at("svc/a", "a"), outcome_ref="run-2"))
        saved = Commit(id="saved", author_agent_id="eve", created_at=instant("2025-12-31"))
        await adapter.save_commit(saved)
        await adapter.save_commit(saved.model_copy(update={"message": "said later"}))


async def erase(path: Path) -> None:
    """Commit 9 erases the second version of `a` and all of `b`; commit 10 writes a key `c` under svc/c that
    has expired, and commit 11 archives it.
    """
    ids = CountedIds()
    ids.count = 8
    async with SqliteAdapter(path, outcomes=HANDOFF, clock=FixedClock(), ids=ids) as adapter:
        await adapter.erase([at("svc/a", "a", 2), at("svc/b", "b")], author="owner")
        await adapter.write(draft("svc/c", "c", "old", ttl_at="2020-01-01"))
        await adapter.archive_expired(author="owner")


def shown(findings: Iterable[Finding]) -> list[str]:
    return [" ".join(_parts(each)) for each in findings]


def _parts(finding: Finding) -> Iterable[str]:
    yield finding.code
    at = "" if finding.entity_path is None else f"{finding.entity_path}/{finding.key}"
    at += "" if finding.version is None else f"@{finding.version}"
    yield from [at] if at else []
    if finding.commit_id is not None:
        known = finding.commit_id in COMMIT_IDS
        yield f"#{COMMIT_IDS.index(finding.commit_id) + 1 if known else finding.commit_id}"


def change(untouched: Path, path: str, statements: str) -> None:
    """Copy the store and do this to the copy."""
    shutil.copyfile(untouched, path)
    Path(path).chmod(0o600)
    with closing(sqlite3.connect(path)) as raw:
        raw.executescript(statements)


async def found_after(
    untouched: Path, path: str, statements: str, *, anchor: Anchor | None = None, since: Anchor | None = None
) -> list[str]:
    """What verify finds in a copy of the store to which this was done."""
    change(untouched, path, statements)
    async with SqliteAdapter(path) as adapter:
        report = await adapter.verify(anchor=anchor, since=since)
        assert report.ok is (not report.findings)
        assert all(each.message for each in report.findings)
    return shown(report.findings)
