"""`erase`, `prune` and `archive`: what they say, what they ask, and that they do nothing unasked."""

import io
import os
import signal
import sys
from pathlib import Path

import pytest

from amfs_sqlite import Commit, MemoryEntry, RetentionReport, SqliteAdapter
from amfs_sqlite.sqlite.database import scrubbing
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
    assert run("prune", "source", "--keep-last", "1", "--yes").out == (
        "0 versions erased\n  nothing matched: no version at or below 'source' that is not to be kept\n"
    )
    assert "1 version erased" in run("prune", "listing", "--keep-last", "1", "--yes").out
    assert [each.withdrawn for each in looked(store, beliefs)] == ["erased", None]


@proves("cli.archive")
def test_what_has_expired_is_archived(store: Path, run: Run) -> None:
    async def expire(adapter: SqliteAdapter) -> MemoryEntry:
        return await adapter.write(draft("old", "k", ttl_at="2026-01-01"))

    looked(store, expire)
    assert "1 version archived" in run("archive", "--yes").out
    assert "archived: from here on nothing is there" in run("history", "old", "k").out
    nothing = "0 versions archived\n  nothing matched: nothing in this namespace has expired\n"
    assert run("archive", "--yes").out == nothing
    assert run("archive").out == nothing


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


def at_a_terminal(monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    """Somebody sits there and types this."""
    stream = io.StringIO(typed)
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", stream)


@proves("cli.removal-asked")
def test_what_would_go_is_shown_before_it_is_asked(
    store: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_a_terminal(monkeypatch, "n\n")
    before = looked(store, newest_commit)
    ran = run("erase", *ADDRESS)
    assert ran.code == 130
    assert ran.out == ""
    assert ran.err.startswith(
        "  listing/553/assessment@1\n  listing/553/assessment@2\nerase 2 versions? [y/N]: "
    )
    assert looked(store, newest_commit) == before
    at_a_terminal(monkeypatch, "y\n")
    assert run("erase", *ADDRESS).code == 0
    assert [each.withdrawn for each in looked(store, beliefs)] == ["erased", "erased"]


@proves("cli.nothing-matched")
@pytest.mark.parametrize("how", ["--yes", "--dry-run"])
@pytest.mark.usefixtures("store")
def test_an_erasure_of_nothing_says_what_was_looked_for(run: Run, how: str) -> None:
    ran = run("erase", "--written-by", "nobody", how)
    assert (ran.code, ran.err) == (1, "")
    assert ran.out == "0 versions erased\n  nothing matched: no agent 'nobody' has written here\n"
    assert run("erase", "--written-by", "nobody", how, "--json").code == 1


@proves("cli.nothing-matched")
@pytest.mark.parametrize("words", [ADDRESS, ("listing/553/assessment",), ("--written-by", "scout")], ids=str)
@pytest.mark.usefixtures("store")
def test_what_was_erased_before_is_said_to_be_gone(run: Run, words: tuple[str, ...]) -> None:
    assert run("erase", *words, "--yes").code == 0
    for how in (["--yes"], ["--dry-run"], []):
        ran = run("erase", *words, *how)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out == ("0 versions erased\n  nothing of it is left: no version has its value still\n")


@proves("cli.owner")
def test_what_the_owner_removes_is_signed_as_the_owner(
    store: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("erase", *ADDRESS, "--at", "1", "--yes")
    assert looked(store, newest_commit).author_agent_id == "owner"
    monkeypatch.setenv("AGENT_ID", "operator")
    run("erase", *ADDRESS, "--yes")
    assert looked(store, newest_commit).author_agent_id == "operator"


@proves("cli.log")
def test_the_log_tells_an_erasure_and_an_archiving_from_a_writing(store: Path, run: Run) -> None:
    async def expire(adapter: SqliteAdapter) -> MemoryEntry:
        await adapter.write(draft("null", "k", None))
        return await adapter.write(draft("old", "k", ttl_at="2026-01-01"))

    looked(store, expire)
    run("erase", *ADDRESS, "--yes")
    run("archive", "--yes")
    archived, erased, wrote, null = run("log", "--limit", "4").out.split("\n│\n")
    assert "archived  old/k@2" in archived
    assert "erased    listing/553/assessment@1" in erased
    assert "tree" not in erased
    assert "wrote     old/k@1" in wrote
    assert "wrote     null/k@1" in null


@proves("cli.erased-told")
@pytest.mark.usefixtures("store")
def test_a_record_that_was_erased_is_said_to_be_and_its_history_is_shown(run: Run) -> None:
    run("erase", *ADDRESS, "--yes")
    for words in (ADDRESS, ("/".join(ADDRESS),)):
        ran = run("show", *words)
        assert (ran.code, ran.out) == (1, "")
        assert ran.err == (
            "not_found: no entry 'assessment' under 'listing/553'; it was erased, and its history shows"
            " what is left of it\n"
        )
        assert run("history", *words).out.count("erased: its value was removed") == 2


@proves("cli.interrupted")
@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal to send")
def test_an_erasure_that_is_interrupted_says_that_it_was_done_and_what_may_be_left(
    store: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    signals = iter([signal.SIGINT])

    def interrupted(*_: object) -> tuple[str, ...]:
        for each in signals:
            os.kill(os.getpid(), each)
        return ()

    with monkeypatch.context() as patch:
        patch.setattr(scrubbing, "scrub", interrupted)
        ran = run("erase", *ADDRESS, "--yes")
    assert (ran.code, ran.out) == (130, "")
    assert ran.err == (
        "interrupted: 2 versions erased, and ended before the file was written anew: its free space and its"
        " log may hold it until a writer closes, the next erasure, or 'amfs-sqlite doctor --fix'\n"
    )
    assert "nothing of it is left" in run("erase", *ADDRESS, "--yes").out


@proves("cli.interrupted")
@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal to send")
def test_an_erasure_that_is_interrupted_before_it_was_done_says_so(
    store: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = looked(store, newest_commit)

    async def interrupted(*_: object, dry_run: bool, **__: object) -> RetentionReport:
        if not dry_run:
            raise KeyboardInterrupt
        return RetentionReport(versions=before.entries, dry_run=True)

    monkeypatch.setattr("bridge.operations.retention.erase", interrupted)
    ran = run("erase", *ADDRESS, "--yes")
    assert (ran.code, ran.out) == (130, "")
    assert ran.err == "interrupted: ended before anything was erased\n"


@proves("cli.erase")
def test_a_packet_is_erased_by_its_address(store: Path, run: Run) -> None:
    ran = run("erase", "_system/handoff", "h_6b86b273", "--yes")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "3 versions erased")
    assert "h_6b86b273" not in run("packets").out
    assert b"Two listings worth an application" not in store.read_bytes()


@proves("cli.erase")
@pytest.mark.usefixtures("store")
def test_a_packet_that_an_erased_agent_moved_last_is_gone_with_its_moves(run: Run) -> None:
    document = run("erase", "--written-by", "executor", "--yes", "--json").document
    moved = [each["version"] for each in document["versions"] if each["key"] == "h_6b86b273"]
    assert moved == [2, 3]
    assert "h_6b86b273" not in run("packets").out
    shown = run("history", "_system/handoff", "h_6b86b273", "--json").document["records"]
    assert [each["withdrawn"] for each in shown] == [None, "erased", "erased"]
