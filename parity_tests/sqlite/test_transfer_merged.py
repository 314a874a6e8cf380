"""An import into a store that holds something: what is new follows, what differs is left out and told."""

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest

from amfs_sqlite import HANDOFF, Commit, ImportLineError, ImportReport, SqliteAdapter
from amfs_sqlite.clock import instant
from amfs_sqlite.sqlite.transfer import importing
from parity_tests.drafts import at, draft, outcome, private
from parity_tests.ledger import proves
from parity_tests.sqlite import disk, transfers
from parity_tests.state import state

NOON = instant("2026-01-01T12:00:00Z")
Change = Callable[[SqliteAdapter], Awaitable[object]]


async def begin(adapter: SqliteAdapter) -> None:
    """What both stores have in common."""
    await adapter.write(draft("shared", value=1, confidence=0.5, tags=("t",)))
    await adapter.write(draft("shared", value=2, confidence=0.5))
    await adapter.save_commit(Commit(id="named", author_agent_id="a", created_at=NOON))


async def parted(folder: Path, there: Change, here: Change) -> tuple[bytes, Path]:
    """The export of one store and another store, which were one until each changed by itself."""
    one, other = folder / "there.db", folder / "here.db"
    async with SqliteAdapter(one, outcomes=HANDOFF) as adapter:
        await begin(adapter)
    await transfers.imported(other, await transfers.exported(one))
    for path, change in ((one, there), (other, here)):
        async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
            await change(adapter)
    return await transfers.exported(one), other


async def merged(export: bytes, path: Path) -> ImportReport:
    """What an import comes to. A dry run says the same before it, and another has nothing to add."""
    before = await transfers.exported(path)
    looked = await transfers.imported(path, export, dry_run=True)
    assert await transfers.exported(path) == before
    report = await transfers.imported(path, export)
    assert looked.model_copy(update={"dry_run": False, "remains": report.remains}) == report
    async with SqliteAdapter(path) as adapter:
        assert (await adapter.verify()).ok
    after = await transfers.exported(path)
    again = await transfers.imported(path, export)
    assert (again.commit_count, again.version_count, again.outcome_count, again.erased_count) == (0, 0, 0, 0)
    assert again.conflicts == report.conflicts
    assert await transfers.exported(path) == after
    # What was merged is a store like any other, and can be taken elsewhere whole.
    assert (await transfers.imported(":memory:", after)).conflict_count == 0
    return report


async def more(adapter: SqliteAdapter) -> None:
    await adapter.write(draft("shared", value=3, confidence=0.5))
    await adapter.commit_outcome(outcome("failure", at("shared")))
    await adapter.write_batch([draft("new", value="n"), private("shared", value=4, confidence=0.5)])
    await adapter.save_commit(Commit(id="named", message="said", author_agent_id="a", created_at=NOON))
    await adapter.archive_expired(author="owner")


async def own(adapter: SqliteAdapter) -> None:
    await adapter.write(draft("own", value="mine"))


@proves("transfer.behind", "transfer.dry-run")
async def test_what_is_new_follows_what_is_here(tmp_path: Path) -> None:
    export, path = await parted(tmp_path, more, own)
    report = await merged(export, path)
    assert (report.commit_count, report.version_count, report.outcome_count) == (4, 3, 1)
    assert (report.known_commit_count, report.conflict_count) == (3, 0)
    async with SqliteAdapter(path) as here, SqliteAdapter(tmp_path / "there.db") as there:
        for address in (("shared", "k"), ("new", "k")):
            assert await here.history(*address) == await there.history(*address)
        assert await here.list_outcomes() != []
        assert (await here.get_commit("named")) is not None
        listed = [commit.id for commit in await here.list_commits()]
        theirs = [commit.id for commit in await there.list_commits()]
        assert [each for each in listed if each in theirs] == theirs


@proves("transfer.dry-run", "transfer.behind")
async def test_outcomes_that_follow_each_other_fit_where_the_first_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "CHANGES_TOGETHER", 1)

    async def report(adapter: SqliteAdapter) -> None:
        for run in ("run-1", "run-2", "run-3"):
            await adapter.commit_outcome(outcome("success", at("shared"), outcome_ref=run))

    export, path = await parted(tmp_path, report, own)
    report_of = await merged(export, path)
    assert (report_of.outcome_count, report_of.conflict_count) == (3, 0)


