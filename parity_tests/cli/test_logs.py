"""`log`, `outcomes`, `packets`, `verify` and `stats`."""

from pathlib import Path
from textwrap import dedent

import pytest

from amfs_sqlite import CommitEntry, MemoryEntry
from amfs_sqlite.clock import instant
from amfs_sqlite.models import Commit
from bridge.handoff.filing import HANDOFF_PATH
from parity_tests.cli.conftest import Run, looked
from parity_tests.ledger import proves

CLOSED, OPEN, CLAIMED = "h_6b86b273", "h_d4735e3a", "h_4e074085"


@proves("cli.log")
@pytest.mark.usefixtures("store")
def test_the_log_draws_who_changed_what_from_commit_to_commit(run: Run) -> None:
    assert run("log", "--before", "10", "--limit", "3").out == dedent(
        """\
        ● 4a44dc153642  #9  2026-01-01 09:06:00Z  executor
        │   packet h_6b86b273 closed
        │   wrote  _system/handoff/h_6b86b273@3  a41df2773984
        │   kept   listing/553/assessment@1      stays 80%: its value has changed since that version
        │   moved  source/boards/rate-limit@1    60% -> 39%
        │   tree 8aae2bf073af  parent 19581e27de7c
        │
        ● 19581e27de7c  #8  2026-01-01 09:05:00Z  executor
        │   moved  listing/482/assessment@1      80% -> 84%
        │   tree none          parent 2c624232cdd2
        │
        ● 2c624232cdd2  #7  2026-01-01 09:04:00Z  executor
        │   packet h_6b86b273 claimed
        │   wrote  _system/handoff/h_6b86b273@2  fd6a41647719
        │   tree 2247a2cfaf21  parent 7902699be42c
        ┊
          more: --before 7
        """
    )


@proves("cli.log")
@pytest.mark.usefixtures("store")
def test_the_first_commit_ends_the_line(run: Run) -> None:
    assert run("log", "--before", "2").out == dedent(
        """\
        ● d4735e3a265e  #1  2026-01-01 09:01:00Z  scout
            wrote  listing/482/assessment@1  e2b84509acbd
            tree 1008ff51c837  parent none
        """
    )
    assert run("log", "--before", "1").out == "no commits\n"


@proves("cli.log")
def test_a_commit_that_follows_on_another_is_not_drawn_as_if_it_followed_on_this(
    store: Path, run: Run
) -> None:
    elsewhere = Commit(
        id="from-elsewhere",
        author_agent_id="scout",
        parent_ids=("unknown",),
        entries=tuple(CommitEntry(entity_path="a", key="k", version=n) for n in range(1, 14)),
        created_at=instant("2026-01-02"),
    )
    looked(store, lambda adapter: adapter.save_commit(elsewhere))
    shown = run("log", "--limit", "2").out
    assert "parent unknown\n┊\n● 3fdba35f04dc  #12" in shown
    assert shown.count("wrote  a/k@") == 10
    assert "│   and 3 more: --full\n" in shown
    assert run("log", "--limit", "2", "--full").out.count("wrote  a/k@") == 13


@proves("cli.log", "cli.documents")
def test_the_document_of_the_log_is_the_commits_whole(store: Path, run: Run) -> None:
    commits = looked(store, lambda adapter: adapter.list_commits())
    whole = run("log", "--json").document
    assert whole["nextBefore"] is None
    for shown, commit in zip(whole["commits"], commits, strict=True):
        assert shown.items() >= commit.to_wire().items()
        assert (shown["sequence"], shown["kind"]) == (commit.sequence, commit.kind)
        assert shown["digest"] == commit.digest
        assert shown["effects"] == [effect.to_wire() for effect in commit.effects]
    page = run("log", "--json", "--limit", "5").document
    rest = run("log", "--json", "--before", str(page["nextBefore"])).document
    assert page["commits"] + rest["commits"] == whole["commits"]


