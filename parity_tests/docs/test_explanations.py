"""What the explanations and decisions say of the code is so."""

import ast
import re
import shutil
import sys
from datetime import timedelta
from pathlib import Path
from typing import get_args

import pytest

from amfs_sqlite import (
    AMFS_0_3,
    HANDOFF,
    FixedClock,
    InvalidArgumentError,
    MemoryEntry,
    OutcomeRecord,
    OutcomeType,
    ReferenceAdapter,
    SqliteAdapter,
)
from amfs_sqlite.models import FindingCode
from amfs_sqlite.rules.confidence import is_success
from amfs_sqlite.sqlite.database.guard import LOCK_SUFFIX, has_wal_reset_fault, known_faults
from amfs_sqlite.sqlite.database.lanes import GROUP_LIMIT
from amfs_sqlite.sqlite.database.tidying import UNINDEXED_LIMIT
from parity_tests.docs import pages, tampering
from parity_tests.docs.commands import optional_libraries, project_requirements
from parity_tests.ledger import proves

INTEGRITY = "docs/explanation/integrity.md"
OUTCOMES = "docs/explanation/outcomes.md"
DURABILITY = "docs/explanation/durability.md"
TUTORIAL = "docs/tutorial/first-handoff.md"
# The one module that deletes: copies of ours that were only half made, or are not needed.
COPIES = "copies.py"
HOOK = "sdk.py"
"""Which takes out what it put among the packages of a Python."""


@pytest.fixture
async def store(tmp_path: Path) -> Path:
    """A store to be changed behind its back."""
    path = tmp_path / "memory.db"
    await tampering.write_store(path)
    return path


def rows_of(page: str) -> dict[str, list[str]]:
    """The rows of the one table of a page by their first cell."""
    (table,) = pages.tables(page)
    return {row[0]: row[1:] for row in table[1:]}


@pages.documents_here
@proves("docs.integrity")
@pytest.mark.parametrize("done", list(tampering.EDITS))
async def test_verify_names_an_edit_as_the_page_says(done: str, store: Path, tmp_path: Path) -> None:
    (code,) = rows_of(INTEGRITY)[done]
    for number, statements in enumerate(tampering.EDITS[done]):
        changed = tmp_path / f"{number}.db"
        shutil.copy(store, changed)
        tampering.edit(changed, statements)
        assert code.strip("`") in await tampering.found(changed), statements


@pages.documents_here
@proves("docs.integrity")
async def test_the_page_has_every_edit_and_every_code(store: Path) -> None:
    rows = rows_of(INTEGRITY)
    assert list(rows) == [*tampering.EDITS, tampering.DAMAGED, tampering.ANCHORED]
    assert rows[tampering.DAMAGED] == ["`file`"]
    assert rows[tampering.ANCHORED] == ["`anchor`"]
    assert {code.strip("`") for (code,) in rows.values()} == set(get_args(FindingCode))
    assert await tampering.found(store) == set()
    tampering.damage(store)
    assert await tampering.found(store) == {"file"}


@proves("docs.integrity-limits")
@pytest.mark.parametrize("statement", tampering.UNCOVERED)
async def test_what_is_not_covered_is_not_found(statement: str, store: Path) -> None:
    tampering.edit(store, [statement])
    assert await tampering.found(store) == set()


@proves("docs.integrity-limits")
async def test_a_rewritten_history_is_only_shown_by_an_anchor(store: Path) -> None:
    anchor = await tampering.anchor_of(store)
    forged = store.with_name("forged.db")
    await tampering.write_store(forged, first_value="skip it")
    assert await tampering.found(forged) == set()
    assert await tampering.found(forged, anchor) == {"anchor"}


@proves("docs.integrity-limits")
async def test_a_file_that_was_cut_short_is_only_shown_by_an_anchor(store: Path) -> None:
    anchor = await tampering.anchor_of(store)
    tampering.edit(store, tampering.CUT_SHORT)
    assert await tampering.found(store) == set()
    assert await tampering.found(store, anchor) == {"anchor"}


