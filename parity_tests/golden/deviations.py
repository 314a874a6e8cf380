"""The ledger of deviations from AMFS 0.3: where we answer otherwise than the recorded SDK, and why.

A row names the calls it is about, and tells from caller, arguments, recorded answer and what is stored
whether it may apply. How either side stores and answers is foretold by `world.py`, whose manner is a set of
row ids: the recorded answer must be that of all rows, to the last digit, and ours that of none. Then the rows
that may apply must be enough to turn the one into the other, from what we hold; only those that are needed
count as shown. A row excuses nothing else. What follows from a row (an address with another history, a log
with another line) is not listed: where the SDK would answer as we do, did it hold what we hold, no row is
needed.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from amfs_sqlite.rules.visibility import covers
from parity_tests.golden import javascript
from parity_tests.golden.answers import entries_in
from parity_tests.golden.cast import Call
from parity_tests.golden.refusals import refused
from parity_tests.golden.searching import DEFAULT_LIMIT
from parity_tests.golden.transcript import Answer
from parity_tests.golden.view import Entry, View, address, joined

READS = frozenset({"read", "recall", "readFrom"})
MIXING = frozenset({"history", "recall", "readFrom"})
LISTS = frozenset({"list", "search", "myEntries"})
COUNTS = frozenset({"stats", "info", "tree", "listScopes"})
WRITES = frozenset({"write", "commit"})
OUTCOMES = frozenset({"commitOutcome", "propagate", "propagateBatch"})
LOGS = frozenset({"explain", "causalKeys", "readCount", "readVersion", "contains"})
_CANONICAL = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


@dataclass(frozen=True)
class Case:
    """A call, what the SDK answered, what we and the SDK store, as its caller sees it, and who watches."""

    call: Call
    recorded: Answer
    view: View
    sdk_view: View
    watching: frozenset[str]

    @property
    def args(self) -> Any:
        """The arguments, options among them."""
        return self.call.args

    @property
    def currents(self) -> Sequence[Entry]:
        """The current versions, hidden ones too."""
        return [versions[-1] for versions in self.view.slots.values()]

    @property
    def versions(self) -> Sequence[Entry]:
        """All versions, hidden ones too."""
        return self.view.versions


@dataclass(frozen=True)
class Row:
    """One deviation. `tests` are contract tests for what no transcript shows."""

    id: str
    calls: frozenset[str]
    when: Callable[[Case], bool]
    sdk: str
    ours: str
    why: str
    tests: tuple[str, ...] = ()


def _meets_another_address(case: Case) -> bool:
    """The call goes by joined text: to an address spelled alike, or by a key that says where it is."""
    texts = [joined(*address(entry)) for entry in case.currents]
    if len({*texts}) < len(texts) or case.call.op in COUNTS | OUTCOMES | LOGS | {"commit"}:
        return len({*texts}) < len(texts)
    given = case.args.get("entry") or case.args
    path, key = given.get("entityPath"), given.get("key")
    asked = case.args.get("entityPaths") or [path or ""]
    if case.call.op in LISTS:
        recorded = entries_in(case.recorded.result)
        is_astray = any(not any(covers(each, entry["entityPath"]) for each in asked) for entry in recorded)
        return is_astray or any(
            any(_is_joined_under(each, entry) for each in asked) for entry in case.currents
        )
    for entry in case.versions:
        here = address(entry)
        is_alike = joined(*here) == joined(path, key)
        is_below = case.call.op in MIXING and entry["key"] == key and covers(path, entry["entityPath"])
        if here != (path, key) and (is_alike or is_below):
            return True
    return False


def _is_joined_under(path: str, entry: Entry) -> bool:
    return joined(*address(entry)).startswith(f"{path}/") and not covers(path, entry["entityPath"])


def _meets_what_is_private(case: Case) -> bool:
    return any(not case.view.sees(entry) for entry in case.versions)


def _meets_what_expired(case: Case) -> bool:
    return any(entry["ttlAt"] and not case.view.lives(entry) for entry in case.versions)


def _names_an_instant_freely(case: Case) -> bool:
    written = [entry["provenance"]["writtenAt"] for entry in case.sdk_view.versions]
    spelled = [case.args.get("since"), case.args.get("until"), *written]
    return any(each and not _CANONICAL.fullmatch(each) for each in spelled)


def _reaches_a_limit(case: Case) -> bool:
    if case.call.op in ("myEntries", "readFrom"):
        return len(case.currents) > DEFAULT_LIMIT
    limit = case.args.get("limit")
    most = DEFAULT_LIMIT if limit is None else limit
    return case.args.get("recallConfig") is not None and len(case.currents) > most


def _looks_into_values(case: Case) -> bool:
    asked = case.args.get("query") and case.args.get("recallConfig") is None
    return bool(asked) and any(not isinstance(entry["value"], str) for entry in case.currents)


def _gives_an_option(case: Case) -> bool:
    if case.args.get("artifactRefs") is not None:
        return True
    return any(value is None for value in case.args.values())


def _leaves_its_scope(case: Case) -> bool:
    within, asked = case.args.get("within"), case.args.get("entityPaths")
    return within is not None and any(not covers(within, path) for path in asked or ())


def _counts_inherited_names(case: Case) -> bool:
    names = {name for entry in case.currents for name in entry["entityPath"].split("/")}
    names |= {entry["entityPath"] for entry in case.currents}
    names |= {entry["provenance"]["agentId"] for entry in case.currents}
    return bool(names & {javascript.PROTOTYPE, *javascript.INHERITED})


def _names_rare_characters(case: Case) -> bool:
    return any(character > "\uffff" for entry in case.currents for character in entry["entityPath"])


def _is_refused(case: Case) -> bool:
    moved = [entry["confidence"] for entry in entries_in(case.recorded.result)]
    return bool(refused(case.call)) or not all(math.isfinite(each) for each in moved)


def _always(case: Case) -> bool:
    return True


ROWS: tuple[Row, ...] = (
    Row(
        id="address",
        calls=READS | LISTS | COUNTS | WRITES | OUTCOMES | LOGS | {"history"},
        when=_meets_another_address,
        sdk=(
            "Path and key are joined with a '/': what is spelled alike is one entry, a path also "
            "lists keys that begin like it, and history, recall and readFrom mix in what lies below "
            "under the same key."
        ),
        ours=(
            "An address is the pair of path and key. Prefixes go by the path alone; history, recall "
            "and read_from answer for exactly that address."
        ),
        why="The SDK returns one entry for another, and overwrites it.",
    ),
    Row(
        id="copies",
        calls=WRITES | OUTCOMES | {"sameObject"},
        when=lambda case: case.call.op == "sameObject" or "mutate" in case.watching,
        sdk="What is passed in and what is returned are the stored objects themselves.",
        ours=(
            "What goes in or comes out is a copy; neither caller nor callback changes the store through it."
        ),
        why="A store that its readers change by accident has no history.",
    ),
    Row(
        id="private",
        calls=READS | COUNTS | WRITES | OUTCOMES | {"history", "explain"},
        when=_meets_what_is_private,
        sdk=(
            "A private version is hidden by read, list and search alone: reading it is logged, an "
            "outcome credits it, and history, explain, counts and watches show it to everybody."
        ),
        ours=(
            "To other agents a private version does not exist, in any answer. Versions stay one "
            "sequence per key, and others may write the next; what they write begins without its "
            "outcome count."
        ),
        why="What is hidden in one answer and shown in the next is not hidden.",
    ),
    Row(
        id="refused",
        calls=WRITES
        | OUTCOMES
        | {"history", "search", "read", "recall", "tree", "commitLog"}
        | {"computeNewConfidence", "makeRecord"},
        when=_is_refused,
        sdk=(
            "Anything is stored: empty paths, half characters, infinite confidence, ttls that are no "
            "time; unknown outcomes make the confidence NaN, and limits count from the end."
        ),
        ours=(
            "Raises, naming the argument, and stores nothing: an empty or over-long path or key, lone"
            " surrogates, NaN or infinity, an unknown outcome type, a ttl, since or until that is no "
            "instant, a limit or depth that is no whole number from 0."
        ),
        why="What cannot be found again, compared or hashed is better refused than kept.",
    ),
    Row(
        id="watch",
        calls=WRITES | OUTCOMES,
        when=lambda case: "throw" in case.watching,
        sdk=(
            "Callbacks of a path are a set that is called while it writes: twice the same is once, "
            "either handle removes it, what one adds hears the same write, and what one throws "
            "reaches the writer."
        ),
        ours=(
            "Each watch is its own subscription: it hears what is committed after it was set up, "
            "once, until its own handle is cancelled. Callbacks run in set-up order; a failing one is"
            " logged and touches nobody else."
        ),
        why="One reader's mistake must not fail another's write.",
    ),
    Row(
        id="hashes",
        calls=frozenset(),
        when=_always,
        sdk="contentHash, integrityChain and commitId stay null, or what the caller put there.",
        ours=("Every version carries all three, computed here; version and hashes passed in are ignored."),
        why="A hash that a caller can choose proves nothing.",
        tests=("tampering/test_agent.py::test_verify_finds_what_was_changed_behind_our_back",),
    ),
    Row(
        id="commits",
        calls=frozenset({"commitLog", "listCommits", "getCommit"}),
        when=_always,
        sdk="There is no commit log, and a transaction is a loop of writes.",
        ours=(
            "Every write, transaction and outcome is one commit, all or nothing, in the log; a "
            "transaction's commit() returns it."
        ),
        why="Half a transaction is what transactions are there to prevent.",
        tests=("agent/test_transactions.py::test_a_failing_transaction_leaves_nothing",),
    ),
    Row(
        id="expired",
        calls=READS | {"search", "myEntries"},
        when=_meets_what_expired,
        sdk="Nothing ever expires.",
        ours=(
            "read, recall, read_from and search leave out entries whose ttl has passed; list, "
            "history, explain, counts and verify show them."
        ),
        why="A ttl that nobody keeps is worse than none.",
    ),
    Row(
        id="instants",
        calls=frozenset({"history", "search"}),
        when=_names_an_instant_freely,
        sdk="since and until are compared as text.",
        ours="since and until are instants, inclusive, whatever their spelling; no offset means UTC.",
        why="The same instant, spelled otherwise, gives another answer.",
    ),
    Row(
        id="limits",
        calls=frozenset({"search", "myEntries", "readFrom"}),
        when=_reaches_a_limit,
        sdk="A search is cut before it is scored; my entries and readFrom look at the first 100.",
        ours="A limit cuts last, after scoring. my_entries and read_from have none.",
        why=("The best of what was left over is not the best, and an entry that is there must be found."),
    ),
    Row(
        id="value-text",
        calls=frozenset({"search"}),
        when=_looks_into_values,
        sdk="A query looks at values as JavaScript makes them text: every object is [object Object].",
        ours="A query looks into values: strings as they are, everything else as its compact JSON.",
        why="What agents remember is mostly objects.",
    ),
    Row(
        id="options",
        calls=frozenset({"write", "search", "commitOutcome", "recall", "tree"}),
        when=_gives_an_option,
        sdk=(
            "artifactRefs given to memory.write are dropped; null patternRefs are stored, and break "
            "later searches."
        ),
        ours="artifact_refs given are kept; None means the default, for every option.",
        why="What is accepted is kept.",
    ),
    Row(
        id="scope",
        calls=frozenset({"search"}),
        when=_leaves_its_scope,
        sdk="A scope's search goes wherever entityPaths says.",
        ours="A scope's search never answers from outside it.",
        why="A scope is handed out to bound what is seen.",
    ),
    Row(
        id="counts",
        calls=frozenset({"stats", "tree"}),
        when=_counts_inherited_names,
        sdk=(
            "Counts are kept in plain objects: names that every object inherits are lost or counted as code."
        ),
        ours="stats and tree count what is stored, whatever the names.",
        why="A name is data.",
    ),
    Row(
        id="code-points",
        calls=frozenset({"listScopes", "tree"}),
        when=_names_rare_characters,
        sdk="Names sort by UTF-16 code units.",
        ours="Names sort by code point.",
        why="So do UTF-8 bytes, SQLite and Python.",
    ),
)
"""All deviations, in the order of the architecture."""
