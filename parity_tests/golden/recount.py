"""Our side of a replay: what each call must answer, recounted out of the listing of all that we store."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from amfs_sqlite.rules.hashing import content_hash, integrity_chain
from parity_tests.golden.cast import Actor, Call, Cast
from parity_tests.golden.reading import READINGS
from parity_tests.golden.refusals import refused
from parity_tests.golden.transcript import Answer, Step
from parity_tests.golden.view import HASHES, Address, Entry, RefusedError, View, address, joined
from parity_tests.golden.worlds import TRACKER, World, credited

HOLDS_ENTRIES = ("entry", "causalEntries")
OURS: frozenset[str] = frozenset()


@dataclass
class Subscription:
    """One watch: it hears the commits behind `after`."""

    name: str
    board: str
    path: str | None
    callback: str
    viewer: str | None
    after: int
    cancelled: bool = False

    def covers(self, entry: Entry) -> bool:
        """Whether it hears of this entry."""
        path = entry["entityPath"]
        is_under = self.path is None or path == self.path or path.startswith(f"{self.path}/")
        is_seen = self.viewer is None or entry["shared"] or entry["provenance"]["agentId"] == self.viewer
        return is_under and is_seen


class OurWorld(World):
    """What is stored and committed, as listed after every step, and what follows from it."""

    def __init__(self, cast: Cast) -> None:
        super().__init__(OURS)
        self._cast = cast
        self._boards: dict[str, Sequence[Entry]] = {}
        self._before: dict[str, Sequence[Entry]] = {}
        self._commits: dict[str, Sequence[dict[str, Any]]] = {}
        self._hashes: dict[str, dict[tuple[str, str, int], tuple[str, ...]]] = {}
        self._subscriptions: list[Subscription] = []
        self._callbacks: dict[str, Mapping[str, Any]] = {}
        self._heard: dict[str, list[Entry]] = {}
        self.call_counts: Counter[str] = Counter()
        self._answers: dict[int, Any] = {}

    def versions(self, board: str) -> Sequence[Entry]:
        return self._boards.get(board, ())

    def held_before(self, board: str) -> Mapping[str, Sequence[Entry]]:
        held: dict[str, list[Entry]] = {}
        for entry in self._before.get(board, ()):
            held.setdefault(joined(*address(entry)), []).append(entry)
        return held

    def answer(self, call: Call) -> Answer:
        """What we must answer to a call."""
        self._before = dict(self._boards)
        if argument := refused(call):
            return Answer(error=f"{argument} is refused")
        try:
            return self._answer(call)
        except RefusedError as raised:
            return Answer(error=str(raised))

    def observe(
        self, step: Step, board: str, versions: Sequence[Entry], commits: Sequence[dict[str, Any]]
    ) -> bool:
        """Take in what is stored after a step, and tell the watches of what is new, if anything is."""
        known = len(self._commits.get(board, ()))
        self._boards[board], self._commits[board] = versions, commits
        self._hashes[board] = self._right_hashes(board)
        stored = {(*address(entry), entry["version"]): entry for entry in versions}
        made = known
        for number in range(known + 1, len(commits) + 1):
            made = max(made, number)
            for each in commits[-number]["entries"]:
                entry = stored[each["entityPath"], each["key"], each["version"]]
                made = self._deliver(step, board, entry, number, made)
        return len(commits) > known

    def remember(self, step: Step, answer: Any) -> None:
        """Take in what a step answered."""
        self._answers[step.n] = answer

    def hash_fault(self, answer: Any) -> str | None:
        """An entry of ours whose hashes are not those of its value, its key's history and its commit."""
        for entry in entries_in(answer):
            place = (*address(entry), entry["version"])
            hashes = tuple(entry[name] for name in HASHES)
            if not any(hashes == right.get(place) for right in self._hashes.values()):
                return f"the hashes of {place} are not those of what is stored"
        return None

    def _right_hashes(self, board: str) -> dict[tuple[str, str, int], tuple[str, ...]]:
        right: dict[tuple[str, str, int], tuple[str, ...]] = {}
        chains: dict[Address, str] = {}
        made = {
            (each["entityPath"], each["key"], each["version"]): commit["id"]
            for commit in self._commits[board]
            for each in commit["entries"]
        }
        for entry in self.versions(board):
            content = content_hash(entry["value"])
            chain = chains[address(entry)] = integrity_chain(content, chains.get(address(entry)))
            place = (*address(entry), entry["version"])
            right[place] = (content, chain, made.get(place, ""))
        return right

    def _answer(self, call: Call) -> Answer:
        if call.op in READINGS:
            return self.read(call)
        if call.op in TRACKER:
            return self.tracked(call)
        answered = _ANSWERS.get(call.op)
        return Answer(is_void=True) if answered is None else answered(self, call)

    def _write(self, call: Call) -> Answer:
        if call.actor.kind == "transaction":
            self.pending.setdefault(call.actor.name, []).append(call)
            return Answer(is_void=True)
        if call.actor.is_readonly:
            raise RefusedError("the scope is read-only")
        view = self.view(call)
        entry = dict(call.args["entry"]) if call.actor.kind == "adapter" else self.drafted(call)
        before = view.current(*address(entry))
        entry["version"] = before["version"] + 1 if before else 1
        if call.actor.kind != "adapter" and before is not None and view.sees(before):
            entry["outcomeCount"] = before["outcomeCount"]
        return Answer(result=entry)

    def _commit(self, call: Call) -> Answer:
        self.pending.pop(call.actor.name, None)
        return Answer(is_void=True)

    def _outcomes(self, call: Call) -> Answer:
        args = call.args
        records = args["records"] if call.op == "propagateBatch" else [args.get("record") or args]
        moved: list[Entry] = []
        for record in records:
            moved += self._outcome(call, record, moved)
        return Answer(result=moved)

    def _outcome(self, call: Call, record: Mapping[str, Any], moved: Sequence[Entry]) -> list[Entry]:
        agent = record.get("agentId", call.actor.agent)
        view = View([*self.versions(call.actor.board), *moved], OURS, agent, call.now)
        texts = record.get("causalEntryKeys")
        if texts is None:
            read = [line.address for line in self.session(call).lines()]
            places = [place for place in read if (entry := view.current(*place)) and view.sees(entry)]
        else:
            places = [*view.credited(texts)]
        found: list[Entry] = []
        for place in places:
            versions = view.slots[view.slot(*place)]
            after = credited(record, versions[-1])
            if _is_beyond_all_floats(after["confidence"]):
                raise RefusedError("the confidence would not be finite")
            versions.append(after)
            found.append(after)
        return found

    def _watch(self, call: Call) -> Answer:
        self._subscribe(call, call.step.names or "", len(self._commits.get(call.actor.board, ())))
        return Answer(result={"cancelled": False})

    def _subscribe(self, call: Call, name: str, after: int) -> None:
        actor, args = call.actor, call.args
        asked = Subscription(name, actor.board, args.get("entityPath"), args["callback"], actor.agent, after)
        self._subscriptions.append(asked)

    def _cancel(self, call: Call) -> Answer:
        self._subscription(call.actor.name).cancelled = True
        return Answer(is_void=True)

    def _cancelled(self, call: Call) -> Answer:
        return Answer(result=self._subscription(call.actor.name).cancelled)

    def _subscription(self, name: str) -> Subscription:
        return next(each for each in reversed(self._subscriptions) if each.name == name)

    def _deliver(self, step: Step, board: str, entry: Entry, number: int, made: int) -> int:
        """Tell the watches of one change of the commit of this number; how many commits there are then."""
        for each in [*self._subscriptions]:
            if each.cancelled or each.board != board or number <= each.after or not each.covers(entry):
                continue
            self._heard.setdefault(each.callback, []).append(entry)
            self.call_counts[each.callback] += 1
            does = self._callbacks[each.callback]
            if does["kind"] == "cancel":
                self._subscription(does["handle"]).cancelled = True
            elif does["kind"] == "addWatch":
                asked = self._cast.said(step, does["on"], "watch", does)
                self._subscribe(asked, does["as"], made)
                self._cast.admit(does["as"], asked)
            elif does["kind"] == "write":
                made += refused(self._cast.said(step, does["on"], "write", does["args"])) is None
        return made

    def _received(self, call: Call) -> Answer:
        return Answer(result=self._heard.pop(call.actor.name, []))

    def _define(self, call: Call) -> Answer:
        self._callbacks[call.step.names or ""] = call.args
        return Answer(is_void=True)

    def _log(self, call: Call) -> Answer:
        actor, limit = call.actor, call.args.get("limit")
        view = View(self.versions(actor.board), OURS, actor.agent, call.now)
        if call.op == "getCommit":
            named = [each for each in self._commits.get(actor.board, ()) if each["id"] == call.args["id"]]
            return Answer(result=named[0] if named else None)
        seen = [shown for each in self._commits.get(actor.board, ()) if (shown := _shown(each, actor, view))]
        return Answer(result=seen if limit is None else seen[:limit])

    def _same_object(self, call: Call) -> Answer:
        one, other = call.args["a"], call.args["b"]
        if one == other:
            return Answer(result=True)
        parts = [self._part(*side) for side in (one, other)]
        is_alike = all(isinstance(part, str | int | float | None) for part in parts)
        return Answer(result=is_alike and parts[0] == parts[1])

    def _part(self, step: int, *path: Any) -> Any:
        node = self._answers[step]
        for name in path:
            node = node[name]
        return node

    def _pending_count(self, call: Call) -> Answer:
        return Answer(result=len(self.pending.get(call.actor.name, ())))


