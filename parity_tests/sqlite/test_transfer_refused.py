"""No line of an export is believed before its hashes are recomputed."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amfs_sqlite import ImportLineError, SqliteAdapter
from amfs_sqlite.rules import export_reading
from amfs_sqlite.rules.hashing import content_hash
from amfs_sqlite.sqlite.transfer import importing
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.sqlite import transfers

# The only thing in an export that nothing vouches for; an anchor does, and it is kept elsewhere.
UNCOVERED = {(1, ("storeId",))}
NOT_FIRST = "is not the first line of an export"


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return transfers.told(tmp_path_factory.mktemp("told") / "store.db")


@pytest.fixture(autouse=True)
def _each_commit_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "CHANGES_TOGETHER", 1)


def commit_of(export: bytes, number: int) -> tuple[int, int]:
    """Which commit a line belongs to, from 1, and that commit's own line; the last line is like a commit."""
    all_lines = transfers.lines(export)[:number]
    begun = [i for i, line in enumerate(all_lines, 1) if line.startswith((b'{"commit"', b'{"end"'))]
    return len(begun), begun[-1] if begun else number


async def refused(export: bytes) -> ImportLineError:
    """What an import into an empty store is refused with; what was stored before it verifies."""
    async with SqliteAdapter(":memory:") as adapter:
        with pytest.raises(ImportLineError) as caught:
            await adapter.import_from(transfers.reader(export))
        assert (await adapter.anchor()).sequence == caught.value.commit_count
        # What is erased later on in the export has neither its value nor its erasure yet.
        assert {each.code for each in (await adapter.verify()).findings} <= {"content", "record"}
    assert str(caught.value).startswith(f"line {caught.value.line} ")
    assert "\n" not in str(caught.value)
    return caught.value


def refused_reading(export: bytes) -> ImportLineError | None:
    """What the lines by themselves are refused with; None where they are not."""
    try:
        for _ in transfers.reader(export).commits():
            pass
    except ImportLineError as error:
        return error
    return None


def other(member: Any) -> list[Any]:
    """Other things that could stand in the place of this one, of its own type and of another."""
    match member:
        case bool():
            return [not member, None]
        case str():
            return [f"{member}x", 7]
        case int() | float():
            return [-member - 1, "7"]
    return [7, {"a": 1}]


def leaf(members: Any, way: tuple[str | int, ...]) -> Any:
    """What stands at the end of this way."""
    for step in way:
        members = members[step]
    return members


@proves("transfer.checked")
async def test_whatever_is_changed_in_a_line_is_refused_by_its_number(export: bytes) -> None:
    count, only_when_stored = 0, set()
    for number, line in enumerate(transfers.lines(export), 1):
        members = json.loads(line)
        commit, begun = commit_of(export, number)
        for way in transfers.leaves(members):
            for value in other(leaf(members, way)) if (number, way) not in UNCOVERED else ():
                changed = transfers.changed(export, number, *way, to=value)
                error = refused_reading(changed)
                if error is None:
                    only_when_stored.add(way)
                    error = await refused(changed)
                if way == ("erased",) and value is True:
                    continue  # No commit erases it, which the end of the export shows.
                # What a commit's own line says is compared with the lines below it.
                assert commit_of(export, error.line) == (commit, begun), (way, value, str(error))
                assert error.line >= number or error.line == begun
                count += 1
    assert count > 1000
    # What a chain follows from is known to the store alone.
    assert only_when_stored == {("entry", "integrityChain")}


@proves("transfer.checked")
async def test_a_line_that_is_left_out_doubled_or_moved_is_refused(export: bytes) -> None:
    all_lines = transfers.lines(export)
    for place, line in enumerate(all_lines):
        without = all_lines[:place] + all_lines[place + 1 :]
        doubled = [*all_lines[:place], line, *all_lines[place:]]
        moved = [*without[: place - 1], line, *without[place - 1 :]] if place else without
        for wrong in (without, doubled, moved):
            if wrong and refused_reading(b"".join(wrong)) is None:
                await refused(b"".join(wrong))


@proves("transfer.checked")
def test_a_member_that_is_left_out_or_not_known_is_refused(export: bytes) -> None:
    for number, line in enumerate(transfers.lines(export), 1):
        members = json.loads(line)
        inner = next((name for name in ("commit", "entry", "outcome", "end") if name in members), None)
        for place in (members, members[inner]) if inner else (members,):
            for name in [*place]:
                kept = place.pop(name)
                assert refused_reading(_with(export, number, members)) is not None
                place[name] = kept
            place["not known"] = 1
            assert refused_reading(_with(export, number, members)) is not None
            del place["not known"]


def _with(export: bytes, number: int, members: Any) -> bytes:
    all_lines = transfers.lines(export)
    all_lines[number - 1] = transfers.written(members)
    return b"".join(all_lines)


@proves("transfer.checked")
async def test_a_value_with_a_hash_of_its_own_is_refused(export: bytes) -> None:
    number = transfers.number_of(export, '"there again"')
    forged = transfers.changed(export, number, "entry", "value", to="forged")
    forged = transfers.changed(forged, number, "entry", "contentHash", to=content_hash("forged"))
    assert (await refused(forged)).line == number