@pages.documents_here
@proves("docs.outcomes")
@pytest.mark.parametrize(
    ("row", "outcome"),
    [
        ("success", OutcomeType.SUCCESS),
        ("minor failure", OutcomeType.MINOR_FAILURE),
        ("failure", OutcomeType.FAILURE),
        ("critical failure", OutcomeType.CRITICAL_FAILURE),
    ],
)
def test_the_arithmetic_of_both_policies_is_as_the_page_says(row: str, outcome: OutcomeType) -> None:
    handoff, amfs = rows_of(OUTCOMES)[row]
    assert AMFS_0_3.after(1.0, outcome, 1.0) == float(amfs.removeprefix("× "))
    if handoff.startswith("× "):
        assert HANDOFF.after(0.5, outcome, 1.0) == 0.5 * float(handoff.removeprefix("× "))
    else:
        (percent,) = re.findall(r"closes (\d+) % of the gap to 1", handoff)
        assert HANDOFF.after(0.5, outcome, 1.0) == 0.5 + 0.5 * int(percent) / 100


@pages.documents_here
@proves("docs.outcomes")
def test_what_else_tells_the_policies_apart_is_as_the_page_says() -> None:
    rows = rows_of(OUTCOMES)
    assert rows["makes a version"] == [
        {True: "yes", False: "no"}[each.makes_versions] for each in (HANDOFF, AMFS_0_3)
    ]
    assert [cell.startswith("once") for cell in rows["how often"]] == [HANDOFF.once, AMFS_0_3.once]
    assert [cell == "0 to 1" for cell in rows["range"]] == [HANDOFF.bounded, AMFS_0_3.bounded]
    said = pages.text(OUTCOMES)
    for before, outcome in ((0.8, OutcomeType.SUCCESS), (0.6, OutcomeType.FAILURE)):
        assert f"{before} becomes {HANDOFF.after(before, outcome, 1.0)}" in said


@pages.documents_here
@proves("docs.outcomes")
def test_outcomes_end_at_no_edge_as_the_page_says() -> None:
    said = " ".join(pages.text(OUTCOMES).split())
    assert "Outcomes never take a confidence that lies from 0 to 1 to either end" in said
    assert "one that was written as 0 or 1 moves away from it as well" in said
    for outcome in OutcomeType:
        low, middle, high = (_after_many(start, outcome) for start in (0.0, 0.5, 1.0))
        assert 0 < middle < 1
        assert (low > 0, high < 1) == (is_success(outcome), not is_success(outcome))
    assert HANDOFF.after(_after_many(0.5, OutcomeType.CRITICAL_FAILURE), OutcomeType.SUCCESS, 1.0) > 0.1
    assert HANDOFF.after(_after_many(0.5, OutcomeType.SUCCESS), OutcomeType.FAILURE, 1.0) < 0.9


@pages.documents_here
@proves("docs.outcomes")
async def test_a_confidence_from_the_other_policy_is_taken_as_the_page_says(tmp_path: Path) -> None:
    said = " ".join(pages.text(OUTCOMES).split())
    assert "A confidence of 1.8 that was written under `AMFS_0_3` becomes 1.0 with the first success" in said
    assert "One of -0.5 becomes 0 with the first failure." in said
    assert "`HANDOFF` accepts no new record outside" in said
    path = tmp_path / "memory.db"
    drafts = {
        outcome: MemoryEntry.draft("p", outcome, "v", agent_id="scout", confidence=confidence)
        for outcome, confidence in (("success", 1.8), ("failure", -0.5))
    }
    async with SqliteAdapter(path, outcomes=AMFS_0_3) as adapter:
        await adapter.write_batch([*drafts.values()])
    moved = {}
    async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
        for outcome, draft in drafts.items():
            record = OutcomeRecord(
                outcome_ref="run-1", outcome_type=outcome, agent_id="scout", refs=(draft.ref,)
            )
            (entry,) = await adapter.commit_outcome(record)
            moved[outcome] = entry.confidence
            with pytest.raises(InvalidArgumentError, match="confidence"):
                await adapter.write(draft)
    assert moved == {"success": 1.0, "failure": 0.0}


@pages.documents_here
@proves("docs.outcomes")
async def test_the_version_of_an_outcome_is_dated_and_signed_as_the_page_says(clock: FixedClock) -> None:
    said = " ".join(pages.text(OUTCOMES).split())
    assert "such a version is dated and signed as the one before it" in said
    async with ReferenceAdapter(outcomes=AMFS_0_3, clock=clock) as adapter:
        draft = MemoryEntry.draft("p", "k", "v", agent_id="scout", session_id="s1")
        written = await adapter.write(draft)
        between = clock.now() + timedelta(hours=1)
        clock.set(between + timedelta(hours=1))
        record = OutcomeRecord(
            outcome_ref="run-1", outcome_type="success", agent_id="executor", refs=(written.ref,)
        )
        (moved,) = await adapter.commit_outcome(record)
        before, after = await adapter.history("p", "k")
        assert await adapter.history("p", "k", since=between) == []
        (reported,) = await adapter.list_outcomes()
        newest = (await adapter.list_commits())[0]
    assert moved.provenance == written.provenance
    assert before.superseded_at == before.written_at == after.written_at
    assert (reported.record.agent_id, reported.record.committed_at) == ("executor", clock.now())
    assert (newest.author_agent_id, newest.created_at) == ("executor", clock.now())