@proves("transfer.behind")
async def test_two_stores_that_nothing_connects_become_one(path: str, tmp_path: Path) -> None:
    await transfers.tell(path)
    async with SqliteAdapter(tmp_path / "own.db") as adapter:
        await adapter.write(draft("own", value="mine"))
    report = await merged(await transfers.exported(path), tmp_path / "own.db")
    assert (report.commit_count, report.version_count, report.conflict_count) == (19, 15, 0)
    for namespace in ("default", transfers.OTHER):
        async with (
            SqliteAdapter(path, namespace=namespace) as there,
            SqliteAdapter(tmp_path / "own.db", namespace=namespace) as here,
        ):
            own_path = [
                each for each in await here.list(include_superseded=True) if each.entity_path != "own"
            ]
            assert own_path == await there.list(include_superseded=True)


async def other_value(adapter: SqliteAdapter) -> None:
    await adapter.write(draft("shared", value="another 3", confidence=0.5))


async def same_value_of_another(adapter: SqliteAdapter) -> None:
    await adapter.write(draft("shared", value=3, confidence=0.5, agent="somebody else"))


async def other_outcome(adapter: SqliteAdapter) -> None:
    await adapter.commit_outcome(outcome("success", at("shared"), outcome_ref="run-9"))


async def archived(adapter: SqliteAdapter) -> None:
    await adapter.write(draft("shared", value="short-lived", ttl_at="2020-01-01"))
    await adapter.archive_expired(author="owner")


async def moved(adapter: SqliteAdapter) -> None:
    await adapter.commit_outcome(outcome("failure", at("shared")))
    await more(adapter)


@proves("transfer.conflicts", "transfer.dry-run")
@pytest.mark.parametrize(
    ("there", "here", "version", "reason"),
    [
        (more, other_value, 3, "another version is stored here under this number"),
        (more, same_value_of_another, 3, "another version is stored here under this number"),
        (more, archived, 3, "another version is stored here under this number"),
        (moved, other_outcome, 2, "outcomes moved it otherwise here than in the export"),
    ],
)
async def test_a_key_that_differs_is_left_out_from_there_on_and_named(
    tmp_path: Path, there: Change, here: Change, version: int, reason: str
) -> None:
    export, path = await parted(tmp_path, there, here)
    async with SqliteAdapter(path) as adapter:
        before = await adapter.history("shared", "k")
    report = await merged(export, path)
    (conflict,) = report.conflicts
    assert (conflict.namespace, conflict.entity_path, conflict.key) == ("default", "shared", "k")
    assert (conflict.version, conflict.reason, report.conflict_count) == (version, reason, 1)
    assert report.left_out_version_count == 2
    async with SqliteAdapter(path) as adapter:
        assert await adapter.history("shared", "k") == before
        assert (await adapter.list_outcomes(outcome_ref="run-1")) == []
        # A commit that also wrote something else is here without what was left out.
        assert [entry.value for entry in await adapter.history("new", "k")] == ["n"]


@proves("transfer.conflicts")
async def test_a_commit_id_that_is_taken_keeps_out_what_its_commit_wrote(tmp_path: Path) -> None:
    async def batch(adapter: SqliteAdapter, value: str) -> None:
        named = draft(f"under-{value}", value=value).model_copy(update={"commit_id": "taken"})
        await adapter.write_batch([named])

    export, path = await parted(tmp_path, lambda each: batch(each, "there"), lambda each: batch(each, "here"))
    report = await merged(export, path)
    (conflict,) = report.conflicts
    assert (conflict.entity_path, conflict.version) == ("under-there", 1)
    assert "has an id that is another commit's here" in conflict.reason