@proves("cli.outcomes")
@pytest.mark.usefixtures("store")
def test_outcomes_say_what_moved_and_what_did_not_and_why(run: Run) -> None:
    assert run("outcomes").out == dedent(
        """\
        failure  run-8  2026-01-01 09:06:00Z  executor  #9
          listing/553/assessment@1    stays 80%: its value has changed since that version
          source/boards/rate-limit@1  60% -> 39%

        success  run-7  2026-01-01 09:05:00Z  executor  #8
          listing/482/assessment@1    80% -> 84%
          invited to talk
        """
    )
    assert run("outcomes", "--ref", "run-9").out == "no outcomes\n"


@proves("cli.outcomes", "cli.documents")
def test_the_document_of_outcomes_is_what_was_recorded(store: Path, run: Run) -> None:
    recorded = [each.to_wire() for each in looked(store, lambda adapter: adapter.list_outcomes())]
    assert run("outcomes", "--json").document == {"outcomes": recorded, "nextBefore": None}
    assert run("outcomes", "--ref", "run-7", "--json").document["outcomes"] == recorded[1:]
    assert run("outcomes", "--limit", "1", "--json").document == {"outcomes": recorded[:1], "nextBefore": 9}
    assert run("outcomes", "--before", "9", "--json").document["outcomes"] == recorded[1:]
    assert run("outcomes", "--limit", "1").out.endswith("\nmore: --before 9\n")


@proves("cli.packets")
@pytest.mark.usefixtures("store")
def test_packets_are_listed_with_who_holds_them(run: Run) -> None:
    assert run("packets", "list").out == dedent(
        """\
        packet      state    from      to        given
        h_6b86b273  closed   scout     (anyone)  2026-01-01 09:02:00Z  2 pins
          Two listings worth an application
        h_d4735e3a  open     executor  scout     2026-01-01 09:07:00Z  0 pins
          Ask again in a week
        h_4e074085  claimed  executor  (anyone)  2026-01-01 09:08:00Z  0 pins
          Anybody: sort the notes
          by "third agent" at 2026-01-01 09:09:00Z until 2026-01-01 09:19:00Z

        3 packets, oldest first
        """
    )
    assert run("packets") == run("packets", "list")
    assert run("packets", "list", "--state", "cancelled").out == "no packets\n"
    assert "1 packet, oldest first; more: a larger --limit" in run("packets", "list", "--limit=1").out


@proves("cli.packets")
@pytest.mark.usefixtures("store")
def test_a_packet_is_shown_with_all_it_says_and_pins(run: Run) -> None:
    assert run("packets", "show", CLOSED).out == dedent(
        """\
        packet       h_6b86b273  closed
        from         scout  scout-1
        to           (anyone)
        given        2026-01-01T09:02:00.000Z
        claimed      by executor at 2026-01-01 09:04:00Z
        closed       2026-01-01T09:06:00.000Z
        outcome      run-8
        summary      │ Two listings worth an application
        next         │ Draft an application for listing/553
        open         │ Is a backoff of 60 s enough?
        pinned       listing/553/assessment@1  e49aad6149a0
        pinned       source/boards/rate-limit@1  b7fa6a4887d6
        """
    )


@proves("cli.packets", "cli.documents")
def test_the_document_of_a_packet_is_what_is_stored(store: Path, run: Run) -> None:
    entry = looked(store, lambda adapter: adapter.read(HANDOFF_PATH, CLOSED))
    assert entry is not None
    assert run("packets", "show", CLOSED, "--json").document == {"packet": entry.value}
    listed = run("packets", "list", "--state", "closed", "--json").document
    assert listed == {"packets": [entry.value], "more": False}
    assert run("packets", "list", "--limit", "2", "--json").document["more"] is True


@proves("cli.packets", "cli.owner")
def test_the_owner_releases_what_another_holds_and_cancels_what_another_gave(store: Path, run: Run) -> None:
    assert run("packets", "release", CLAIMED, "--json").document["packet"]["state"] == "open"
    shown = run("packets", "cancel", OPEN, "--agent", "operator")
    assert (shown.code, shown.out.split("\n")[0]) == (0, "packet       h_d4735e3a  cancelled")
    commits = looked(store, lambda adapter: adapter.list_commits(limit=2))
    assert [(each.author_agent_id, each.message) for each in commits] == [
        ("operator", f"packet {OPEN} cancelled"),
        ("owner", f"packet {CLAIMED} released"),
    ]


