"""Whatever an operation of an agent's memory is given: it is refused by name, or answered."""

import inspect
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from amfs_sqlite import (
    AgentMemory,
    AmfsAdapter,
    ExternalContext,
    FixedClock,
    InvalidArgumentError,
    MemoryScope,
    MemoryTransaction,
    OutcomeBackPropagator,
    ReadTracker,
    SqliteAdapter,
)
from amfs_sqlite.agent.session import OPERATIONS
from parity_tests.agent.wrong import answer, leaking, unrefused
from parity_tests.drafts import draft, outcome
from parity_tests.ledger import proves
from parity_tests.state import state

KINDS = (AgentMemory, MemoryScope, MemoryTransaction, ReadTracker, OutcomeBackPropagator)
CALLS = [
    "AgentMemory",
    "OutcomeBackPropagator",
    *(
        f"{kind.__name__}.{name}"
        for kind in KINDS
        for name, _ in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    ),
]
"""Everything public that can be called. Scopes, transactions and read logs are made by a memory."""

NEEDED: Mapping[str, Any] = {
    "agent_id": "alice",
    "callback": lambda _entry: None,
    "causal_entry_keys": ["p/k"],
    "commit_a": "a",
    "commit_b": "b",
    "context": ExternalContext(label="l", summary="s", recorded_at=FixedClock().now()),
    "current_confidence": 0.5,
    "entity_path": "p",
    "entry": draft("p", "k"),
    "entry_key": "p/k",
    "key": "k",
    "label": "l",
    "message": "m",
    "outcome_ref": "run",
    "outcome_type": "success",
    "read_at": FixedClock().now(),
    "record": outcome("success", "p/k"),
    "records": [outcome("success", "p/k")],
    "summary": "s",
    "value": 1,
}
"""A good one for each argument that has no default; the adapter is added to these."""


def found(name: str, memory: AgentMemory, transaction: MemoryTransaction) -> Callable[..., Any]:
    """What can be called by this name."""
    kind, _, operation = name.partition(".")
    holders = {
        "AgentMemory": memory,
        "MemoryScope": memory.scope("p"),
        "MemoryTransaction": transaction,
        "ReadTracker": memory.read_tracker,
        "OutcomeBackPropagator": OutcomeBackPropagator(memory.adapter),
    }
    if not operation:
        return type(holders[kind])
    return cast(Callable[..., Any], getattr(holders[kind], operation))


def needed(call: Callable[..., Any], adapter: AmfsAdapter) -> dict[str, Any]:
    """What a call must be given."""
    given = {**NEEDED, "adapter": adapter}
    parameters = inspect.signature(call).parameters.values()
    return {each.name: given[each.name] for each in parameters if each.default is inspect.Parameter.empty}


@proves("agent.refuses")
@pytest.mark.parametrize("name", CALLS)
async def test_every_argument_of_another_type_is_refused_by_name_and_nothing_is_stored(
    alice: AgentMemory, adapter: AmfsAdapter, name: str
) -> None:
    await alice.write("p", "k", 1)
    transaction = alice.transaction()
    call = found(name, alice, transaction)
    good = needed(call, adapter)
    assert not isinstance(await answer(call, good), Exception)
    await transaction.commit()
    before = await state(adapter)
    assert await unrefused(call, good) == []
    assert await transaction.commit() is None
    assert await state(adapter) == before


@proves("agent.refuses")
@pytest.mark.parametrize("name", CALLS)
async def test_no_argument_whatever_brings_out_an_error_from_inside(
    alice: AgentMemory, adapter: AmfsAdapter, name: str
) -> None:
    await alice.write("p", "k", 1)
    call = found(name, alice, alice.transaction())
    assert await leaking(call, needed(call, adapter)) == []
    assert (await adapter.verify()).ok


@proves("agent.adapter")
@pytest.mark.parametrize("given", [SqliteAdapter, AgentMemory, "m.db", None], ids=str)
@pytest.mark.parametrize("kind", [AgentMemory, OutcomeBackPropagator])
def test_what_is_no_adapter_is_refused_at_once_and_one_is_named(kind: Callable[..., Any], given: Any) -> None:
    options = {"agent_id": "alice", "adapter": given} if kind is AgentMemory else {"adapter": given}
    with pytest.raises(
        InvalidArgumentError, match=r"pass an adapter, such as SqliteAdapter\(path\)$"
    ) as said:
        kind(**options)
    assert said.value.argument == "adapter"


@proves("agent.adapter")
async def test_an_adapter_is_whatever_has_the_operations_that_are_used(
    adapter: AmfsAdapter, clock: FixedClock
) -> None:
    able = {name: getattr(adapter, name) for name in OPERATIONS}
    for missing in OPERATIONS:
        others = SimpleNamespace(**{name: call for name, call in able.items() if name != missing})
        with pytest.raises(InvalidArgumentError, match=f"no {missing} to call"):
            AgentMemory("alice", adapter=cast(AmfsAdapter, others))
    other = cast(AmfsAdapter, SimpleNamespace(**able))
    memory = AgentMemory("alice", adapter=other, clock=clock)
    await memory.write("p", "k", 1)
    transaction = memory.transaction()
    for name in CALLS:
        call = found(name, memory, transaction)
        assert not isinstance(await answer(call, needed(call, other)), Exception), name
