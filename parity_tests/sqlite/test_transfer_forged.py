"""What no store could have written is refused with every digest in order, by a dry run as by an import."""

import copy
from collections.abc import Callable
from pathlib import Path

import pytest

from amfs_sqlite import HANDOFF, ImportLineError, SqliteAdapter
from amfs_sqlite.rules.hashing import content_hash, integrity_chain
from amfs_sqlite.sqlite.transfer import importing
from parity_tests.drafts import at, draft, outcome
from parity_tests.ledger import proves
from parity_tests.sqlite import forgeries, transfers
from parity_tests.sqlite.forgeries import Line

Forgery = Callable[[list[Line]], int]


@pytest.fixture(autouse=True, params=[1, 500])
def _together(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "CHANGES_TOGETHER", request.param)


async def told(path: str) -> list[Line]:
    """The lines of an export: versions, an outcome that moved one and one that moved nothing, an erasure."""
    async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
        await adapter.write(draft(value=1, confidence=0.5))
        await adapter.write(draft(value=2, confidence=0.5))
        await adapter.commit_outcome(outcome("success", at()))
        await adapter.commit_outcome(outcome("success", at()))
        await adapter.write(draft("other", value="o"))
        await adapter.erase([at(version=1)], author="owner")
    return forgeries.parsed(await transfers.exported(path))


def place(lines: list[Line], member: str, which: int) -> int:
    """The number of a line, from 1, among those that have this member."""
    return [number for number, line in enumerate(lines, 1) if member in line][which]


def a_value_goes_missing(lines: list[Line]) -> int:
    number = place(lines, "entry", 1)
    lines[number - 1]["entry"]["value"] = None
    lines[number - 1]["erased"] = True
    return len(lines)


def something_is_erased_that_has_its_value(lines: list[Line]) -> int:
    number = place(lines, "commit", -1)
    (named,) = lines[number - 1]["commit"]["entries"]
    named |= {"version": 2, "contentHash": content_hash(2)}
    return number


def something_is_erased_twice(lines: list[Line]) -> int:
    number = place(lines, "commit", -1)
    lines[number - 1]["commit"]["entries"] *= 2
    return number


def a_version_is_left_out(lines: list[Line]) -> int:
    number = place(lines, "entry", 1)
    lines[number - 1]["entry"]["version"] = 3
    return number


def a_first_version_is_the_second(lines: list[Line]) -> int:
    number = place(lines, "entry", 2)
    lines[number - 1]["entry"]["version"] = 2
    return number


def a_chain_begins_anew(lines: list[Line]) -> int:
    number = place(lines, "entry", 1)
    lines[number - 1]["entry"]["integrityChain"] = integrity_chain(content_hash(2), None)
    return number


def an_outcome_is_about_no_key(lines: list[Line]) -> int:
    number = place(lines, "outcome", 1)
    lines[number - 1]["effects"][0]["key"] = "none"
    return number


def an_outcome_is_about_a_version_to_come(lines: list[Line]) -> int:
    number = place(lines, "outcome", 1)
    lines[number - 1]["effects"][0]["version"] = 3
    return number


def an_outcome_moves_what_it_did_not_find(lines: list[Line]) -> int:
    lines[place(lines, "outcome", 0) - 1]["effects"][0]["confidenceBefore"] = 0.25
    return place(lines, "outcome", 0) - 1


def a_number_is_given_twice(lines: list[Line]) -> int:
    number = place(lines, "entry", 2)
    again = copy.deepcopy(lines[place(lines, "entry", 1) - 1]["entry"])
    again["provenance"]["agentId"] = "another"
    again["commitId"] = lines[number - 1]["entry"]["commitId"]
    lines[number - 1]["entry"] = again
    lines[number - 1]["extraHash"] = content_hash({})
    return number - 1


