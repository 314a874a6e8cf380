"""`show`, `search` and `history`: what people read, and what programs are given."""

from pathlib import Path
from textwrap import dedent

import pytest

from amfs_sqlite import MemoryEntry, SearchQuery
from parity_tests.cli.conftest import Run, looked
from parity_tests.ledger import proves


def record(entry: MemoryEntry | None) -> dict[str, object]:
    """The document of a record that has not been superseded, nor moved by an outcome."""
    assert entry is not None
    return {
        "ref": str(entry.ref),
        "entry": entry.to_wire(),
        "supersededAt": None,
        "successCount": 0,
        "failureCount": 0,
        "withdrawn": None,
    }


@proves("cli.show")
@pytest.mark.usefixtures("store")
def test_a_record_is_shown_with_all_its_facts(run: Run) -> None:
    assert run("show", "listing/482", "assessment").out == dedent(
        """\
        record       listing/482/assessment@1  current
        scope        listing/482
        key          assessment
        JSON         │ {
                     │   "verdict": "apply",
                     │   "fee": 900
                     │ }
        confidence   84%  0.84
        outcomes     success 1, failure 0 since this value was written; 1 in all
        author       scout  scout-1
        written      2026-01-01T09:01:00.000Z
        visible to   everyone
        tags         job
        content hash e2b84509acbd
        chain        1008ff51c837
        commit       d4735e3a265e
        """
    )


@proves("cli.show")
@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    "words",
    [
        ("listing/553/assessment",),
        ("listing/553/assessment@2",),
        ("listing/553", "assessment"),
        ("listing/553", "assessment", "--at", "2"),
        ("--at=2", "listing/553/assessment"),
    ],
)
def test_every_way_to_name_a_record_shows_the_same(run: Run, words: tuple[str, ...]) -> None:
    shown = run("show", *words)
    assert (shown.code, shown.err) == (0, "")
    assert "listing/553/assessment@2  current" in shown.out
    assert "│ maybe: fee cut to $400" in shown.out


@proves("cli.show")
@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("words", [("listing/553/assessment@1",), ("listing/553", "assessment", "--at=1")])
def test_an_older_version_is_shown_as_it_was(run: Run, words: tuple[str, ...]) -> None:
    shown = run("show", *words).out
    assert "listing/553/assessment@1  superseded" in shown
    assert "│ apply: price monitor" in shown
    assert "superseded   2026-01-01T09:03:00.000Z" in shown


@proves("cli.show")
@pytest.mark.usefixtures("store")
def test_hashes_are_shown_whole_when_asked_for(run: Run) -> None:
    entry = run("show", "notes/draft", "--json").document["entry"]
    short, full = run("show", "notes/draft").out, run("show", "notes/draft", "--full").out
    for name in ("contentHash", "integrityChain", "commitId"):
        assert entry[name] in full
        assert entry[name] not in short
        assert entry[name][:12] in short


@proves("cli.show", "cli.owner")
def test_a_private_record_is_shown_to_the_owner_and_said_to_be_private(store: Path, run: Run) -> None:
    private = looked(store, lambda adapter: adapter.read("notes", "draft"))
    assert "visible to   scout\n" in run("show", "notes", "draft").out
    assert run("show", "notes", "draft", "--json").document == record(private)


@proves("cli.documents")
def test_the_document_of_a_record_is_its_wire_form_and_what_that_leaves_out(store: Path, run: Run) -> None:
    current = looked(store, lambda adapter: adapter.read("listing/553", "assessment"))
    assert run("show", "listing/553/assessment", "--json").document == record(current)
    first = run("show", "listing/553/assessment@1", "--json").document
    assert first["entry"]["value"] == "apply: price monitor"
    assert first["supersededAt"] == "2026-01-01T09:03:00.000Z"
    moved = run("show", "source/boards/rate-limit", "--json").document
    assert (moved["successCount"], moved["failureCount"]) == (0, 1)


@proves("cli.show")
@pytest.mark.usefixtures("hostile_store")
def test_what_else_a_record_carries_is_shown_too(run: Run) -> None:
    lines = run("show", "plain/more").out.splitlines()
    assert "expires      2126-01-01T00:00:00.000Z" in lines
    assert any(line.startswith('artifact     {"uri":"first') for line in lines)
    assert any(line.startswith('more         "key') for line in lines)