@proves("transfer.checked")
async def test_a_value_that_nothing_erased_does_not_go_missing(export: bytes) -> None:
    number = transfers.number_of(export, '"there again"')
    emptied = transfers.changed(export, number, "entry", "value", to=None)
    assert (await refused(emptied)).line == number
    emptied = transfers.changed(emptied, number, "erased", to=True)
    error = await refused(emptied)
    assert error.line == len(transfers.lines(export))
    assert "no value that no commit erases" in str(error)


@proves("transfer.limits")
@pytest.mark.parametrize(
    ("member", "text", "part"),
    [
        ("value", b"[" * 200 + b"]" * 200, "nests deeper than 128 levels"),
        ("value", b"[" * 100_000 + b"]" * 100_000, "recursion"),
        ("value", b"9" * 5000, "digit"),
        ("value", b"NaN", "NaN is no number of JSON"),
        ("value", b"1e999", "is not how a MemoryEntry is written"),
        ("value", b'"\\ud83d"', "lone surrogate"),
        ("key", b'"\\ud83d"', "lone surrogate"),
        ("key", b'""', "is empty"),
        ("key", b'"%s"' % (b"k" * 5000), "the limit is 4096"),
        ("confidence", b"Infinity", "Infinity is no number of JSON"),
        ("version", b"9223372036854775808", "whole number"),
        ("ttlAt", b'"soon"', "ttl_at"),
    ],
)
async def test_what_no_write_takes_no_import_takes(
    export: bytes, member: str, text: bytes, part: str
) -> None:
    number = transfers.number_of(export, '"there again"')
    marked = transfers.changed(export, number, "entry", member, to="HERE")
    error = await refused(marked.replace(b'"HERE"', text))
    assert error.line == number
    assert part in str(error)
    assert len(str(error)) < 500


@proves("transfer.limits")
async def test_a_value_that_is_too_large_and_a_line_that_is_too_long_are_refused(
    export: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = transfers.number_of(export, '"there again"')
    large = transfers.changed(export, number, "entry", "value", to="x" * 16 * 1024 * 1024)
    assert "the limit is 16777216" in str(await refused(large))
    monkeypatch.setattr(export_reading, "MAX_LINE_BYTES", 5000)
    longer = transfers.changed(export, number, "entry", "value", to="x" * 5000)
    assert "is longer than 5000 bytes" in str(await refused(longer))


@proves("transfer.limits")
@pytest.mark.parametrize(
    ("line", "part"),
    [
        (b"\xff\xfe\n", "is not UTF-8"),
        (b"[]\n", "is no JSON object"),
        (b"\n", "is no JSON"),
        (b"{}\n", "is no line of an export in this place"),
        (b'{"entry": 1}\n', "is no line of an export in this place"),
    ],
)
async def test_what_is_no_line_of_an_export_is_refused(export: bytes, line: bytes, part: str) -> None:
    all_lines = transfers.lines(export)
    error = await refused(b"".join([*all_lines[:5], line, *all_lines[5:]]))
    assert error.line == 6
    assert part in str(error)


@proves("transfer.checked")
@pytest.mark.parametrize("line", [b"x", b"\n", b" "])
async def test_nothing_stands_behind_the_last_line(export: bytes, line: bytes) -> None:
    error = await refused(export + line)
    assert error.line == 1 + len(transfers.lines(export))
    assert "stands behind the last line" in str(error)


@proves("transfer.checked")
@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda export: export[:0], NOT_FIRST),
        (lambda export: b"no JSON\n" + export, NOT_FIRST),
        (lambda export: export.partition(b"\n")[2], NOT_FIRST),
        (lambda export: transfers.changed(export, 1, "format", to="x"), NOT_FIRST),
        (lambda export: transfers.changed(export, 1, "version", to=2), "names version 2 of the format"),
        (lambda export: transfers.changed(export, 1, "storeId", to=1), "storeId is 1, not text"),
    ],
    ids=["empty", "no JSON", "no first line", "other format", "other version", "other id"],
)
def test_what_does_not_begin_as_an_export_is_refused_at_once(
    export: bytes, change: Callable[[bytes], bytes], part: str
) -> None:
    with pytest.raises(ImportLineError, match=part) as caught:
        transfers.reader(change(export))
    assert (caught.value.line, caught.value.commit_count) == (1, 0)


@proves("transfer.checked")
async def test_of_commits_that_are_stored_together_those_before_the_refused_one_stay(
    export: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(importing, "CHANGES_TOGETHER", 1000)
    number = transfers.number_of(export, '"there again"')
    for member in ("value", "integrityChain"):  # the one is wrong in itself, the other where it is to stand
        wrong = transfers.changed(export, number, "entry", member, to="wrong")
        error = await refused(wrong)
        assert (error.line, error.commit_count) == (number, commit_of(export, number)[0] - 1)


@proves("transfer.checked")
async def test_others_write_between_the_transactions_of_an_import(export: bytes, tmp_path: Path) -> None:
    async with SqliteAdapter(tmp_path / "store.db") as adapter, asyncio.TaskGroup() as group:

        def write(_done: int) -> None:
            group.create_task(adapter.write(draft("own")))

        report = await adapter.import_from(transfers.reader(export), progress=write)
    assert report.conflict_count == 0
    async with SqliteAdapter(tmp_path / "store.db") as adapter:
        assert len(await adapter.history("own", "k")) == 19
        assert (await adapter.verify()).ok
