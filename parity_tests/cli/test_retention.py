"""`erase`, `prune` and `archive`: what they say, what they ask, and that they do nothing unasked."""

from pathlib import Path

import pytest

from amfs_sqlite import Commit, MemoryEntry, SqliteAdapter
from parity_tests.cli.conftest import Run, looked
from parity_tests.drafts import draft
from parity_tests.ledger import proves

ADDRESS = ("listing/553", "assessment")


async def newest_commit(adapter: SqliteAdapter) -> Commit:
    return (await adapter.list_commits(limit=1))[0]


async def beliefs(adapter: SqliteAdapter) -> list[MemoryEntry]:
    return [*await adapter.history(*ADDRESS)]


@proves("cli.removal-asked")
@pytest.mark.parametrize(
    "arguments", [("erase", *ADDRESS), ("prune", "--keep-last", "1")], ids=lambda words: words[0]
)
def test_nothing_goes_unless_it_is_confirmed(store: Path, run: Run, arguments: tuple[str, ...]) -> None:
    before = looked(store, newest_commit)
    ran = run(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert "Nothing was done: look with --dry-run, then give --yes." in ran.err
    looked_at = run(*arguments, "--dry-run")
    assert looked_at.code == 0
    assert "would be erased" in looked_at.out
    assert looked(store, newest_commit) == before
    assert run(*arguments, "--dry-run", "--yes").code == 2


@proves("cli.erase")
@pytest.mark.parametrize("words", [("listing/553/assessment@1",), (*ADDRESS, "--at", "1")], ids=str)
def test_one_version_is_erased_and_shown_as_that(store: Path, run: Run, words: tuple[str, ...]) -> None:
    ran = run("erase", *words, "--yes", "-m", "asked to", "--agent", "operator")
    assert (ran.code, ran.err) == (0, "")
    assert "1 version erased" in ran.out
    assert "listing/553/assessment@1" in ran.out
    assert [each.withdrawn for each in looked(store, beliefs)] == ["erased", None]
    commit = looked(store, newest_commit)
    assert (commit.kind, commit.author_agent_id, commit.message) == ("erase", "operator", "asked to")
    assert "erased: its value was removed" in run("history", *ADDRESS).out
    assert "erased: its value was removed" in run("show", *ADDRESS, "--at", "1").out
    assert run("show", *ADDRESS, "--at", "1", "--json").document["withdrawn"] == "erased"
    assert run("verify").code == 0


@proves("cli.erase")
def test_a_record_and_an_agent_are_erased_whole(store: Path, run: Run) -> None:
    document = run("erase", *ADDRESS, "--yes", "--json").document
    assert [each["version"] for each in document["versions"]] == [1, 2]
    assert (document["dryRun"], len(document["commitIds"]), document["remains"]) == (False, 1, [])
    assert run("show", *ADDRESS).code == 1
    again = run("erase", *ADDRESS, "--yes", "--json").document
    assert (again["versions"], again["commitIds"]) == ([], [])
    assert run("erase", "--written-by", "scout", "--yes").code == 0
    assert run("search", "--json").document["records"] == []
    assert run("verify").code == 0


@proves("cli.prune")
def test_old_versions_are_pruned_under_a_scope(store: Path, run: Run) -> None:
    assert "0 versions erased" in run("prune", "source", "--keep-last", "1", "--yes").out
    assert "1 version erased" in run("prune", "listing", "--keep-last", "1", "--yes").out
    assert [each.withdrawn for each in looked(store, beliefs)] == ["erased", None]


@proves("cli.archive")
def test_what_has_expired_is_archived(store: Path, run: Run) -> None:
    async def expire(adapter: SqliteAdapter) -> MemoryEntry:
        return await adapter.write(draft("old", "k", ttl_at="2026-01-01"))

    looked(store, expire)
    assert "1 version archived" in run("archive", "--yes").out
    assert "archived: from here on nothing is there" in run("history", "old", "k").out
    assert "0 versions archived" in run("archive", "--yes").out


@proves("cli.removal-asked")
@pytest.mark.parametrize(
    "arguments",
    [
        ("erase",),
        ("erase", "a", "b", "c"),
        ("erase", *ADDRESS, "--written-by", "scout"),
        ("erase", "--written-by", "scout", "--at", "1"),
        ("erase", "listing/553/assessment@1", "--at", "2"),
        ("prune",),
        ("prune", "--keep-last", "0"),
        ("prune", "--keep-days", "-1"),
    ],
    ids=" ".join,
)
def test_what_is_not_clear_is_refused(store: Path, run: Run, arguments: tuple[str, ...]) -> None:
    before = looked(store, newest_commit)
    ran = run(*arguments, "--yes")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert looked(store, newest_commit) == before
