"""What an agent's memory refuses: by the name of the argument, with nothing stored."""

from collections.abc import Callable
from typing import Any

import pytest

from amfs_sqlite import AgentMemory, AmfsAdapter, InvalidArgumentError, OutcomeBackPropagator, RecallConfig
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