def entries_in(answer: Any) -> list[Entry]:
    """All entries in an answer, those in values apart."""
    if isinstance(answer, list):
        return [entry for each in answer for entry in entries_in(each)]
    if not isinstance(answer, dict):
        return []
    if is_entry(answer):
        return [answer]
    return [entry for name in HOLDS_ENTRIES for entry in entries_in(answer.get(name))]


def is_entry(answer: Mapping[str, Any]) -> bool:
    """Whether this part of an answer is an entry."""
    return "provenance" in answer and "entityPath" in answer


def _is_beyond_all_floats(confidence: float) -> bool:
    """Whether a confidence is none that can be stored."""
    return not abs(confidence) < float("inf")


def _shown(commit: dict[str, Any], actor: Actor, view: View) -> dict[str, Any] | None:
    """A commit as an agent sees it: without the versions that are private to others."""
    listed = {(*address(entry), entry["version"]): entry for found in view.slots.values() for entry in found}
    kept = [
        each
        for each in commit["entries"]
        if (entry := listed.get((each["entityPath"], each["key"], each["version"]))) is None
        or view.sees(entry)
    ]
    if len(kept) == len(commit["entries"]):
        return commit
    if not kept and commit["authorAgentId"] != actor.agent:
        return None
    return commit | {"entries": kept, "treeHash": None}


_ANSWERS: Mapping[str, Callable[[OurWorld, Call], Answer]] = {
    "write": OurWorld._write,
    "commit": OurWorld._commit,
    "commitOutcome": OurWorld._outcomes,
    "propagate": OurWorld._outcomes,
    "propagateBatch": OurWorld._outcomes,
    "explain": OurWorld.explained,
    "recordContext": OurWorld.relate,
    "clearReadLog": OurWorld.forget,
    "watch": OurWorld._watch,
    "cancel": OurWorld._cancel,
    "cancelled": OurWorld._cancelled,
    "received": OurWorld._received,
    "defineCallback": OurWorld._define,
    "commitLog": OurWorld._log,
    "listCommits": OurWorld._log,
    "getCommit": OurWorld._log,
    "sameObject": OurWorld._same_object,
    "pendingCount": OurWorld._pending_count,
}
