"""What an agent's memory refuses: by the name of the argument, with nothing stored."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from amfs_sqlite import (
    AgentMemory,
    AmfsAdapter,
    InvalidArgumentError,
    MemoryEntry,
    OutcomeBackPropagator,
    RecallConfig,
    SearchQuery,
)
from parity_tests.ledger import proves
from parity_tests.state import state

Call = Callable[[Any], Any]  # what a type checker would refuse

CALLS: dict[str, tuple[str, Call]] = {
    "confidence": ("confidence", lambda memory: memory.write("p", "k", 1, confidence="high")),
    "key": ("key", lambda memory: memory.write("p", 5, 1)),
    "shared": ("shared", lambda memory: memory.write("p", "k", 1, shared="yes")),
    "one tag for many": ("pattern_refs", lambda memory: memory.write("p", "k", 1, pattern_refs="abc")),
    "artifact": ("artifact_refs.0", lambda memory: memory.write("p", "k", 1, artifact_refs=["x"])),
    "least confidence": ("min_confidence", lambda memory: memory.search(min_confidence="a")),
    "since": ("since", lambda memory: memory.search(since=5)),
    "query": ("query", lambda memory: memory.search(query=5)),
    "tag": ("pattern_ref", lambda memory: memory.search(pattern_ref=5)),
    "one path for many": ("entity_paths", lambda memory: memory.search(entity_paths="svc")),
    "one path in a scope": ("entity_paths", lambda memory: memory.scope("p").search(entity_paths="p")),
    "causal confidence": (
        "causal_confidence",
        lambda memory: memory.commit_outcome("r", "success", causal_confidence="x"),
    ),
    "one key for many": ("causal_entry_keys", lambda memory: memory.commit_outcome("r", "success", "p/k")),
    "watched path": ("entity_path", lambda memory: memory.watch(5, print)),
}


def _named(refused: InvalidArgumentError, argument: str) -> bool:
    return refused.argument == argument or refused.argument.startswith(f"{argument}.")


@proves("agent.refuses")
@pytest.mark.parametrize("name", CALLS)
async def test_what_is_of_another_type_is_refused_by_name(
    alice: AgentMemory, adapter: AmfsAdapter, name: str
) -> None:
    await alice.write("p", "k", 1)
    before = await state(adapter, None)
    argument, call = CALLS[name]
    with pytest.raises(InvalidArgumentError) as refused:
        await call(alice)
    assert _named(refused.value, argument), refused.value.argument
    assert "\n" not in str(refused.value)
    assert await state(adapter, None) == before


@proves("agent.refuses")
@pytest.mark.parametrize("context", [("l", 5), (5, "s")])
async def test_a_context_that_is_no_text_is_refused(alice: AgentMemory, context: tuple[Any, Any]) -> None:
    with pytest.raises(InvalidArgumentError):
        alice.record_context(*context)
    assert alice.read_tracker.external_contexts == ()


@proves("agent.refuses")
def test_a_record_of_one_key_for_many_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="causal_entry_keys"):
        OutcomeBackPropagator.make_record("r", "success", "p/k", "alice")


@proves("agent.refuses")
@pytest.mark.parametrize("field", RecallConfig.model_fields)
def test_a_score_is_made_of_finite_weights(field: str) -> None:
    for weight in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match=field):
            RecallConfig.model_validate({field: weight})


@proves("agent.refuses")
@pytest.mark.parametrize("field", ["semantics", "half_life_days", "limit"])
def test_a_score_has_no_unknown_part(field: str) -> None:
    with pytest.raises(ValidationError, match=f"{field}\n.*not permitted"):
        RecallConfig.model_validate({field: 1})


@proves("agent.drafts")
@pytest.mark.parametrize("tags", ["net", "", b"net", {"net": 1}, 3, None, [3]], ids=repr)
def test_a_draft_refuses_tags_that_are_no_list_of_texts(tags: Any) -> None:
    with pytest.raises(ValidationError, match="pattern"):
        MemoryEntry.draft("p", "k", 1, agent_id="alice", tags=tags)


@proves("agent.drafts")
@pytest.mark.parametrize("several", [list, tuple, iter])
def test_a_draft_takes_tags_from_whatever_holds_them(several: Callable[[list[str]], Any]) -> None:
    drafted = MemoryEntry.draft("p", "k", 1, agent_id="alice", tags=several(["net", "db"]))
    assert drafted.tags == ("net", "db")


@proves("agent.refuses")
@pytest.mark.parametrize("query", ["x", None, {}, ["x"], RecallConfig()], ids=repr)
async def test_an_adapter_is_searched_with_a_query_alone(adapter: AmfsAdapter, query: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="make a SearchQuery") as refused:
        await adapter.search(query)
    assert refused.value.argument == "query"
    assert (await adapter.search(SearchQuery())).entries == ()


@proves("agent.refuses")
@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda memory: memory.read(3, "k"), "entity_path is 3, not text"),
        (lambda memory: memory.read(None, "k"), "entity_path is None, not text"),
        (lambda memory: memory.read(["p"], "k"), "entity_path is ['p'], not text"),
        (lambda memory: memory.read("p", b"k"), "key is b'k', not text"),
        (lambda memory: memory.search(limit=-1), "limit is -1; it must be a whole number from 0"),
        (lambda memory: memory.search(limit="1"), "limit is '1'; it must be a whole number from 0"),
        (
            lambda memory: memory.list([1] * 100),
            f"entity_path is [{'1, ' * 26}1... (300 characters), not text",
        ),
    ],
)
async def test_what_is_no_text_is_shown_without_quotes(alice: AgentMemory, call: Call, says: str) -> None:
    with pytest.raises(InvalidArgumentError) as refused:
        await call(alice)
    assert str(refused.value) == says