FORGERIES = [
    (a_value_goes_missing, "ends the export, and 1 versions in it have no value that no commit erases"),
    (something_is_erased_that_has_its_value, "erases version 2 of 'k' under 'svc/a', which does not stand"),
    (something_is_erased_twice, "erases version 1 of 'k' under 'svc/a', which does not stand"),
    (a_version_is_left_out, "is version 3 of its key, and 2 would be next here"),
    (a_first_version_is_the_second, "is version 2 of its key, and 1 would be next here"),
    (a_chain_begins_anew, "has an integrityChain that does not follow"),
    (an_outcome_is_about_no_key, "is an outcome about version 2 of 'none' under 'svc/a', which is not there"),
    (
        an_outcome_is_about_a_version_to_come,
        "is an outcome about version 3 of 'k' under 'svc/a', which is not",
    ),
    (an_outcome_moves_what_it_did_not_find, "is a commit that does not follow from those before it"),
    (a_number_is_given_twice, "is a commit that does not follow from those before it"),
]
EVERYWHERE = FORGERIES[:8]
"""Those that are refused wherever they are put; of the others another store leaves something out."""


async def refused(path: Path, export: bytes, *, dry_run: bool) -> ImportLineError:
    """What an import is refused with."""
    with pytest.raises(ImportLineError) as caught:
        await transfers.imported(path, export, dry_run=dry_run)
    return caught.value


@proves("transfer.forged", "transfer.dry-run")
@pytest.mark.parametrize(("forge", "problem"), FORGERIES)
async def test_a_forgery_is_refused_in_an_empty_store_by_dry_run_import_and_every_import_after_it(
    path: str, tmp_path: Path, forge: Forgery, problem: str
) -> None:
    lines, target = await told(path), tmp_path / "copy.db"
    number = forge(lines)
    export = forgeries.sealed(lines)
    looked = await refused(target, export, dry_run=True)
    stored = await refused(target, export, dry_run=False)
    again = await refused(target, export, dry_run=False)
    after = await refused(target, export, dry_run=True)
    assert problem in looked.problem
    assert {each.problem for each in (looked, stored, again, after)} == {looked.problem}
    assert [each.line for each in (looked, stored, again, after)] == [number] * 4
    assert (looked.commit_count, again.commit_count) == (0, 0)


@proves("transfer.forged", "transfer.dry-run")
@pytest.mark.parametrize(("forge", "problem"), EVERYWHERE)
async def test_a_forgery_is_refused_behind_what_is_here_too(
    path: str, tmp_path: Path, forge: Forgery, problem: str
) -> None:
    lines, target = await told(path), tmp_path / "copy.db"
    number = forge(lines)
    async with SqliteAdapter(target) as adapter:
        await adapter.write(draft("own"))
    for dry_run in (True, False, False, True):
        error = await refused(target, forgeries.sealed(lines), dry_run=dry_run)
        assert problem in error.problem
        assert error.line == number


@proves("transfer.forged", "transfer.conflicts", "transfer.dry-run")
@pytest.mark.parametrize(
    ("forge", "reason"),
    [
        (an_outcome_moves_what_it_did_not_find, "outcomes moved it otherwise here than in the export"),
        (a_number_is_given_twice, "another version is stored here under this number"),
    ],
)
async def test_a_forgery_that_contradicts_itself_is_left_out_of_a_store_with_a_history_of_its_own(
    path: str, tmp_path: Path, forge: Forgery, reason: str
) -> None:
    lines, target = await told(path), tmp_path / "copy.db"
    forge(lines)
    async with SqliteAdapter(target) as adapter:
        await adapter.write(draft("own"))
    looked = await transfers.imported(target, forgeries.sealed(lines), dry_run=True)
    report = await transfers.imported(target, forgeries.sealed(lines))
    assert looked.model_copy(update={"dry_run": False}) == report
    assert [conflict.reason for conflict in report.conflicts] == [reason]
    async with SqliteAdapter(target) as adapter:
        assert (await adapter.verify()).ok


@proves("transfer.forged")
async def test_what_is_sealed_as_it_was_is_what_it_was(path: str, tmp_path: Path) -> None:
    lines = await told(path)
    export = forgeries.sealed(lines)
    assert export == await transfers.exported(path)
