"""Branches that were made otherwise behind the back of whoever has the file.

The store holds the keys `a` and `b` under svc/a, on main in commits 1 to 3, `b` anew on the branch `outer`
in commit 4, and both anew on `inner`, which lies over `outer`, in commits 5 and 6. `unused` lies over main.
"""

from pathlib import Path

import pytest

from amfs_sqlite import CountedIds, FixedClock, SqliteAdapter
from amfs_sqlite.records.branches import Branch
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.tampering.edited import found_after

EMPTIED = {
    "branches": "link; link",
    "branch_points": (
        "gap svc/a/b@2; link svc/a/b@2; gap svc/a/a@2; link svc/a/a@2; gap svc/a/b@3;"
        " link svc/a/b@3; link svc/a/a; link svc/a/b; link svc/a/b"
    ),
}
FORGED = {
    "a branch that lies over another": (
        "UPDATE branches SET parent_branch = 'main' WHERE name = 'inner'",
        "link; link svc/a/a; link svc/a/b",
    ),
    "branches that lie over each other": (
        "UPDATE branches SET parent_branch = 'inner' WHERE name = 'outer'",
        "link; link",
    ),
    "a branch made later than it was": (
        "UPDATE branches SET base_sequence = 3 WHERE name = 'outer'",
        "link svc/a/a; link",
    ),
    "a branch that is open again": ("UPDATE branches SET status = 'closed' WHERE name = 'inner'", "link"),
    "a record of another branch": ("UPDATE branches SET record = '{}' WHERE name = 'inner'", "link"),
    "a branch under another name": (
        "UPDATE branches SET name = 'other' WHERE name = 'inner'",
        "link; link",
    ),
    "a version on another branch": (
        "UPDATE current SET branch = 'outer' WHERE branch = 'inner' AND key = 'a'",
        "record svc/a/a@2",
    ),
    "another version to go on from": (
        "UPDATE branch_points SET version_id = 1 WHERE key_id = 3",
        "link svc/a/b@2; link svc/a/b",
    ),
    "a version to go on from on main": (
        "INSERT INTO branch_points VALUES (1, 1)",
        "gap svc/a/a@1; link svc/a/a@1; link svc/a/a",
    ),
    "a value on a branch": (
        "UPDATE versions SET value = '9' WHERE id = 4",
        "content svc/a/b@2; link svc/a/b@2",
    ),
    "a branch that nobody wrote on, unnoticed": ("DELETE FROM branches WHERE name = 'unused'", ""),
}


@pytest.fixture(scope="module")
async def branched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with branches as it was closed, to be copied."""
    path = tmp_path_factory.mktemp("branched") / "store.db"
    async with SqliteAdapter(path, clock=FixedClock(), ids=CountedIds()) as adapter:
        await adapter.write_batch([draft(key="a")])
        await adapter.write(draft(key="b"))
        await adapter.create_branch(Branch(name="outer", created_by="alice"))
        await adapter.write(draft(key="a", value=2))
        await adapter.on_branch("outer").write(draft(key="b", value=2))
        await adapter.create_branch(Branch(name="inner", parent_branch="outer", created_by="alice"))
        await adapter.create_branch(Branch(name="unused", created_by="alice"))
        for key in ("a", "b"):
            await adapter.on_branch("inner").write(draft(key=key, value="inner"))
    return path


async def found_in(branched: Path, path: str, statements: str) -> list[str]:
    """What verify finds after this, and where, whatever the ids of the commits."""
    return [found.partition(" #")[0] for found in await found_after(branched, path, statements)]


@proves("tampering.branches")
@pytest.mark.parametrize("forged", FORGED)
async def test_a_branch_that_was_forged_is_found(branched: Path, path: str, forged: str) -> None:
    statement, findings = FORGED[forged]
    assert await found_in(branched, path, statement) == (findings.split("; ") if findings else [])


@proves("tampering.branches")
@pytest.mark.parametrize("table", EMPTIED)
async def test_branches_that_were_taken_away_are_found(branched: Path, path: str, table: str) -> None:
    emptied = f"DELETE FROM {table}"  # noqa: S608 - a word of this file
    assert await found_in(branched, path, emptied) == EMPTIED[table].split("; ")


@proves("tampering.branches")
async def test_branches_that_nobody_touched_verify(branched: Path, path: str) -> None:
    assert await found_in(branched, path, "") == []