@proves("cli.history")
@pytest.mark.usefixtures("store")
def test_a_history_draws_the_chain_from_belief_to_belief(run: Run) -> None:
    assert run("history", "listing/553", "assessment").out == dedent(
        """\
        listing/553/assessment
        ● v1  2026-01-01 09:01:00Z  scout  70%
        │   "apply: price monitor"
        │   content  e49aad6149a0
        ◆   chain    b7cb55713e16
        │
        ● v2  2026-01-01 09:03:00Z  scout  80%  current
        │   "maybe: fee cut to $400"
        │   content  3b8eeb7f79ba
        ◆   chain    5eb5b7bdf96a
        """
    )


@proves("cli.history", "cli.documents")
def test_a_history_is_had_page_by_page(store: Path, run: Run) -> None:
    versions = looked(store, lambda adapter: adapter.history("listing/553", "assessment"))
    whole = run("history", "listing/553/assessment", "--json").document
    assert [each["entry"] for each in whole["records"]] == [each.to_wire() for each in versions]
    assert whole["nextAfter"] is None
    first = run("history", "listing/553/assessment", "--limit", "1", "--json").document
    assert ([each["ref"][-2:] for each in first["records"]], first["nextAfter"]) == (["@1"], 1)
    rest = run("history", "listing/553/assessment", "--after", "1", "--json").document
    assert [*first["records"], *rest["records"]] == whole["records"]
    assert run("history", "listing/553/assessment", "--limit=1").out.endswith("┊\n  more: --after 1\n")


@proves("cli.history")
@pytest.mark.usefixtures("store")
def test_behind_the_last_belief_there_is_none_and_that_is_no_error(run: Run) -> None:
    shown = run("history", "listing/553/assessment", "--after", "2")
    assert (shown.code, shown.out) == (0, "no belief behind version 2\n")


@proves("cli.search")
@pytest.mark.usefixtures("store")
def test_a_search_lists_the_newest_first_and_says_what_was_left_out(run: Run) -> None:
    assert run("search", "--min-confidence", "0.5").out == dedent(
        """\
        record                    confidence  written               by
        listing/553/assessment@2  80%         2026-01-01 09:03:00Z  scout
          "maybe: fee cut to $400"
        notes/draft@1             80%         2026-01-01 09:01:00Z  scout
          [1,null]
          private
        listing/482/assessment@1  84%         2026-01-01 09:01:00Z  scout
          {"verdict":"apply","fee":900}
          tags  job

        3 records, newest first; left out: 1 less confident
        """
    )


@proves("cli.search")
@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (("apply",), ["listing/482/assessment@1"]),
        (("fee", "cut"), ["listing/553/assessment@2"]),
        (('"fee cut"',), ["listing/553/assessment@2"]),
        (("cut fee price",), []),
        (("--scope", "listing"), ["listing/553/assessment@2", "listing/482/assessment@1"]),
        (("--key", "draft"), ["notes/draft@1"]),
        (("--tag", "job"), ["listing/482/assessment@1"]),
        (("--", "-apply"), ["listing/482/assessment@1"]),
        (("--limit", "1"), ["listing/553/assessment@2"]),
    ],
)
def test_every_filter_filters(run: Run, arguments: tuple[str, ...], found: list[str]) -> None:
    answer = run("search", "--json", *arguments).document
    assert [each["ref"] for each in answer["records"]] == found
    assert answer["belowConfidenceCount"] == answer["expiredCount"] == 0


@proves("cli.search")
@pytest.mark.usefixtures("store")
def test_finding_nothing_is_an_answer(run: Run) -> None:
    shown = run("search", "unheard-of")
    assert (shown.code, shown.out.strip(), shown.err) == (0, "0 records", "")


@proves("cli.search", "cli.documents")
def test_pages_of_a_search_joined_are_the_whole(store: Path, run: Run) -> None:
    query = SearchQuery(include_system=False)
    everything = looked(store, lambda adapter: adapter.search(query)).entries
    found = []
    cursor = ""
    while True:
        page = run("search", "--limit", "3", "--json", "--cursor", cursor).document
        found += page["records"]
        cursor = page["nextCursor"] or ""
        if not cursor:
            break
        assert f"more: --cursor {cursor}\n" in run("search", "--limit", "3").out
    assert [each["entry"] for each in found] == [entry.to_wire() for entry in everything]
