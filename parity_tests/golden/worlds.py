"""What both worlds of a replay have in common, the SDK's and ours: readings, logs, transactions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from amfs_sqlite.clock import spelled
from amfs_sqlite.rules.confidence import AMFS_MULTIPLIERS
from parity_tests.golden import reading
from parity_tests.golden.cast import Call
from parity_tests.golden.comparison import same
from parity_tests.golden.transcript import Answer
from parity_tests.golden.view import HASHES, Entry, Reading, RefusedError, View

RELYING = {"explain", "commitOutcome"}
"""The calls beside those of the tracker that go by the read log."""
LOGGED = {"read", "recall", "readFrom"}
TRACKER = {"causalKeys", "readCount", "readVersion", "contains", "externalContexts"}


@dataclass
class Session:
    """What one memory remembers of itself."""

    log: dict[Any, Reading] = field(default_factory=dict)
    contexts: list[dict[str, Any]] = field(default_factory=list)

    def lines(self) -> Sequence[Reading]:
        """The log, by the time of the last reading."""
        return sorted(self.log.values(), key=lambda line: line.read_at)


class World:
    """One side of a replay. `manner` holds the deviations in which it answers as the SDK does."""

    def __init__(self, manner: frozenset[str]) -> None:
        self.manner = manner
        self.sessions: dict[str, Session] = {}
        self.pending: dict[str, list[Call]] = {}

    def versions(self, board: str) -> Sequence[Entry]:
        """All that is stored on a board, key by key."""
        raise NotImplementedError

    def view(self, call: Call) -> View:
        """All that is stored, as the caller of a call sees it."""
        return View(self.versions(call.actor.board), self.manner, call.actor.agent, call.now)

    def held_before(self, board: str) -> Mapping[str, Sequence[Entry]]:
        """What was stored before the call that was answered last, by address as AMFS writes it."""
        raise NotImplementedError

    def held_the_same(self, call: Call, other: "World", texts: Iterable[str]) -> bool:
        """Whether another world had the same at these addresses, in the session's log, and pending."""
        sides = (self, other)
        if call.actor.kind == "transaction":
            return len({len(each.pending.get(call.actor.name, ())) for each in sides}) == 1
        lines = [[(line.text, line.version) for line in each.session(call).lines()] for each in sides]
        relies = call.op in RELYING | TRACKER
        logged = [text for text, _ in lines[0]] if relies else []
        mine, its = (each.held_before(call.actor.board) for each in sides)
        is_stored_alike = all(
            same(_bare(mine.get(text, ())), _bare(its.get(text, ()))) for text in {*texts, *logged}
        )
        return is_stored_alike and not (relies and lines[0] != lines[1])

    def session(self, call: Call) -> Session:
        """The session of the memory that is asked."""
        return self.sessions.setdefault(call.actor.memory, Session())

    def read(self, call: Call) -> Answer:
        """The answer to a reading call, which is logged where the memory logs it."""
        answer = reading.answer(self.view(call), call.op, call.args)
        if call.op in LOGGED and call.actor.kind in ("memory", "scope") and answer.error is None:
            self._note(call, answer.result)
        return answer

    def tracked(self, call: Call) -> Answer:
        """What the read log says."""
        session, text = self.session(call), call.args.get("entryKey")
        lines = session.lines()
        found = [line.version for line in lines if line.text == text]
        said = {
            "causalKeys": [line.text for line in lines],
            "readCount": len(lines),
            "readVersion": found[0] if found else None,
            "contains": bool(found),
            "externalContexts": [*session.contexts],
        }
        return Answer(result=said[call.op])

    def explained(self, call: Call) -> Answer:
        """What the session relied on."""
        session = self.session(call)
        entries = self.view(call).explained(session.lines())
        return Answer(
            result={
                "outcomeRef": call.args.get("outcomeRef"),
                "agentId": call.actor.agent,
                "sessionId": call.actor.session,
                "causalChainLength": len(entries),
                "causalEntries": entries,
                "externalContexts": [*session.contexts],
            }
        )

    def relate(self, call: Call) -> Answer:
        """Note something learned elsewhere."""
        named = {name: call.args.get(name) for name in ("label", "summary", "source")}
        self.session(call).contexts.append(named | {"recordedAt": spelled(call.now)})
        return Answer(is_void=True)

    def forget(self, call: Call) -> Answer:
        """Empty the log."""
        self.sessions[call.actor.memory] = Session()
        return Answer(is_void=True)

    def drafted(self, call: Call) -> Entry:
        """The entry that a memory is asked to write, but for its version and its outcome count."""
        args, actor = call.args, call.actor
        drafted = {
            "amfsVersion": "0.1.0",
            "entityPath": args["entityPath"],
            "key": args["key"],
            "version": 1,
            "value": args.get("value"),
            "provenance": {
                "agentId": actor.agent,
                "sessionId": actor.session,
                "writtenAt": spelled(call.now),
                "patternRefs": args.get("patternRefs", []),
            },
            "confidence": _or(args.get("confidence"), 1),
            "outcomeCount": 0,
            "ttlAt": args.get("ttlAt"),
            "shared": _or(args.get("shared"), True),
            "contentHash": None,
            "integrityChain": None,
            "commitId": None,
        }
        if "options" not in self.manner:
            drafted["provenance"]["patternRefs"] = args.get("patternRefs") or []
            if args.get("artifactRefs") is not None:
                drafted["artifactRefs"] = args["artifactRefs"]
        return drafted

    def _note(self, call: Call, found: Any) -> None:
        view = self.view(call)
        asked = (call.args["entityPath"], call.args["key"])
        if call.op == "read" and found is None and "private" in self.manner:
            # The SDK logs what it then finds to be hidden.
            found = view.current(*asked)
            if found is not None and not reading.is_to_be_had(view, found, call.args.get("minConfidence")):
                found = None
        elif call.op == "recall":
            found = reading.read(view, *asked)
        elif call.op == "readFrom" and found is not None:
            asked = (found["entityPath"], found["key"])
        if found is not None:
            line = Reading(asked, found["version"], call.now)
            log = self.session(call).log
            log[view.slot(*asked)] = line


def credited(record: Mapping[str, Any], current: Entry, unknown: float | None = None) -> Entry:
    """The next version that an outcome makes under AMFS 0.3.

    Of an unknown type it is refused, unless there is something to multiply by instead.
    """
    multipliers = {str(kind): by for kind, by in AMFS_MULTIPLIERS.items()}
    multiplier = multipliers.get(record["outcomeType"], unknown)
    if multiplier is None:
        raise RefusedError(f"the outcome type {record['outcomeType']!r} is unknown")
    moved = current["confidence"] * multiplier * _or(record.get("causalConfidence"), 1)
    changes = {"confidence": moved, "outcomeCount": current["outcomeCount"] + 1}
    return current | changes | {"version": current["version"] + 1}


def _bare(versions: Sequence[Entry]) -> list[Entry]:
    return [entry | dict.fromkeys(HASHES) for entry in versions]


def _or(given: Any, default: Any) -> Any:
    return default if given is None else given
