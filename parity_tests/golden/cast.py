"""Who is who in a transcript: memories, scopes, transactions and the rest, by name."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from amfs_sqlite.clock import instant
from amfs_sqlite.errors import quoted
from parity_tests.golden import wire
from parity_tests.golden.transcript import Step, TranscriptError

Kind = Literal[
    "adapter", "callback", "clock", "memory", "propagator", "scope", "sdk", "tracker", "transaction", "watch"
]


@dataclass(frozen=True)
class Actor:
    """An object of a transcript. `board` is the adapter it works on, `memory` the memory it belongs to."""

    kind: Kind
    name: str
    board: str = ""
    memory: str = ""
    agent: str | None = None
    session: str = ""
    path: str | None = None
    is_readonly: bool = False


@dataclass(frozen=True)
class Call:
    """One call: who is asked what at which time. A scope's path is among the arguments."""

    step: Step
    actor: Actor
    op: str
    args: Mapping[str, Any]
    now: datetime


class Cast:
    """The actors of a transcript, as they come on."""

    def __init__(self, clock_start: str) -> None:
        self.now = instant(clock_start)
        self.actors: dict[str, Actor] = {
            "sdk": Actor("sdk", "sdk"),
            "clock": Actor("clock", "clock"),
            "js": Actor("sdk", "js"),
            "OutcomeBackPropagator": Actor("propagator", "OutcomeBackPropagator"),
        }

    def call(self, step: Step) -> Call:
        """The call that a step makes."""
        return self.said(step, step.on, step.op, step.args)

    def said(self, step: Step, on: str, op: str, args: Mapping[str, Any]) -> Call:
        """A call that a step makes on the way."""
        actor = self.named(on)
        given = wire.flat(args)
        if actor.kind == "scope":
            given |= {"entityPath": actor.path}
            if op == "search":
                given["within"] = actor.path
        return Call(step, actor, op, given, self.now)

    def named(self, on: str) -> Actor:
        """The actor of this name, or a member of one."""
        name, _, member = on.partition(".")
        if name not in self.actors:
            raise TranscriptError(f"{quoted(name)} is not there yet")
        found = self.actors[name]
        if member == "readTracker":
            return replace(found, kind="tracker")
        return self.actors[found.board] if member == "adapter" else found

    def boards(self) -> list[str]:
        """The names of all adapters."""
        return [name for name, actor in self.actors.items() if actor.kind == "adapter"]

    def enter(self, call: Call) -> None:
        """Note the time a call sets, or the actor it brings on."""
        step, args, actor = call.step, call.args, call.actor
        if (actor.kind, call.op) == ("clock", "set"):
            self.now = instant(args["now"])
        if step.names is None or step.recorded.error is not None:
            return
        recorded = step.recorded.result
        if call.op == "newInMemoryAdapter":
            entered = Actor("adapter", step.names, board=step.names)
        elif call.op == "newAgentMemory":
            board = args.get("adapter") or f"{step.names}.adapter"
            session = recorded["sessionId"] if args.get("sessionId") is None else args["sessionId"]
            entered = Actor("memory", step.names, board, step.names, args["agentId"], session)
            self.actors.setdefault(board, Actor("adapter", board, board=board))
        elif call.op == "newOutcomeBackPropagator":
            entered = Actor("propagator", step.names, board=args["adapter"])
        elif call.op == "defineCallback":
            entered = Actor("callback", step.names)
        elif call.op == "scope":
            path, is_readonly = args["entityPath"], bool(args.get("readonly"))
            entered = replace(actor, kind="scope", name=step.names, path=path, is_readonly=is_readonly)
        else:
            entered = replace(actor, kind="transaction" if call.op == "transaction" else "watch")
            entered = replace(entered, name=step.names)
        self.actors[step.names] = entered

    def admit(self, name: str, call: Call) -> None:
        """Bring on a watch that a callback sets up."""
        self.actors[name] = replace(call.actor, kind="watch", name=name)
