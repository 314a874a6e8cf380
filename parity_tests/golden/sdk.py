"""The SDK's side of a replay: what AMFS 0.3 answers, as far as it is known from its recordings.

Written from what was observed. It does only what the ledger of deviations says it does otherwise than we do:
without a row of the ledger this side behaves as ours, and then the recordings are not met.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from amfs_sqlite.clock import spelled
from parity_tests.golden import javascript, reading
from parity_tests.golden.cast import Call, Cast
from parity_tests.golden.recount import OurWorld
from parity_tests.golden.refusals import refused
from parity_tests.golden.transcript import Answer, Step
from parity_tests.golden.view import Entry, RefusedError, View, address, joined
from parity_tests.golden.worlds import TRACKER, World, credited


class ThrownError(Exception):
    """What a callback threw, on its way to whoever wrote."""


@dataclass
class Handle:
    """One registration."""

    board: str
    path: str
    callback: str
    cancelled: bool = False


class SdkWorld(World):
    """Stores live objects in slots named by joined text, and calls back while it writes."""

    def __init__(self, cast: Cast, rows: frozenset[str], ours: OurWorld) -> None:
        super().__init__(rows)
        self._cast = cast
        self._ours = ours
        self._slots: dict[str, dict[Any, list[Entry]]] = {}
        self._counts: dict[str, dict[Any, int]] = {}
        self._watches: dict[str, dict[str, list[str]]] = {}
        self._handles: dict[str, Handle] = {}
        self._callbacks: dict[str, Mapping[str, Any]] = {}
        self._heard: dict[str, list[Entry]] = {}
        self._live: dict[tuple[int, str], Any] = {}
        self._polluted: frozenset[str] = frozenset()
        self._step: Step | None = None

    def versions(self, board: str) -> Sequence[Entry]:
        return [entry for versions in self._slots.get(board, {}).values() for entry in versions]

    def view(self, call: Call) -> View:
        view = super().view(call)
        if "address" in self.manner:
            # A slot keeps its name, whatever is done to the entries in it.
            view.slots = dict(self._slots.get(call.actor.board, {}))
        return view

    def watching(self, board: str) -> frozenset[str]:
        """What kinds of callbacks watch a board."""
        watches = self._watches.get(board, {}).values()
        return frozenset(self._callbacks[name]["kind"] for names in watches for name in names)

    def held_before(self, board: str) -> Mapping[str, Sequence[Entry]]:
        counts = self._counts.get(board, {})
        slots = self._slots.get(board, {}).items()
        return {
            slot if isinstance(slot, str) else joined(*slot): versions[: counts[slot]]
            for slot, versions in slots
            if slot in counts
        }

    def answer(self, call: Call) -> Answer:
        """What the SDK answers to a call."""
        self._counts = {
            board: {slot: len(versions) for slot, versions in slots.items()}
            for board, slots in self._slots.items()
        }
        self._live[call.step.n, "args"] = call.step.args
        self._step = call.step
        try:
            answer = self._answer(call)
        except (RefusedError, ThrownError) as raised:
            return Answer(error=str(raised))
        self._live[call.step.n, "result"] = answer.result
        return answer

    def _answer(self, call: Call) -> Answer:
        if "refused" not in self.manner and (argument := refused(call)):
            raise RefusedError(argument)
        if call.op == "tree":
            return self._tree(call)
        if call.op in reading.READINGS:
            return self.read(call)
        if call.op in TRACKER:
            return self.tracked(call)
        return _ANSWERS.get(call.op, SdkWorld._as_ours)(self, call)

    def _as_ours(self, call: Call) -> Answer:
        return self._ours.answer(call)

    def _tree(self, call: Call) -> Answer:
        view = self.view(call)
        answer = reading.tree(view, call.args.get("maxDepth"), self._polluted)
        if "counts" in self.manner:
            paths = [entry["entityPath"].split("/") for entry in self.versions(call.actor.board)]
            self._polluted |= {name for names in paths for name in javascript.pollutes(names)}
        return Answer(result=answer)

    def _write(self, call: Call) -> Answer:
        if call.actor.kind == "transaction":
            self.pending.setdefault(call.actor.name, []).append(call)
            return Answer(is_void=True)
        if call.actor.is_readonly:
            raise RefusedError("Read-only scope")
        if call.actor.kind == "adapter":
            return Answer(result=self._store(call, dict(call.args["entry"])))
        drafted = self.drafted(call)
        view = self.view(call)
        current = view.current(*address(drafted))
        if current is not None and view.shows(current):
            drafted["outcomeCount"] = current["outcomeCount"]
        return Answer(result=self._store(call, drafted))

    def _store(self, call: Call, entry: Entry) -> Entry:
        slot = self.view(call).slot(*address(entry))
        versions = self._slots.setdefault(call.actor.board, {}).setdefault(slot, [])
        entry["version"] = versions[-1]["version"] + 1 if versions else 1
        if "hashes" not in self.manner:
            entry |= dict.fromkeys(("contentHash", "integrityChain", "commitId"))
        versions.append(entry)
        self._notify(call, entry)
        return entry

    def _commit(self, call: Call) -> Answer:
        pending = self.pending.setdefault(call.actor.name, [])
        for drafted in pending:
            owner = self._cast.actors[call.actor.memory]
            self._write(Call(call.step, owner, "write", drafted.args, call.now))
        pending.clear()
        return Answer(is_void=True)

    def _outcomes(self, call: Call) -> Answer:
        args = call.args
        records = args["records"] if call.op == "propagateBatch" else [args.get("record") or args]
        return Answer(result=[entry for record in records for entry in self._outcome(call, record)])

    def _outcome(self, call: Call, record: Mapping[str, Any]) -> list[Entry]:
        texts = record.get("causalEntryKeys")
        if texts is None:
            texts = [line.text for line in self.session(call).lines()]
        moved = []
        for text in texts:
            view = View(
                self.versions(call.actor.board),
                self.manner,
                call.actor.agent or record.get("agentId"),
                call.now,
            )
            view.slots = dict(self._slots.get(call.actor.board, {}))
            for place in view.credited([text]):
                current = view.current(*place)
                assert current is not None
                unknown = math.nan if "refused" in self.manner else None
                moved.append(self._store(call, credited(record, current, unknown)))
        return moved

    def _watch(self, call: Call) -> Answer:
        self._register(call, call.step.names or "")
        return Answer(result={"cancelled": False})

    def _register(self, call: Call, handle: str) -> None:
        path, callback = str(call.args.get("entityPath")), call.args["callback"]
        registered = self._watches.setdefault(call.actor.board, {}).setdefault(path, [])
        if callback not in registered:
            registered.append(callback)
        self._handles[handle] = Handle(call.actor.board, path, callback)

    def _cancel(self, call: Call) -> Answer:
        self._unregister(self._handles[call.actor.name])
        return Answer(is_void=True)

    def _unregister(self, handle: Handle) -> None:
        registered = self._watches[handle.board][handle.path]
        if not handle.cancelled and handle.callback in registered:
            registered.remove(handle.callback)
        handle.cancelled = True

    def _notify(self, call: Call, entry: Entry) -> None:
        watches = self._watches.get(call.actor.board, {})
        for path in _growing(lambda: [*watches]):
            if entry["entityPath"] == path or entry["entityPath"].startswith(f"{path}/"):
                for callback in _growing(watches[path].copy):
                    self._heard.setdefault(callback, []).append(entry)
                    self._react(self._callbacks[callback], entry)

    def _react(self, does: Mapping[str, Any], entry: Entry) -> None:
        kind = does["kind"]
        if kind == "throw" and "watch" in self.manner:
            raise ThrownError(does.get("message", ""))
        if kind == "cancel":
            self._unregister(self._handles[does["handle"]])
        elif kind == "mutate" and "copies" in self.manner:
            entry[does["property"]] = does.get("value")
        elif kind in ("write", "addWatch"):
            assert self._step is not None
            if kind == "write":
                self._write(self._cast.said(self._step, does["on"], "write", does["args"]))
            else:
                asked = self._cast.said(self._step, does["on"], "watch", does)
                self._register(asked, does["as"])
                self._cast.admit(does["as"], asked)

    def _cancelled(self, call: Call) -> Answer:
        return Answer(result=self._handles[call.actor.name].cancelled)

    def _received(self, call: Call) -> Answer:
        heard = self._heard.pop(call.actor.name, [])
        return Answer(result=heard) if "watch" in self.manner else self._ours.answer(call)

    def _define(self, call: Call) -> Answer:
        self._callbacks[call.step.names or ""] = call.args
        return Answer(is_void=True)

    def _log(self, call: Call) -> Answer:
        if "commits" not in self.manner:
            return self._ours.answer(call)
        if call.op != "commitLog":
            raise RefusedError(f"{call.op} is not a function")
        return Answer(result=[])

    def _mutate(self, call: Call) -> Answer:
        *path, last = call.args["path"]
        node = self._live[call.args["step"], call.args["target"]]
        for name in path:
            node = node[name]
        if last == "length":
            del node[int(call.args["value"]) :]
        elif "copies" in self.manner:
            node[last] = call.args.get("value")
        return Answer(is_void=True)

    def _same_object(self, call: Call) -> Answer:
        if "copies" not in self.manner:
            return self._ours.answer(call)
        one, other = (self._live_part(*call.args[side]) for side in ("a", "b"))
        alike = (str, int, float, type(None))
        if isinstance(one, alike) and isinstance(other, alike):
            return Answer(result=one == other)
        return Answer(result=one is other)

    def _live_part(self, step: int, *path: Any) -> Any:
        node = self._live[step, "result"]
        for name in path:
            node = node[name]
        return node

    def _computed(self, call: Call) -> Answer:
        entry = {"confidence": call.args["currentConfidence"], "outcomeCount": 0, "version": 0}
        return Answer(result=credited(call.args, entry, math.nan)["confidence"])

    def _made(self, call: Call) -> Answer:
        args = call.args
        named = {name: args[name] for name in ("outcomeRef", "outcomeType", "causalEntryKeys", "agentId")}
        relied, at = args.get("causalConfidence"), args.get("committedAt")
        times = {"committedAt": spelled(call.now) if at is None else at}
        return Answer(result=named | times | {"causalConfidence": 1 if relied is None else relied})

    def _pending_count(self, call: Call) -> Answer:
        return Answer(result=len(self.pending.get(call.actor.name, ())))


def _growing(names: Callable[[], list[str]]) -> Iterator[str]:
    """What is there, and what comes in the meantime, without what goes."""
    seen: set[str] = set()
    while left := [name for name in names() if name not in seen]:
        seen.add(left[0])
        yield left[0]


_ANSWERS: Mapping[str, Callable[[SdkWorld, Call], Answer]] = {
    "write": SdkWorld._write,
    "commit": SdkWorld._commit,
    "commitOutcome": SdkWorld._outcomes,
    "propagate": SdkWorld._outcomes,
    "propagateBatch": SdkWorld._outcomes,
    "computeNewConfidence": SdkWorld._computed,
    "makeRecord": SdkWorld._made,
    "explain": SdkWorld.explained,
    "recordContext": SdkWorld.relate,
    "clearReadLog": SdkWorld.forget,
    "watch": SdkWorld._watch,
    "cancel": SdkWorld._cancel,
    "cancelled": SdkWorld._cancelled,
    "received": SdkWorld._received,
    "defineCallback": SdkWorld._define,
    "commitLog": SdkWorld._log,
    "listCommits": SdkWorld._log,
    "getCommit": SdkWorld._log,
    "mutate": SdkWorld._mutate,
    "sameObject": SdkWorld._same_object,
    "pendingCount": SdkWorld._pending_count,
}
