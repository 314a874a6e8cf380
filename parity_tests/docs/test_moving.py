"""What an author of an AMFS agent is told of the names here is so."""

import inspect
import json
from datetime import timedelta

from pydantic.alias_generators import to_camel

from amfs_sqlite import (
    AgentMemory,
    FixedClock,
    MemoryTransaction,
    ReadTracker,
    RecallConfig,
    ReferenceAdapter,
)
from amfs_sqlite.protocol.changes import WatchHandle
from amfs_sqlite.rules import limits, values
from parity_tests.docs import pages
from parity_tests.ledger import proves

HOW_TO = "docs/how-to/move-an-amfs-agent.md"
TRANSCRIPTS = pages.ROOT / "parity_tests" / "golden" / "transcripts"


@pages.documents_here
@proves("docs.moving")
def test_every_operation_of_agent_memory_is_told_under_both_names() -> None:
    table, *_ = pages.tables(HOW_TO)
    named = {ours.strip("`"): theirs.strip("`") for theirs, ours, _ in table[1:]}
    public = {name for name in dir(AgentMemory) if not name.startswith("_")}
    assert set(named) == public
    assert {ours: to_camel(ours) for ours in named} == named


@pages.documents_here
@proves("docs.moving")
def test_what_is_awaited_is_told() -> None:
    table, *_ = pages.tables(HOW_TO)
    for _, ours, awaited in table[1:]:
        operation = inspect.getattr_static(AgentMemory, ours.strip("`"))
        assert inspect.iscoroutinefunction(operation) == (awaited == "yes"), ours


@pages.documents_here
@proves("docs.moving")
def test_every_member_of_the_read_log_is_told_under_both_names() -> None:
    _, (_, *rows), _ = pages.tables(HOW_TO)
    named = {ours.strip("`"): theirs.strip("`") for theirs, ours in rows}
    recorded = [
        step["op"]
        for path in TRANSCRIPTS.glob("*.json")
        for step in json.loads(path.read_text(encoding="utf-8"))["steps"]
        if step["on"].endswith(".readTracker")
    ]
    assert set(named.values()) == {f"readTracker.{name}" for name in recorded}
    for ours, theirs in named.items():
        assert to_camel(ours.rpartition(".")[2]) == theirs.rpartition(".")[2]
        member = inspect.getattr_static(ReadTracker, ours.removeprefix("read_tracker."))
        assert not inspect.iscoroutinefunction(member)


@pages.documents_here
@proves("docs.moving")
def test_what_is_said_of_watches_and_transactions_is_so() -> None:
    said = " ".join(pages.text(HOW_TO).split())
    handle, transaction = "`cancel` and `cancelled`", "`write`, `set_message`, `pending_count` and `commit`"
    assert f"The handle of a watch has {handle}, a transaction {transaction};" in said
    for kind, members in ((WatchHandle, handle), (MemoryTransaction, transaction)):
        for name in members.replace("`", "").replace(" and ", ", ").split(", "):
            member = inspect.getattr_static(kind, name)
            assert inspect.iscoroutinefunction(member) == (name == "commit"), name


@pages.documents_here
@proves("docs.moving")
async def test_what_is_said_of_the_orders_of_a_search_is_so() -> None:
    _, _, (_, *rows) = pages.tables(HOW_TO)
    found = {}
    clock = FixedClock("2026-01-01T00:00:00Z")
    async with ReferenceAdapter(clock=clock) as adapter:
        memory = AgentMemory("scout", adapter=adapter)
        for key, confidence in (("first", 0.5), ("sure", 0.9), ("twice", 0.1), ("twice", 0.2), ("last", 0.3)):
            await memory.write("p", key, "v", confidence=confidence)
            clock.set(clock.now() + timedelta(seconds=1))
        for sort_by in (None, "confidence", "recency", "version", "anything"):
            found[sort_by] = [entry.key for entry in await memory.search(sort_by=sort_by)]
    assert dict(rows) == {
        "`confidence`, or none given": "the most confident first",
        "`recency`": "the latest written first",
        "`version`": "the highest version first",
        "any other text": "as the keys were first written",
    }
    assert found[None] == found["confidence"] == ["sure", "first", "last", "twice"]
    assert found["recency"] == ["last", "twice", "sure", "first"]
    assert found["version"] == ["twice", "first", "sure", "last"]
    assert found["anything"] == ["first", "sure", "twice", "last"]


@pages.documents_here
@proves("docs.moving")
async def test_a_query_is_not_looked_for_where_there_is_a_recall_config_as_the_page_says() -> None:
    assert "**With a recall_config the query is not looked for.**" in pages.text(HOW_TO)
    async with ReferenceAdapter() as adapter:
        memory = AgentMemory("scout", adapter=adapter)
        await memory.write("p", "k", "v")
        assert await memory.search(query="absent") == ()
        (scored,) = await memory.search(query="absent", recall_config=RecallConfig())
    assert scored.entry.key == "k"


@pages.documents_here
@proves("docs.moving")
async def test_what_was_read_goes_into_the_next_outcome_too_as_the_page_says() -> None:
    said = " ".join(pages.text(HOW_TO).split())
    assert "an outcome does not clear it, so what was read is part of the next outcome too" in said
    assert "Its `outcome_ref` is a label on the answer: nothing is looked up by it." in said
    async with ReferenceAdapter() as adapter:
        memory = AgentMemory("scout", adapter=adapter)
        await memory.write("p", "k", "v")
        await memory.read("p", "k")
        moved = [await memory.commit_outcome(ref, "success") for ref in ("run-1", "run-2")]
        explained = await memory.explain("no such run")
    assert [entry.version for (entry,) in moved] == [2, 3]
    assert explained.outcome_ref == "no such run"
    assert [each.read_version for each in explained.causal_entries] == [1]


@pages.documents_here
@proves("docs.moving")
def test_the_limits_of_an_import_are_those_of_the_code() -> None:
    said = " ".join(pages.text(HOW_TO).split())
    assert f"of at most {limits.MAX_CHANGES:,} changes" in said
    assert f"SLICE = {limits.MAX_CHANGES:_}" in said
    assert f"more than {limits.MAX_ADDRESS_CHARACTERS:,} characters" in said
    assert f"more than {limits.MAX_TAGS:,} pattern refs" in said
    assert f"An outcome has room for {limits.MAX_REFERENCES:,} references." in said
    assert f"deeper than {values.MAX_DEPTH} levels" in said
    assert f"larger than {values.MAX_VALUE_BYTES // 2**20} MiB of JSON" in said
