"""Plays a recorded transcript on an adapter of ours, step by step."""

import asyncio
import copy
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from amfs_sqlite import (
    OUTCOME_MULTIPLIERS,
    AgentMemory,
    AmfsAdapter,
    AmfsError,
    CountedIds,
    FixedClock,
    MemoryEntry,
    OutcomeBackPropagator,
    Provenance,
)
from amfs_sqlite.models import DEFAULT_NAMESPACE
from parity_tests.golden import wire
from parity_tests.golden.transcript import Answer, Step, Transcript

OpenAdapter = Callable[[FixedClock, str, str], Awaitable[AmfsAdapter]]
"""Opens an adapter with this clock, this name in the transcript, and this namespace."""


PATIENCE_S = 5.0
"""How long callbacks are waited for that should have been called."""


class CallbackError(Exception):
    """What a callback of a transcript raises."""


@dataclass(frozen=True)
class Asked:
    """A step and its arguments, as an object that later steps may change."""

    step: Step
    args: Mapping[str, Any]


@dataclass
class Callback:
    """A callback of a transcript: it collects, and may do one thing more."""

    does: Mapping[str, Any]
    player: "Player"
    received: list[Any] = field(default_factory=list)
    call_count: int = 0

    async def __call__(self, entry: MemoryEntry) -> None:
        try:
            self.received.append(wire.answer(entry))
            await self._react(entry)
        finally:
            self.call_count += 1
            self.player.called.set()

    async def _react(self, entry: MemoryEntry) -> None:
        kind, does = self.does["kind"], self.does
        if kind == "throw":
            raise CallbackError(does.get("message", ""))
        if kind == "write":
            await self.player.call(does["on"], "write", does["args"])
        elif kind == "cancel":
            self.player.objects[does["handle"]].cancel()
        elif kind == "addWatch":
            asked = {name: does[name] for name in ("entityPath", "callback")}
            self.player.objects[does["as"]] = await self.player.call(does["on"], "watch", asked)
        elif kind == "mutate":
            _set_member(entry, does["property"], does.get("value"))

    def take(self) -> Sequence[Any]:
        """What came since the last time."""
        taken, self.received = self.received, []
        return taken


@dataclass
class Played:
    """One step as it was played."""

    step: Step
    answer: Answer
    args: Mapping[str, Any]
    raw: Any


