"""What the explanations and decisions say of the code is so."""

import ast
import json
import re
import shutil
import sys
from pathlib import Path
from typing import get_args

import pytest

from amfs_sqlite import AMFS_0_3, HANDOFF, OutcomeType, SqliteAdapter
from amfs_sqlite.models import FindingCode
from amfs_sqlite.rules.confidence import is_success
from amfs_sqlite.sqlite.connection import UNINDEXED_LIMIT
from amfs_sqlite.sqlite.guard import LOCK_SUFFIX, has_wal_reset_fault, known_faults
from amfs_sqlite.sqlite.lanes import GROUP_LIMIT
from bridge.cli.main import main
from parity_tests.docs import pages, tampering
from parity_tests.docs.commands import project_requirements
from parity_tests.ledger import proves

INTEGRITY = "docs/explanation/integrity.md"
OUTCOMES = "docs/explanation/outcomes.md"
DURABILITY = "docs/explanation/durability.md"


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
    assert list(rows) == list(tampering.EDITS)
    assert {code.strip("`") for (code,) in rows.values()} == set(get_args(FindingCode))
    assert await tampering.found(store) == set()


@proves("docs.integrity-limits")
@pytest.mark.parametrize("statement", tampering.UNCOVERED)
async def test_what_is_not_covered_is_not_found(statement: str, store: Path) -> None:
    tampering.edit(store, [statement])
    assert await tampering.found(store) == set()


@proves("docs.integrity-limits")
async def test_a_rewritten_history_is_only_shown_by_a_digest_kept_elsewhere(store: Path) -> None:
    noted = await tampering.digest_at(store, 5)
    forged = store.with_name("forged.db")
    await tampering.write_store(forged, first_value="skip it")
    assert await tampering.found(forged) == set()
    assert noted is not None
    assert await tampering.digest_at(forged, 5) not in (None, noted)


@proves("docs.integrity-limits")
async def test_a_file_that_was_cut_short_is_only_shown_by_a_digest_kept_elsewhere(store: Path) -> None:
    noted = await tampering.digest_at(store, 6)
    tampering.edit(store, tampering.CUT_SHORT)
    assert await tampering.found(store) == set()
    assert noted is not None
    assert await tampering.digest_at(store, 6) is None


@pages.documents_here
@proves("docs.integrity-limits")
def test_a_digest_that_was_noted_can_be_compared_as_the_page_says(
    demo_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    newest, earlier = [span.split()[1:] for span in pages.spans(INTEGRITY) if span.startswith("amfs-sqlite ")]

    def shown(*arguments: str) -> tuple[int, str]:
        assert main(arguments) == 0
        (commit,) = json.loads(capsys.readouterr().out)["commits"]
        return commit["sequence"], commit["digest"]

    sequence, digest = shown(*newest)
    assert earlier[:-1] == [*newest, "--before"]
    assert shown(*earlier[:-1], f"{sequence + 1}") == (sequence, digest)
    said = int(earlier[-1]) - 1
    assert f"Say it was {said}." in pages.text(INTEGRITY)
    assert shown(*earlier)[0] == said


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
    assert "Outcomes never take a confidence to 0 or 1, so every record can recover" in said
    assert "one that was written as 0 or 1 moves away from it as well" in said
    for outcome in OutcomeType:
        low, middle, high = (_after_many(start, outcome) for start in (0.0, 0.5, 1.0))
        assert 0 < middle < 1
        assert (low > 0, high < 1) == (is_success(outcome), not is_success(outcome))
    assert HANDOFF.after(_after_many(0.5, OutcomeType.CRITICAL_FAILURE), OutcomeType.SUCCESS, 1.0) > 0.1
    assert HANDOFF.after(_after_many(0.5, OutcomeType.SUCCESS), OutcomeType.FAILURE, 1.0) < 0.9


@proves("docs.durability")
async def test_beside_an_open_file_lie_the_files_that_the_page_names(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with SqliteAdapter(path):
        beside = {name.removeprefix(path.name) for name in names_in(tmp_path)}
    assert beside == {"", "-wal", "-shm"} | ({LOCK_SUFFIX} if known_faults() else set())


@pages.documents_here
@proves("docs.durability")
def test_the_files_beside_are_named() -> None:
    named = set(pages.spans(DURABILITY))
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
            assert not called & {"unlink", "rmtree", "rmdir"}, path


@pages.documents_here
@proves("docs.decisions")
def test_the_libraries_argued_for_are_those_that_are_imported() -> None:
    argued = set(rows_of("docs/decisions/0001-dependencies.md"))
    assert argued == project_requirements()
    assert argued == {*foreign_imports("amfs_sqlite"), *foreign_imports("bridge")}
    said = pages.text("docs/decisions/0001-dependencies.md")
    core = " and ".join(sorted(foreign_imports("amfs_sqlite"), reverse=True))
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