@proves("transfer.conflicts", "transfer.again")
async def test_what_an_outcome_was_left_out_of_stays_left_out(tmp_path: Path) -> None:
    async def report(adapter: SqliteAdapter) -> None:
        await adapter.write(draft("new", value="n", confidence=0.5))
        # Here one of the two does not fit, and the commit is stored with the other.
        await adapter.commit_outcome(outcome("failure", at("shared"), at("new")))
        await adapter.write(draft("shared", value="later", confidence=0.5))
        await adapter.erase([at("shared", version=1)], author="owner")

    export, path = await parted(tmp_path, report, other_outcome)
    report_of = await merged(export, path)
    assert (report_of.outcome_count, report_of.left_out_version_count) == (1, 1)
    async with SqliteAdapter(path) as adapter:
        assert [entry.value for entry in await adapter.history("shared", "k")] == [1, 2]
        (told,) = await adapter.list_outcomes(outcome_ref="run-1")
    assert [effect.entity_path for effect in told.effects] == ["new"]


@proves("transfer.conflicts")
async def test_of_many_conflicts_a_hundred_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "CHANGES_TOGETHER", 40)

    async def write(adapter: SqliteAdapter, value: str) -> None:
        for number in range(3):
            await adapter.write_batch([draft(f"{number}", f"{each}", value) for each in range(50)])

    export, path = await parted(tmp_path, lambda each: write(each, "there"), lambda each: write(each, "here"))
    report = await merged(export, path)
    assert (report.conflict_count, report.left_out_version_count, len(report.conflicts)) == (150, 150, 100)
    assert report.left_out_commit_count == 3


async def let_go(adapter: SqliteAdapter) -> None:
    await adapter.write(draft("secret", value=transfers.GOING, tags=("s",)))
    await adapter.erase([at("secret"), at("shared", version=1)], author="owner")


@proves("transfer.erased")
async def test_what_was_erased_here_stays_erased_and_is_told(tmp_path: Path) -> None:
    async def erase(adapter: SqliteAdapter) -> None:
        await adapter.erase([at("shared")], author="owner")

    export, path = await parted(tmp_path, more, erase)
    report = await merged(export, path)
    assert (report.kept_erased_count, report.conflict_count, report.version_count) == (2, 0, 3)
    async with SqliteAdapter(path) as adapter:
        found = await adapter.history("shared", "k")
    assert [entry.value for entry in found] == [None, None, 3, 4]


@proves("transfer.erased")
async def test_what_the_export_erased_is_erased_here_to_the_last_byte(tmp_path: Path) -> None:
    async def write(adapter: SqliteAdapter) -> None:
        await adapter.write(draft("secret", value=transfers.GOING, tags=("s",), odd=transfers.GOING))

    path = tmp_path / "one.db"
    async with SqliteAdapter(path) as adapter:
        await write(adapter)
        await adapter.write(draft("secret", value=transfers.GOING, tags=("s",)))
    copy = tmp_path / "copy.db"
    await transfers.imported(copy, await transfers.exported(path))
    async with SqliteAdapter(copy) as adapter:
        await adapter.write(draft("own"))
    async with SqliteAdapter(path) as adapter:
        await adapter.erase([at("secret")], author="owner", message="asked to")
    export = await transfers.exported(path)
    assert transfers.GOING.encode() not in export
    report = await merged(export, copy)
    assert (report.erased_count, report.commit_count, report.remains) == (2, 1, ())
    files = [tmp_path / name for name in disk.names(tmp_path) if name.startswith("copy.db")]
    assert transfers.GOING.encode() not in b"".join(map(disk.data, files))
    async with SqliteAdapter(copy) as adapter:
        assert await adapter.read("secret", "k") is None
        assert [entry.withdrawn for entry in await adapter.history("secret", "k")] == ["erased", "erased"]


@proves("transfer.erased", "transfer.again")
async def test_what_an_import_that_was_ended_erased_is_gone_to_the_last_byte_when_it_is_begun_again(
    tmp_path: Path,
) -> None:
    path, target = tmp_path / "there.db", tmp_path / "copy.db"
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft("secret", value=transfers.GOING))
    async with SqliteAdapter(target) as adapter:
        await adapter.import_from(transfers.reader(await transfers.exported(path)))
        async with SqliteAdapter(path) as there:
            await there.erase([at("secret")], author="owner")
            await there.write(draft())
        export = await transfers.exported(path)
        cut = b"".join(transfers.lines(export)[:-1])
        with pytest.raises(ImportLineError, match="the export was cut"):
            await adapter.import_from(transfers.reader(cut))
        report = await adapter.import_from(transfers.reader(export))
        assert (report.erased_count, report.remains) == (0, ())
        files = [tmp_path / name for name in disk.names(tmp_path) if name.startswith("copy.db")]
        assert transfers.GOING.encode() not in b"".join(map(disk.data, files))


