"""What is too deep or too large is refused wherever a value may stand, and nothing of it is stored."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from amfs_sqlite import AmfsAdapter, FixedClock, InvalidArgumentError, Outcome, Write
from amfs_sqlite.rules.values import MAX_DEPTH, MAX_INTEGER_DIGITS, MAX_VALUE_BYTES
from bridge.operations import entries, outcomes, packets
from bridge.session import Session
from parity_tests.drafts import draft, outcome
from parity_tests.ledger import proves
from parity_tests.mcp.agents import Agents
from parity_tests.state import state

Call = Callable[[AmfsAdapter, Any], Awaitable[object]]
WRITING: dict[str, Call] = {
    "a value": lambda adapter, bad: adapter.write(draft(value=bad)),
    "a value within a value": lambda adapter, bad: adapter.write(draft(value={"a": [bad]})),
    "an unknown field": lambda adapter, bad: adapter.write(draft(more=bad)),
    "a batch": lambda adapter, bad: adapter.write_batch([draft(key="good"), draft(key="bad", value=bad)]),
    "a commit": lambda adapter, bad: adapter.commit([Write(draft()), Write(draft(value=bad))], author="a"),
    "an outcome": lambda adapter, bad: adapter.commit_outcome(outcome("success", "svc/a/k", more=bad)),
    "an outcome in a commit": lambda adapter, bad: adapter.commit(
        [Write(draft()), Outcome(outcome("success", "svc/a/k", more=bad))], author="a"
    ),
    "remembering": lambda adapter, bad: entries.remember(Session(adapter, "a", "s"), "p", "k", bad),
    "remembering without secrets": lambda adapter, bad: entries.remember(
        Session(adapter, "a", "s", redact_secrets=True), "p", "k", bad
    ),
}


def nested(depth: int, kind: type) -> Any:
    """Lists, or objects, within each other."""
    value: Any = 1
    for _ in range(depth):
        value = [value] if kind is list else {"a": value}
    return value


BAD: dict[str, Callable[[], Any]] = {
    "deep lists": lambda: nested(MAX_DEPTH + 1, list),
    "very deep lists": lambda: nested(50_000, list),
    "very deep objects": lambda: nested(50_000, dict),
    "a large text": lambda: "x" * (MAX_VALUE_BYTES + 1),
    "a large number": lambda: 10**MAX_INTEGER_DIGITS,
}


@proves("security.limits")
@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("way", WRITING)
async def test_wherever_a_value_may_stand_its_limits_hold(
    handoff_adapter: AmfsAdapter, way: str, bad: str
) -> None:
    await handoff_adapter.write(draft(value="before"))
    before = await state(handoff_adapter)
    with pytest.raises(InvalidArgumentError) as refused:
        await WRITING[way](handoff_adapter, BAD[bad]())
    assert len(str(refused.value)) < 400
    assert await state(handoff_adapter) == before


LONG = "x" * 100_000
TOO_LONG: dict[str, Callable[[Session], Awaitable[object]]] = {
    "scope": lambda at: entries.remember(at, LONG, "k", 1),
    "key": lambda at: entries.remember(at, "p", LONG, 1),
    "tags": lambda at: entries.remember(at, "p", "k", 1, tags=[LONG]),
    "many tags": lambda at: entries.remember(at, "p", "k", 1, tags=["t"] * 100_000),
    "retry key": lambda at: entries.remember(at, "p", "k", 1, idempotency_key=LONG),
    "summary": lambda at: packets.give(at, LONG),
    "step": lambda at: packets.give(at, "s", next_steps=[LONG]),
    "many steps": lambda at: packets.give(at, "s", next_steps=["s"] * 10_000),
    "question": lambda at: packets.give(at, "s", open_questions=[LONG]),
    "addressee": lambda at: packets.give(at, "s", to_agent=LONG),
    "giving key": lambda at: packets.give(at, "s", idempotency_key=LONG),
    "outcome": lambda at: outcomes.record_outcome(at, "success", LONG),
    "note": lambda at: outcomes.record_outcome(at, "success", "r", note=LONG),
}


@proves("security.limits")
@pytest.mark.parametrize("what", TOO_LONG)
@pytest.mark.parametrize("redacts", [False, True])
async def test_every_name_and_text_of_the_bridge_has_a_limit(
    handoff_adapter: AmfsAdapter, what: str, redacts: bool
) -> None:
    session = Session(handoff_adapter, "a", "s", redact_secrets=redacts)
    await entries.remember(session, "svc", "k", 1)
    before = await state(handoff_adapter)
    with pytest.raises(InvalidArgumentError) as refused:
        await TOO_LONG[what](session)
    assert len(str(refused.value)) < 400
    assert await state(handoff_adapter) == before


DEEP_JSON = {
    "lists": "[" * 100_000 + "]" * 100_000,
    "objects": '{"a":' * 50_000 + "1" + "}" * 50_000,
    "unclosed": "[" * 1_000_000,
    "digits": "9" * 1_000_000,
    "one level too many": "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
}


@proves("security.limits", "security.tools")
@pytest.mark.parametrize("kind", DEEP_JSON)
async def test_a_tool_refuses_json_that_is_too_deep_in_one_line(
    handoff_adapter: AmfsAdapter, clock: FixedClock, kind: str
) -> None:
    agents = Agents(handoff_adapter, clock, "auto")
    async with agents.clients:
        agent = await agents("scout")
        said = await agent.refusal("remember", scope="p", key="k", value_json=DEEP_JSON[kind])
        assert said.startswith("invalid_argument: ")
        assert "\n" not in said
        assert len(said) < 400
    assert await handoff_adapter.list() == []
