"""One side of a replay: what is stored after each call, and what the call answers.

A world has a manner: the deviations (`deviations.py`) in which it behaves as AMFS 0.3 does, as far as that is
known from recordings. With all of them it is the recorded SDK, with none it is ours; nothing else tells the
two apart. Written from what was observed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from amfs_sqlite.clock import spelled
from parity_tests.golden import javascript, live, logs, operations, reading, sessions
from parity_tests.golden.cast import Actor, Call, Cast
from parity_tests.golden.drafts import credited, drafted, moved, recorded
from parity_tests.golden.form import filled
from parity_tests.golden.refusals import refused, refused_record
from parity_tests.golden.state import State
from parity_tests.golden.transcript import Answer, TranscriptError
from parity_tests.golden.view import (
    HASHES,
    Entry,
    Reading,
    RefusedError,
    Stored,
    View,
    address,
)
from parity_tests.golden.watches import Subscription

MOST_DELIVERIES = 100
"""Callbacks may write in their turn, and others then; further than this no recording goes."""
ENDLESS = "its callbacks write without end"


class ThrownError(Exception):
    """What a callback threw, on its way to whoever wrote."""


class World:
    """Predicts what is stored, heard and answered, from the calls alone."""

    def __init__(self, cast: Cast, manner: frozenset[str], state: State) -> None:
        self.manner = manner
        self.state = state
        self._cast = cast
        self._due: list[tuple[Call, int, Sequence[Entry]]] = []
        self._telling = 0

    def answer(self, call: Call) -> Answer:
        """Take in a call; what it answers."""
        self.state.live[call.step.n, "args"] = call.step.args
        try:
            answer = self._answer(call)
        except RefusedError as refusal:
            answer = Answer(error=str(refusal), error_type=refusal.kind, arguments=refusal.arguments)
        except ThrownError as thrown:
            answer = Answer(error=str(thrown), error_type="Error")
        self.state.live[call.step.n, "result"] = answer.result
        self._deliver()
        return answer

    def view(self, call: Call) -> View:
        """All that is stored, as the caller of a call sees it."""
        return self._view(call, call.actor.agent)

    def stored(self, board: str) -> Sequence[Entry]:
        """All that is stored on a board, as it is listed to its owner."""
        return View(self.state.stored.get(board, ()), self.manner, None, self._cast.now).versions

    def watching(self, board: str) -> frozenset[str]:
        """What kinds of callbacks watch a board."""
        return frozenset(self.state.callbacks[each.callback]["kind"] for each in self.state.watches.on(board))

    def _view(self, call: Call, viewer: str | None) -> View:
        return View(self.state.stored.get(call.actor.board, ()), self.manner, viewer, call.now)

    def _answer(self, call: Call) -> Answer:
        if not call.step.is_known:
            raise RefusedError(f"{call.op} is not a function")
        self._check(call)
        if call.op in reading.READINGS:
            return self._read(call)
        if call.op in sessions.TRACKER:
            return self._tracked(call)
        answered = _ANSWERS.get(call.op)
        return Answer(is_void=True) if answered is None else answered(self, call)

    def _check(self, call: Call) -> None:
        # A batch is reported record by record.
        if call.op != "propagateBatch":
            self._refuse(refused(call))

    def _refuse(self, arguments: Sequence[str]) -> None:
        if arguments and "refused" not in self.manner:
            raise RefusedError(f"refuses {' or '.join(arguments)}", arguments=arguments)

    # What is read, and what of it is logged.

    def _read(self, call: Call) -> Answer:
        view = self.view(call)
        polluted = frozenset(self.state.polluted)
        args = {**call.args, "polluted": polluted} if call.op == "tree" else call.args
        answer = reading.answer(view, call.op, args)
        if call.op == "tree":
            paths = [entry["entityPath"].split("/") for entry in view.versions]
            self.state.polluted |= {name for names in paths for name in javascript.pollutes(names)}
        line = None if answer.error is not None else sessions.line(call, view, answer.result)
        if line is not None:
            self.state.readings.setdefault(call.actor.memory, []).append(line)
        return answer

    def _lines(self, call: Call) -> Sequence[Reading]:
        return self.view(call).lines(self.state.readings.get(call.actor.memory, ()))

    def _tracked(self, call: Call) -> Answer:
        contexts = self.state.contexts.get(call.actor.memory, ())
        return Answer(result=sessions.tracked(call, self._lines(call), contexts))

    def _explained(self, call: Call) -> Answer:
        contexts = self.state.contexts.get(call.actor.memory, ())
        return Answer(result=sessions.explained(call, self.view(call), self._lines(call), contexts))

    def _relate(self, call: Call) -> Answer:
        named = {name: call.args.get(name) for name in ("label", "summary", "source")}
        learned = named | {"recordedAt": spelled(call.now)}
        self.state.contexts.setdefault(call.actor.memory, []).append(learned)
        return Answer(is_void=True)

    def _forget(self, call: Call) -> Answer:
        self.state.readings.pop(call.actor.memory, None)
        self.state.contexts.pop(call.actor.memory, None)
        return Answer(is_void=True)

    # What is stored.

    def _write(self, call: Call) -> Answer:
        if call.actor.kind == "transaction":
            self.state.pending.setdefault(call.actor.name, []).append(call)
            return Answer(is_void=True)
        if call.actor.is_readonly:
            raise RefusedError("Read-only scope", "Error")
        made = call.args["entry"]["provenance"] if call.actor.kind == "adapter" else _signed(call.actor)
        with self._committing(call, made):
            return Answer(result=self._put(call))

    def _put(self, call: Call) -> Entry:
        if call.actor.kind == "adapter":
            return self._store(call, dict(call.args["entry"]))
        view, entry = self.view(call), drafted(call, self.manner)
        current = view.current(*address(entry))
        if current is not None and view.shows(current):
            entry["outcomeCount"] = current["outcomeCount"]
        return self._store(call, entry)

    def _store(self, call: Call, entry: Entry) -> Entry:
        current = self.view(call).current(*address(entry))
        entry["version"] = current["version"] + 1 if current else 1
        if "hashes" not in self.manner:
            entry |= dict.fromkeys(HASHES)
        self.state.stored.setdefault(call.actor.board, []).append(Stored(address(entry), entry))
        if "watch" in self.manner:
            self._tell(call, entry, 0)
        return entry

    @contextmanager
    def _committing(self, call: Call, made: Mapping[str, Any], message: str = "") -> Iterator[None]:
        """What is stored in here is one commit: all or nothing, and heard of when it is done."""
        board = call.actor.board
        stored = self.state.stored.setdefault(board, [])
        before = len(stored)
        try:
            yield
        except (RefusedError, ThrownError):
            if "commits" not in self.manner:
                del stored[before:]
            raise
        entries = [entry for _, entry in stored[before:]]
        commits = self.state.commits.setdefault(board, [])
        commits.append(logs.commit(made, message, entries))
        if "watch" not in self.manner:
            self._due.append((call, len(commits), entries))

    def _commit(self, call: Call) -> Answer:
        pending = self.state.pending.setdefault(call.actor.name, [])
        owner = self._cast.actors[call.actor.memory]
        writes = [Call(call.step, owner, "write", each.args, call.now) for each in pending]
        if "commits" in self.manner:
            for write in writes:
                self._write(write)
        elif writes:
            with self._committing(call, _signed(owner), self.state.messages[call.actor.name]):
                for write in writes:
                    self._put(write)
        pending.clear()
        return Answer(is_void=True)

    def _outcomes(self, call: Call) -> Answer:
        args = call.args
        records = args["records"] if call.op == "propagateBatch" else [args.get("record") or args]
        changed: list[Entry] = []
        for each in records:
            self._refuse(refused_record(each))
            changed += self._outcome(call, each)
            self._deliver()
        return Answer(result=changed)

    def _outcome(self, call: Call, record: Mapping[str, Any]) -> list[Entry]:
        made = _signed(call.actor) if call.actor.agent else record
        with self._committing(call, made):
            return [
                self._store(call, credited(record, current, self.manner))
                for current in self._relied_on(call, record, made["agentId"])
            ]

    def _relied_on(self, call: Call, record: Mapping[str, Any], agent: str) -> Iterator[Entry]:
        """The current versions that an outcome names, each as the one before has left it."""
        texts = record.get("causalEntryKeys")
        lines = self._lines(call) if texts is None else ()
        by_text = "address" in self.manner
        for named in texts or [line.text if by_text else line.address for line in lines]:
            view = self._view(call, agent)
            current = view.credited(named) if isinstance(named, str) else view.current(*named)
            if current is not None and view.shows(current):
                yield current

    # Who hears of it.

    def _watch(self, call: Call) -> Answer:
        self._subscribe(call, call.step.names or "")
        return Answer(result={"cancelled": False})

    def _subscribe(self, call: Call, handle: str) -> None:
        board, watches = call.actor.board, self.state.watches
        asked = Subscription(
            before=len(watches.all),
            board=board,
            path=call.args.get("entityPath"),
            callback=call.args["callback"],
            viewer=call.actor.agent,
            after=len(self.state.commits.get(board, ())),
        )
        watches.add(handle, asked)

    def _deliver(self) -> None:
        for _ in range(MOST_DELIVERIES):
            if self._due:
                call, commit, entries = self._due.pop(0)
                for entry in entries:
                    self._tell(call, entry, commit)
        if self._due:
            raise TranscriptError(ENDLESS)

    def _tell(self, call: Call, entry: Entry, commit: int) -> None:
        self._telling += 1
        if self._telling > MOST_DELIVERIES:
            raise TranscriptError(ENDLESS)
        try:
            for callback in self.state.watches.hearing(call.actor.board, entry, commit, self.manner):
                self.state.heard.setdefault(callback, []).append(entry)
                self.state.call_counts[callback] += 1
                self._react(call, self.state.callbacks[callback], entry)
        finally:
            self._telling -= 1

    def _react(self, call: Call, does: Mapping[str, Any], entry: Entry) -> None:
        kind = does["kind"]
        if kind == "throw" and "watch" in self.manner:
            raise ThrownError(does.get("message", ""))
        if kind == "cancel":
            self.state.watches.cancel(does["handle"], self.manner)
        elif kind == "mutate" and "copies" in self.manner:
            entry[does["property"]] = does.get("value")
            filled(operations.Entry, entry)
        elif kind == "addWatch":
            asked = self._cast.said(call.step, does["on"], "watch", does)
            self._subscribe(asked, does["as"])
            self._cast.admit(does["as"], asked)
        elif kind == "write":
            with suppress(*() if "watch" in self.manner else (RefusedError,)):
                asked = self._cast.said(call.step, does["on"], "write", does["args"])
                self._check(asked)
                self._write(asked)

    def _cancel(self, call: Call) -> Answer:
        self.state.watches.cancel(call.actor.name, self.manner)
        return Answer(is_void=True)

    def _cancelled(self, call: Call) -> Answer:
        return Answer(result=self.state.watches.is_cancelled(call.actor.name))

    def _define(self, call: Call) -> Answer:
        self.state.callbacks[call.step.names or ""] = call.args
        return Answer(is_void=True)

    def _received(self, call: Call) -> Answer:
        return Answer(result=self.state.heard.pop(call.actor.name, []))

    # What is told of objects, transactions and the log.

    def _mutate(self, call: Call) -> Answer:
        if "copies" in self.manner:
            live.mutate(self.state.live, call.args)
            self._check_stored()
        return Answer(is_void=True)

    def _check_stored(self) -> None:
        """Raises TranscriptError where a change has left what is no entry."""
        for stored in self.state.stored.values():
            for _, entry in stored:
                filled(operations.Entry, entry)

    def _same_object(self, call: Call) -> Answer:
        copied = "copies" not in self.manner
        return Answer(result=live.is_same(self.state.live, call.args, copied=copied))

    def _transaction(self, call: Call) -> Answer:
        self.state.messages[call.step.names or call.actor.name] = call.args.get("message", "")
        return Answer(is_void=True)

    def _pending_count(self, call: Call) -> Answer:
        return Answer(result=len(self.state.pending.get(call.actor.name, ())))

    def _log(self, call: Call) -> Answer:
        log = self.state.log.get(call.actor.board, ())
        return Answer(result=logs.answer(self.view(call), log, call.op, call.args))

    def _computed(self, call: Call) -> Answer:
        # Infinite ones are computed, and refused where they would be stored.
        manner = self.manner | {"refused"}
        return Answer(result=moved(call.args, call.args["currentConfidence"], manner))

    def _made(self, call: Call) -> Answer:
        return Answer(result=recorded(call))


def _signed(actor: Actor) -> Mapping[str, Any]:
    return {"agentId": actor.agent, "sessionId": actor.session}


_ANSWERS: Mapping[str, Callable[[World, Call], Answer]] = {
    "explain": World._explained,
    "recordContext": World._relate,
    "clearReadLog": World._forget,
    "write": World._write,
    "commit": World._commit,
    "commitOutcome": World._outcomes,
    "propagate": World._outcomes,
    "propagateBatch": World._outcomes,
    "computeNewConfidence": World._computed,
    "makeRecord": World._made,
    "watch": World._watch,
    "cancel": World._cancel,
    "cancelled": World._cancelled,
    "defineCallback": World._define,
    "received": World._received,
    "mutate": World._mutate,
    "sameObject": World._same_object,
    "transaction": World._transaction,
    "setMessage": World._transaction,
    "pendingCount": World._pending_count,
    "commitLog": World._log,
    "listCommits": World._log,
    "getCommit": World._log,
}
