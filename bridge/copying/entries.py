"""All versions that an adapter holds on main, which of them are current, and what other branches have."""

from collections import Counter
from collections.abc import Iterable, Sequence

from amfs_core.models import BranchStatus, MemoryEntry

from amfs_sqlite.models import MAIN_BRANCH
from bridge.copying import kinds, plan
from bridge.copying.endpoints import ALL_THERE_IS, Endpoint
from bridge.copying.plan import Current, Versions


def versions(end: Endpoint, paths: Iterable[str] = ()) -> Versions:
    """Every version on main, by address; of these ``paths`` too where they have to be asked for."""
    with end.told():
        return plan.by_address(entry for entry in _listed(end, paths) if entry.branch == MAIN_BRANCH)


def current(end: Endpoint, listed: Versions) -> Current:
    """What is current on main of these keys: nothing of one that was withdrawn, whose versions stay."""
    with end.told():
        found: list[MemoryEntry] = end.adapter.list()
        if not end.lists_all:
            for path in sorted({path for path, _ in listed} - {entry.entity_path for entry in found}):
                found += end.adapter.list(path)
    return {(each.entity_path, each.key): each for each in found if each.branch == MAIN_BRANCH}


def on_branches(end: Endpoint) -> dict[str, int]:
    """How many entries each other branch has that were not merged into main."""
    counts: Counter[str] = Counter()
    with end.told():
        if kinds.overrides(end, "list_branches"):
            for branch in end.adapter.list_branches(end.namespace):
                if branch.status != BranchStatus.MERGED and branch.name != MAIN_BRANCH:
                    counts[branch.name] = len(end.adapter.diff_branch(branch.name, end.namespace))
        else:
            counts.update(entry.branch for entry in end.adapter.list() if entry.branch != MAIN_BRANCH)
    return {name: count for name, count in sorted(counts.items()) if count}


def authors(end: Endpoint, entries: Iterable[MemoryEntry]) -> Sequence[str]:
    """Who wrote these, and who is registered."""
    registered = {agent.agent_id for agent in end.adapter.list_agents(end.namespace)}
    return sorted(registered | {entry.provenance.agent_id for entry in entries})


def _listed(end: Endpoint, paths: Iterable[str]) -> list[MemoryEntry]:
    found: list[MemoryEntry] = end.adapter.list(include_superseded=True)
    if end.lists_all:
        return found
    wanted = set(paths)
    if kinds.overrides(end, "list_entries_for_agent"):
        for name in authors(end, found):
            written = end.adapter.list_entries_for_agent(name, limit=ALL_THERE_IS, exclude_prefixes=())
            wanted.update(entry.entity_path for entry in written)
    for path in sorted(wanted - {entry.entity_path for entry in found}):
        found += end.adapter.list(path, include_superseded=True)
    return found