class Player:
    """Holds the objects of a transcript by name, and the clock they all share."""

    def __init__(self, transcript: Transcript, open_adapter: OpenAdapter) -> None:
        self.clock = FixedClock(transcript.clock_start)
        self._namespaces = _namespaces(transcript)
        self.ids = CountedIds()
        self.called = asyncio.Event()
        self.objects: dict[str, Any] = {"OutcomeBackPropagator": OutcomeBackPropagator}
        self.played: dict[int, Played] = {}
        self._open = open_adapter

    async def play(self, step: Step) -> Played:
        """Play a step; what it raises is an answer too."""
        args = copy.deepcopy(dict(step.args))
        try:
            raw = await self._perform(step, args)
        except (AmfsError, ValidationError, AttributeError, TypeError) as raised:
            done = Played(step, Answer(error=str(raised), error_type=type(raised).__name__), args, None)
        else:
            done = Played(step, Answer(result=wire.answer(raw)), args, raw)
            if step.names:
                self.objects[step.names] = raw
        self.played[step.n] = done
        return done

    async def hear(self, call_counts: Mapping[str, int]) -> None:
        """Wait until the callbacks were called so often; give up when they are not."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_S):
                while any(self.objects[name].call_count < count for name, count in call_counts.items()):
                    self.called.clear()
                    await self.called.wait()

    async def call(self, on: str, op: str, args: Mapping[str, Any]) -> Any:
        """Call an operation of an object by the SDK's name, or read a property of it."""
        owner = self.resolve(on)
        member = getattr(owner, wire.ours(op))
        if not callable(member):
            return member
        given = wire.arguments(self._given(owner, op, args))
        answered = member(**given)
        return await answered if inspect.isawaitable(answered) else answered

    def resolve(self, on: str) -> Any:
        """The object of this name, or a member of it."""
        name, *members = on.split(".")
        if name not in self.objects:
            raise AttributeError(f"{name} was never made")
        found = self.objects[name]
        for member in members:
            found = getattr(found, wire.ours(member))
        return found

    def _given(self, owner: Any, op: str, args: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments that the operation has: JavaScript passes over others."""
        known = inspect.signature(getattr(owner, wire.ours(op))).parameters
        given = {name: value for name, value in wire.flat(args).items() if wire.ours(name) in known}
        if op == "write" and "value" in known:
            given.setdefault("value", None)
        if "clock" in known:
            given["clock"] = self.clock
        if "callback" in given:
            given["callback"] = self.objects[given["callback"]]
        return given

    async def _perform(self, step: Step, args: dict[str, Any]) -> Any:
        if (step.on, step.op) in _CONSTANT:
            return _CONSTANT[step.on, step.op]
        special = _SPECIAL.get((step.on, step.op))
        if special is not None:
            return await special(self, Asked(step, args))
        found = self.resolve(step.on)
        if not step.is_known:
            # The SDK has no such function; of ours only whether there is one is asked.
            return getattr(found, wire.ours(step.op)) and None
        if isinstance(found, Callback):
            return found.take()
        return await self.call(step.on, step.op, args)

    async def _new_adapter(self, asked: Asked) -> AmfsAdapter:
        name = asked.step.names or f"step-{asked.step.n}"
        return await self._open(self.clock, name, self._namespaces.get(name, DEFAULT_NAMESPACE))

    async def _new_memory(self, asked: Asked) -> AgentMemory:
        args, recorded = asked.args, asked.step.recorded.result or {}
        named, session = args.get("adapter"), args.get("sessionId")
        shared = await self._new_adapter(asked) if named is None else self.resolve(named)
        return AgentMemory(
            args["agentId"],
            adapter=shared,
            session_id=recorded.get("sessionId") if session is None else session,
            clock=self.clock,
            ids=self.ids,
        )

    async def _new_propagator(self, asked: Asked) -> OutcomeBackPropagator:
        return OutcomeBackPropagator(self.resolve(asked.args["adapter"]))

    async def _define_callback(self, asked: Asked) -> Callback:
        return Callback(asked.args, self)

    async def _set_clock(self, asked: Asked) -> Any:
        self.clock.set(asked.args["now"])
        return asked.args["now"]

    async def _mutate(self, asked: Asked) -> None:
        earlier = self.played[asked.args["step"]]
        *path, last = asked.args["path"]
        node = earlier.args if asked.args["target"] == "args" else earlier.raw
        _set_member(_member_of(node, path), last, asked.args.get("value"))

    async def _same_object(self, asked: Asked) -> bool:
        sides = (asked.args["a"], asked.args["b"])
        one, other = (_member_of(self.played[n].raw, path) for n, *path in sides)
        if sides[0] == sides[1]:
            return True
        alike = (str, int, float, type(None))
        if isinstance(one, alike) and isinstance(other, alike):
            return bool(one == other)
        # Of what is frozen through and through nobody can tell whether it is shared.
        return one is other and not isinstance(one, tuple | Provenance)


def _namespaces(transcript: Transcript) -> dict[str, str]:
    """The namespaces that memories of a transcript are given, by the adapter they work on."""
    return {
        step.args.get("adapter") or step.names or "": step.args["config"]["namespace"]
        for step in transcript.steps
        if step.op == "newAgentMemory" and (step.args.get("config") or {}).get("namespace")
    }


def _member_of(node: Any, path: Sequence[Any]) -> Any:
    for name in path:
        try:
            node = node[name] if isinstance(node, Mapping | Sequence) else getattr(node, wire.ours(str(name)))
        except LookupError as missing:
            raise AttributeError(f"there is nothing at {name!r}") from missing
    return node


def _set_member(node: Any, name: Any, value: Any) -> None:
    """Change a live object as JavaScript would; ours may refuse, being frozen, and that is fine."""
    try:
        if name == "length" and isinstance(node, list) and isinstance(value, int):
            del node[value:]
        elif isinstance(node, dict | list):
            node[name] = value
        else:
            setattr(node, wire.ours(str(name)), value)
    except (AttributeError, LookupError, TypeError, ValidationError):
        return


_SPECIAL: Mapping[tuple[str, str], Callable[[Player, Asked], Awaitable[Any]]] = {
    ("sdk", "newInMemoryAdapter"): Player._new_adapter,
    ("sdk", "newAgentMemory"): Player._new_memory,
    ("sdk", "newOutcomeBackPropagator"): Player._new_propagator,
    ("sdk", "defineCallback"): Player._define_callback,
    ("sdk", "mutate"): Player._mutate,
    ("sdk", "sameObject"): Player._same_object,
    ("clock", "set"): Player._set_clock,
}
_CONSTANT: Mapping[tuple[str, str], Any] = {
    ("sdk", "OUTCOME_MULTIPLIERS"): OUTCOME_MULTIPLIERS,
    # What JavaScript's own objects have become is nothing we could know.
    ("js", "probe"): None,
}