@proves("cli.packets", "cli.exit-codes")
@pytest.mark.parametrize(("verb", "packet"), [("release", OPEN), ("release", CLOSED), ("cancel", CLOSED)])
def test_what_a_packets_state_does_not_allow_is_refused_and_changes_nothing(
    store: Path, run: Run, verb: str, packet: str
) -> None:
    before = looked(store, lambda adapter: adapter.list_commits())
    refused = run("packets", verb, packet)
    assert (refused.code, refused.out) == (4, "")
    assert refused.err.startswith(f"packet_state: packet '{packet}' is ")
    assert looked(store, lambda adapter: adapter.list_commits()) == before


@proves("cli.packets", "cli.exit-codes")
def test_what_lies_in_the_place_of_a_packet_is_passed_over_with_a_warning(store: Path, run: Run) -> None:
    forged = MemoryEntry.draft(HANDOFF_PATH, "h_\u202eforged", {"id": 1}, agent_id="mallory")
    looked(store, lambda adapter: adapter.write(forged))
    listed = run("packets", "list")
    assert (listed.code, listed.out.count("h_")) == (0, 3)
    assert listed.err.startswith(r"warning: passed over: packet 'h_\u202eforged' cannot be read: ")
    assert listed.err.count("\n") == 1
    refused = run("packets", "show", "h_\u202eforged")
    assert (refused.code, refused.out) == (4, "")
    assert refused.err.startswith("packet_unreadable: ")


@proves("cli.verify")
def test_a_sound_store_verifies(store: Path, run: Run) -> None:
    report = looked(store, lambda adapter: adapter.verify())
    shown = run("verify")
    assert shown.code == 0
    assert shown.out == "checked 7 keys, 11 versions, 12 commits, 2 outcomes\nall hashes and links hold\n"
    assert run("verify", "--json").document == {"ok": True} | report.to_wire()


@proves("cli.verify", "cli.exit-codes")
def test_a_value_changed_behind_our_back_is_named_and_ends_with_1(store: Path, run: Run) -> None:
    written = store.read_bytes()
    assert b"maybe: fee cut to $400" in written
    store.write_bytes(written.replace(b"maybe: fee cut to $400", b"maybe: fee cut to $900"))
    report = looked(store, lambda adapter: adapter.verify())
    shown = run("verify")
    assert (shown.code, shown.err) == (1, "")
    assert "content  listing/553/assessment@2\n" in shown.out
    assert "do not trust what is named here" in shown.out
    assert "next: keep the file and those beside it as they are, compare them with a backup" in shown.out
    found = run("verify", "--json")
    assert found.code == 1
    assert found.document == {"ok": False} | report.to_wire()
    assert found.document["findings"][0]["code"] == "content"


@proves("cli.stats", "cli.documents")
def test_stats_are_the_numbers_and_the_file(store: Path, run: Run) -> None:
    counts = looked(store, lambda adapter: adapter.stats(include_system=False))
    answer = run("stats", "--json").document
    assert answer["stats"].items() >= counts.to_wire().items()
    assert (answer["stats"]["versionCount"], answer["stats"]["outcomeCount"]) == (5, 2)
    assert answer["stats"]["commitCount"] == counts.commit_count
    assert answer["packets"] == {"open": 1, "claimed": 1, "closed": 1, "cancelled": 0}
    assert answer["store"]["path"] == str(store.resolve())
    assert answer["store"]["namespace"] == "default"
    assert answer["store"]["fileBytes"] > 0
    shown = run("stats").out
    assert "records      4  70.75%  confidence on average\n" in shown
    assert "packets      1 open  1 claimed  1 closed  0 cancelled\n" in shown
    assert "scopes       4:  listing/482 (1)  listing/553 (1)  notes (1)  source/boards (1)\n" in shown


@proves("cli.stats")
@pytest.mark.usefixtures("store")
def test_another_namespace_of_the_file_is_another_memory(run: Run) -> None:
    answer = run("stats", "--namespace", "other", "--json").document
    assert (answer["store"]["namespace"], answer["stats"]["totalEntries"]) == ("other", 0)
    assert run("log", "--namespace", "other").out == "no commits\n"
    assert run("show", "listing/482/assessment", "--namespace", "other").code == 1