@proves("docs.durability")
async def test_beside_an_open_file_lie_the_files_that_the_page_names(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with SqliteAdapter(path):
        beside = {name.removeprefix(path.name) for name in names_in(tmp_path)}
    lock = {LOCK_SUFFIX} if known_faults() else set()
    assert beside == {"", "-wal", "-shm"} | lock
    assert {name.removeprefix(path.name) for name in names_in(tmp_path)} == {""} | lock


@pages.documents_here
@proves("docs.durability")
@pytest.mark.parametrize("page", [DURABILITY, TUTORIAL])
def test_the_files_beside_are_named(page: str) -> None:
    named = set(pages.spans(page))
    assert {f"memory.db{suffix}" for suffix in ("-wal", "-shm", LOCK_SUFFIX)} <= named


@pages.documents_here
@proves("docs.network-disks")
@pytest.mark.parametrize("page", [DURABILITY, "docs/how-to/connect-a-client.md", pages.README])
def test_the_pages_keep_the_file_off_network_disks(page: str) -> None:
    said = pages.text(page).lower()
    assert "local disk" in said
    assert "network" in said


@pages.documents_here
@proves("docs.network-disks")
def test_nothing_deletes_the_files_beside_a_database_as_the_page_says() -> None:
    assert "never delete the files beside a database" in " ".join(pages.text(DURABILITY).split())
    for package in ("amfs_sqlite", "bridge"):
        for path in (pages.ROOT / package).rglob("*.py"):
            called = {
                node.func.attr
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            }
            if path.name not in {COPIES, HOOK}:
                assert not called & {"unlink", "rmtree", "rmdir"}, path


@pages.documents_here
@proves("docs.decisions")
def test_the_libraries_argued_for_are_those_that_are_imported() -> None:
    argued = set(rows_of("docs/decisions/0001-dependencies.md"))
    assert argued == project_requirements()
    imported = {*foreign_imports("amfs_sqlite"), *foreign_imports("bridge")}
    assert argued == imported - optional_libraries()
    assert optional_libraries() <= imported
    said = pages.text("docs/decisions/0001-dependencies.md")
    core = " and ".join(sorted(foreign_imports("amfs_sqlite") - optional_libraries(), reverse=True))
    assert f"`amfs_sqlite` itself imports {core} alone." in " ".join(said.split())


@pages.documents_here
@proves("docs.decisions")
@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("0003-group-commit.md", f"up to {GROUP_LIMIT} operations"),
        ("0006-text-search.md", f"when {UNINDEXED_LIMIT} keys wait"),
    ],
)
def test_a_number_in_a_decision_is_the_one_in_the_code(page: str, said: str) -> None:
    assert said in " ".join(pages.text(f"docs/decisions/{page}").split())


@pages.documents_here
@proves("docs.decisions")
def test_the_releases_with_the_fault_are_those_that_the_decision_names() -> None:
    said = " ".join(pages.text("docs/decisions/0004-write-lock.md").split())
    first, last, *sound = re.findall(r"\d+\.\d+\.\d+", said.partition(" can lose")[0])
    assert has_wal_reset_fault(numbers(first))
    assert has_wal_reset_fault(numbers(last))
    assert not any(has_wal_reset_fault(numbers(each)) for each in sound)
    major, minor, patch = numbers(last)
    assert not has_wal_reset_fault((major, minor, patch + 1))


def _after_many(confidence: float, outcome: OutcomeType) -> float:
    for _ in range(1000):
        confidence = HANDOFF.after(confidence, outcome, 1.0)
    return confidence


def names_in(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


def numbers(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))


def foreign_imports(package: str) -> set[str]:
    """The libraries of others that the modules of a package import; pydantic's core counts as pydantic."""
    found = set()
    for path in (pages.ROOT / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
    return {
        name.removesuffix("_core")
        for name in found - sys.stdlib_module_names - {"amfs_sqlite", "bridge", "demo"}
    }
