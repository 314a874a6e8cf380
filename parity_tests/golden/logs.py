"""Commits: what must be in the log of them, and what is answered out of it."""

from collections.abc import Mapping, Sequence
from typing import Any

from parity_tests.golden.searching import whole
from parity_tests.golden.view import Entry, RefusedError, View, address

Commit = dict[str, Any]


def commit(made: Mapping[str, Any], message: str, entries: Sequence[Entry]) -> Commit:
    """What the log must say of a commit that was made by this agent in this session."""
    return {
        "message": message,
        "authorAgentId": made["agentId"],
        "sessionId": made.get("sessionId") or None,
        "entries": [named(entry) for entry in entries],
    }


def named(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Which version an entry, or a line of a commit, is about."""
    return {name: entry[name] for name in ("entityPath", "key", "version")}


def answer(view: View, log: Sequence[Commit], op: str, args: Mapping[str, Any]) -> Any:
    """What is told of a log, which stands newest first."""
    if "commits" in view.manner:
        if op != "commitLog":
            raise RefusedError(f"{op} is not a function")
        return []
    if op == "getCommit":
        return next((each for each in log if each["id"] == args["id"]), None)
    seen = [shown for each in log if (shown := _shown(each, view))]
    return seen if args.get("limit") is None else seen[: whole(args["limit"])]


def _shown(made: Commit, view: View) -> Commit | None:
    """A commit as an agent sees it: without the versions that are private to others."""
    listed = {(*address(entry), entry["version"]): entry for entry in view.versions}
    kept = [
        each
        for each in made["entries"]
        if (entry := listed.get(tuple(named(each).values()))) is None or view.sees(entry)
    ]
    if len(kept) == len(made["entries"]):
        return made
    if not kept and made["authorAgentId"] != view.viewer:
        return None
    return made | {"entries": kept, "treeHash": None}
