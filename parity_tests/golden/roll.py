"""The names in a recording, as its steps bring them on; and whether each step can be played with them."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from amfs_sqlite.errors import quoted
from parity_tests.golden import operations, wire
from parity_tests.golden.form import Form, filled, strays
from parity_tests.golden.transcript import Step, TranscriptError

_MEMBERS = {"readTracker": "tracker", "adapter": "adapter"}
"""What a memory has, and the kind of it."""


class Roll:
    """Who is on, by kind, after the steps entered so far."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._kinds = {"sdk": "sdk", "clock": "clock", "js": "js", "OutcomeBackPropagator": "propagation"}
        self._callbacks: list[tuple[int, str, Mapping[str, Any]]] = []

    def enter(self, step: Step) -> Step:
        """Take in a step. Raises TranscriptError where it cannot be played."""
        kind = self._kind(step.on)
        wanted = operations.OPERATIONS[kind].get(step.op)
        if wanted is None:
            # That the SDK has no such function may be what a recording shows.
            if step.recorded.error is None:
                raise TranscriptError(f"{step.on} is of the kind {kind}, which has no {quoted(step.op)}")
            return replace(step, is_known=False)
        passed_over = self._check_arguments(step, kind, wanted)
        self._check_names(step)
        if step.names is not None:
            self._bring_on(step, step.names)
        return replace(step, args=_without(step.args, passed_over))

    def close(self) -> None:
        """Check what callbacks name, which may come on after them. Raises TranscriptError."""
        for n, reaction, args in self._callbacks:
            try:
                self._check_callback(reaction, args)
            except TranscriptError as wrong:
                raise wrong.at(f"step {n}") from wrong

    def note(self, step: Step, text: str) -> None:
        """Tell something of a step that does not keep it from being played."""
        self.notes.append(f"step {step.n}: {text}")

    def _kind(self, on: str) -> str:
        name, _, member = on.partition(".")
        kind = self._kinds.get(name)
        if kind is None:
            raise TranscriptError(f"on is {quoted(on)}: no earlier step makes {quoted(name)}")
        if not member:
            return kind
        if kind != "memory" or member not in _MEMBERS:
            raise TranscriptError(f"on is {quoted(on)}: {name}, of the kind {kind}, has no {quoted(member)}")
        return _MEMBERS[member]

    def _check_arguments(self, step: Step, kind: str, wanted: type[Form]) -> Collection[str]:
        """The arguments that the operation does not have, which JavaScript passes over."""
        call = _filled(wanted, kind, step.args)
        if step.op == "defineCallback":
            reaction, args = step.args["kind"], {**step.args}
            del args["kind"]
            call = _filled(operations.REACTIONS[reaction], kind, args)
            self._callbacks.append((step.n, reaction, args))
        has_session = step.args.get("sessionId") is not None or step.recorded.error is not None
        if step.op == "newAgentMemory" and not has_session:
            # What was made up when it was recorded must be known, to be given again.
            filled(operations.Memory, step.recorded.result)
        passed_over = strays(call)
        for name in passed_over:
            self.note(step, f"{quoted(name)} is no argument of {step.op}: passed over")
        return passed_over

    def _check_names(self, step: Step) -> None:
        args = step.args
        if step.op in ("newAgentMemory", "newOutcomeBackPropagator") and args.get("adapter") is not None:
            self._check_is(args["adapter"], "adapter")
        elif step.op == "watch":
            self._check_is(args["callback"], "callback")
        elif step.op == "mutate":
            _check_is_earlier(step, args["step"])
        elif step.op == "sameObject":
            _check_is_earlier(step, args["a"][0])
            _check_is_earlier(step, args["b"][0])

    def _bring_on(self, step: Step, name: str) -> None:
        kind = operations.MAKES.get(step.op)
        if kind is None:
            raise TranscriptError(f"as is {quoted(name)}: {step.op} makes nothing that could be named")
        self._add(name, kind, step)
        if step.op == "defineCallback" and step.args["kind"] == "addWatch":
            self._add(step.args["as"], "watch", step)

    def _add(self, name: str, kind: str, step: Step) -> None:
        if name in self._kinds:
            raise TranscriptError(f"as is {quoted(name)}, which is the name of something else already")
        if step.recorded.error is None:
            self._kinds[name] = kind

    def _check_is(self, name: str, kind: str) -> None:
        if self._kinds.get(name) != kind:
            raise TranscriptError(f"args name {quoted(name)}: no {kind} of this name is made before")

    def _check_callback(self, reaction: str, args: Mapping[str, Any]) -> None:
        if reaction == "cancel":
            self._check_is(args["handle"], "watch")
        elif reaction == "addWatch":
            self._check_is(args["callback"], "callback")
            self._check_has(args["on"], "watch", args)
        elif reaction == "write":
            self._check_has(args["on"], "write", args["args"])

    def _check_has(self, on: str, op: str, args: Mapping[str, Any]) -> None:
        kind = self._kind(on)
        wanted = operations.OPERATIONS[kind].get(op)
        if wanted is None:
            raise TranscriptError(f"args.on is {quoted(on)}, of the kind {kind}, which has no {op}")
        _filled(wanted, kind, args)


def _filled(wanted: type[Form], kind: str, args: Mapping[str, Any]) -> Form:
    """The arguments of an operation of an object of this kind, options among them. Raises TranscriptError."""
    options = args.get("options")
    if options is not None and not isinstance(options, dict):
        raise TranscriptError(f"args.options is {quoted(options)}: it must be an object or null")
    given = wire.flat(args)
    if kind == "scope":
        given.setdefault("entityPath", "")  # its own
    try:
        return filled(wanted, given)
    except TranscriptError as wrong:
        raise TranscriptError(f"args.{wrong}") from wrong


def _without(args: Mapping[str, Any], passed_over: Collection[str]) -> Mapping[str, Any]:
    kept = {name: value for name, value in args.items() if name not in passed_over}
    if isinstance(args.get("options"), dict):
        kept["options"] = {name: value for name, value in args["options"].items() if name not in passed_over}
    return kept


def _check_is_earlier(step: Step, named: Any) -> None:
    if isinstance(named, bool) or not isinstance(named, int) or not 0 < named < step.n:
        raise TranscriptError(f"args name step {quoted(named)}, which is no earlier step")
