"""Whatever an operation is given: it is refused by name, or answered."""

import importlib
import inspect
from collections.abc import Mapping
from typing import Any, cast

import pytest

from amfs_sqlite import AmfsAdapter, EntryRef, InvalidArgumentError
from bridge import operations
from bridge.operations import entries, outcomes, packets
from bridge.session import Session
from parity_tests.agent.wrong import Call, answer, leaking, unrefused
from parity_tests.bridge.conftest import Begin
from parity_tests.ledger import proves
from parity_tests.state import state

NOUNS = (
    *("commits", "entries", "integrity", "outcomes", "packets", "references"),
    *("retention", "search", "statistics"),
)
MODULES = [importlib.import_module(f"{operations.__name__}.{noun}") for noun in NOUNS]
CALLS: Mapping[str, Call] = {
    f"{module.__name__.rpartition('.')[2]}.{name}": call
    for module in MODULES
    for name, call in vars(module).items()
    if inspect.iscoroutinefunction(call) and not name.startswith("_") and call.__module__ == module.__name__
}
NEEDED: Mapping[str, Any] = {
    "agent_id": "a",
    "commits": [],
    "key": "k",
    "outcome": "success",
    "outcome_ref": "run",
    "scope": "p",
    "summary": "s",
    "text": "p/k",
    "texts": ["p/k"],
    "value": 1,
}
"""A good one for each argument that has no default; the session and a packet are added to these."""

ALSO: Mapping[str, dict[str, Any]] = {"erase": {"written_by": "nobody"}, "prune": {"keep_last": 1}}
"""What a call must be given though none of it alone."""


async def needed(call: Call, session: Session) -> dict[str, Any]:
    """What a call must be given, on a store with a record and a packet that can be moved."""
    await entries.remember(session, "p", "k", 1)
    handoff_id = (await packets.give(session, "s")).packet.id
    if call is packets.release:
        await packets.take(session, handoff_id)
    given = {**NEEDED, "session": session, "handoff_id": handoff_id}
    parameters = inspect.signature(call).parameters.values()
    alone = {each.name: given[each.name] for each in parameters if each.default is inspect.Parameter.empty}
    return alone | ALSO.get(call.__name__, {})


@pytest.fixture
def owner(begin: Begin) -> Session:
    """May do whatever there is to be done."""
    return begin("alice", owner=True)


@proves("bridge.refuses")
@pytest.mark.parametrize("name", CALLS)
async def test_every_argument_of_another_type_is_refused_by_name_and_nothing_is_stored(
    owner: Session, handoff_adapter: AmfsAdapter, name: str
) -> None:
    good = await needed(CALLS[name], owner)
    assert not isinstance(await answer(CALLS[name], good), Exception)
    before, touched = await state(handoff_adapter), owner.touched
    assert await unrefused(CALLS[name], good) == []
    assert (await state(handoff_adapter), owner.touched) == (before, touched)


@proves("bridge.refuses")
@pytest.mark.parametrize("name", CALLS)
async def test_no_argument_whatever_brings_out_an_error_from_inside(
    owner: Session, handoff_adapter: AmfsAdapter, name: str
) -> None:
    assert await leaking(CALLS[name], await needed(CALLS[name], owner)) == []
    assert (await handoff_adapter.verify()).ok


@proves("bridge.refuses")
@pytest.mark.parametrize(
    "refs",
    ["p/k", ["p/k"], [EntryRef(entity_path="p", key="k"), "p/k"], EntryRef(entity_path="p", key="k")],
    ids=["text", "texts", "text among refs", "one ref"],
)
async def test_refs_as_text_are_refused_with_the_way_to_resolve_them(alice: Session, refs: Any) -> None:
    await entries.remember(alice, "p", "k", 1)
    for call in (
        packets.give(alice, "s", refs=refs),
        outcomes.record_outcome(alice, "success", "run", refs=refs),
    ):
        with pytest.raises(InvalidArgumentError, match=r"references\.resolve") as refused:
            await call
        assert refused.value.argument == "refs"
    assert await packets.list_packets(alice) == []


@proves("bridge.refuses")
async def test_an_adapter_is_no_session(handoff_adapter: AmfsAdapter) -> None:
    with pytest.raises(InvalidArgumentError, match="make a Session"):
        await entries.remember(cast(Session, handoff_adapter), "p", "k", 1)


@proves("bridge.list-packets")
async def test_an_unknown_order_is_refused(alice: Session) -> None:
    with pytest.raises(InvalidArgumentError, match="order is 'upwards'; it must be one of newest, oldest"):
        await packets.list_packets(alice, order=cast(Any, "upwards"))