@proves("transfer.erased")
async def test_what_both_erased_is_erased_once(tmp_path: Path) -> None:
    async def erase(adapter: SqliteAdapter) -> None:
        await adapter.erase([at("shared", version=1)], author="owner")

    export, path = await parted(tmp_path, erase, erase)
    before = await transfers.exported(path)
    report = await merged(export, path)
    assert (report.commit_count, report.left_out_commit_count, report.kept_erased_count) == (0, 1, 0)
    assert await transfers.exported(path) == before


@proves("transfer.erased", "transfer.behind")
async def test_what_was_written_and_erased_meanwhile_comes_without_its_value(tmp_path: Path) -> None:
    export, path = await parted(tmp_path, let_go, own)
    report = await merged(export, path)
    assert (report.version_count, report.erased_count, report.commit_count) == (1, 1, 2)
    async with SqliteAdapter(path) as adapter:
        assert await adapter.read("secret", "k") is None
        assert (await adapter.history("shared", "k"))[0].withdrawn == "erased"
        assert transfers.GOING not in await state(adapter)


@proves("transfer.erased", "transfer.conflicts")
async def test_what_came_without_its_value_gets_its_erasure_though_a_later_version_is_left_out(
    tmp_path: Path,
) -> None:
    async def batch(adapter: SqliteAdapter, path: str) -> None:
        await adapter.write_batch([draft(path, value="x").model_copy(update={"commit_id": "taken"})])

    async def there(adapter: SqliteAdapter) -> None:
        await adapter.write(draft("secret", value=transfers.GOING))
        await batch(adapter, "secret")
        await adapter.erase([at("secret")], author="owner")

    export, path = await parted(tmp_path, there, lambda each: batch(each, "own"))
    report = await merged(export, path)
    assert [each.version for each in report.conflicts] == [2]
    async with SqliteAdapter(path) as adapter:
        assert [entry.withdrawn for entry in await adapter.history("secret", "k")] == ["erased"]


@proves("transfer.erased", "transfer.dry-run")
async def test_a_value_whose_erasure_was_left_out_before_is_not_taken_without_it(tmp_path: Path) -> None:
    async def there(adapter: SqliteAdapter) -> None:
        await adapter.write(draft("left", value=transfers.GOING))
        await adapter.commit_outcome(outcome("failure", at("shared")))
        await adapter.write(draft("shared", value=transfers.GOING))
        await adapter.erase([at("left"), at("shared", version=3)], author="owner")

    export, path = await parted(tmp_path, there, other_outcome)
    assert (await merged(export, path)).conflict_count == 1
    with closing(sqlite3.connect(path)) as raw, raw:  # as if no outcome had moved it here
        raw.execute("UPDATE current SET confidence = 0.5 WHERE entity_path = 'shared'")
    for dry_run in (True, False, False, True):
        with pytest.raises(
            ImportLineError, match="erases version 3 of 'k' under 'shared', whose value is gone"
        ):
            await transfers.imported(path, export, dry_run=dry_run)


@proves("transfer.dry-run")
async def test_a_dry_run_into_an_empty_store_says_all_and_stores_nothing(path: str, tmp_path: Path) -> None:
    await transfers.tell(path)
    export, copy = await transfers.exported(path), tmp_path / "copy.db"
    looked = await transfers.imported(copy, export, dry_run=True)
    assert (looked.dry_run, looked.commit_count, looked.version_count, looked.outcome_count) == (
        True,
        19,
        15,
        5,
    )
    async with SqliteAdapter(copy) as adapter:
        assert await adapter.list_commits() == []
        assert (await adapter.anchor()).sequence == 0
