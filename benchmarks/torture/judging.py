"""What becomes of a store that was damaged: refused, reported, without effect, or worse."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from amfs_sqlite import HANDOFF, AmfsError, MemoryEntry, SearchQuery, SqliteAdapter
from benchmarks.torture.journal import Journal
from benchmarks.torture.rounds import Round, repeatable
from benchmarks.torture.work import attempt, works

FILES = ("", "-wal")
PROBE = MemoryEntry.draft("probe", "after", {"mark": "afterwards"}, agent_id="probe")

Verdict = Literal["refused", "reported", "derived", "older", "harmless", "unnoticed"]


@dataclass(frozen=True, slots=True)
class Truth:
    """Everything a store answers: its versions and commits in the order they were made."""

    versions: Sequence[str]
    commits: Sequence[str]
    words: frozenset[str]


async def fill(path: Path, client: str, count: int) -> Truth:
    """A store of so much mixed work, with its journal beside it, closed."""
    async with SqliteAdapter(path, outcomes=HANDOFF) as store:
        await more(store, path.parent, client, count)
        return await truth_of(store)


async def more(store: SqliteAdapter, journals: Path, client: str, count: int) -> None:
    """So much mixed work of a client, journaled."""
    journal = Journal(journals, client)
    planned = works(client, 0, repeatable(client))
    for _ in range(count):
        await attempt(store, journal, *next(planned))
    journal.close()


async def truth_of(store: SqliteAdapter) -> Truth:
    """What an open store answers."""
    events = [each async for each in store.changes(follow=False)]
    commits = [str(each.digest) for each in reversed(await store.list_commits())]
    current = [each for each in await store.list() if isinstance(each.value, dict)]
    everything = [each.entry.model_dump_json(exclude={"superseded_at"}) for each in events]
    listed = [each.model_dump_json() for each in await store.list(include_superseded=True)]
    if len(listed) < len({(each.entry.entity_path, each.entry.key, each.entry.version) for each in events}):
        everything.append("not all changes are listed")
    return Truth(everything, commits, frozenset(str(each.value["mark"]) for each in current))


def judge(round_: Round, truth: Truth, what: str) -> None:
    """Open, read, search and verify a damaged store, then write to it, and count what came of it."""
    before = _bytes(round_.path)
    verdict, said = asyncio.run(_verdict(round_.path, truth))
    tally = round_.tally
    setattr(tally, verdict, getattr(tally, verdict) + 1)
    tally.damages.setdefault(what, Counter())[verdict] += 1
    if verdict == "unnoticed":
        round_.fault(f"{what} went unnoticed")
    if verdict == "refused":
        if str(round_.path) not in said or "\n" in said or ";" not in said:
            round_.fault(f"{what} was refused without a path or advice: {said}")
        if _bytes(round_.path) != before:
            round_.fault(f"{what} was refused, and the file was changed all the same")
    elif not asyncio.run(_keeps_what_it_acknowledges(round_.path)):
        tally.lost += 1


async def _verdict(path: Path, truth: Truth) -> tuple[Verdict, str]:
    store = SqliteAdapter(path, outcomes=HANDOFF)
    try:
        await store.open()
    except AmfsError as refused:
        return "refused", str(refused)
    try:
        report = await store.verify()
        found = await truth_of(store)
        missed = [word for word in truth.words if not await _finds(store, word)]
    except AmfsError as reported:
        return "reported", str(reported)
    finally:
        await store.close()
    if not report.ok:
        return "reported", report.findings[0].message
    if found == truth:
        return ("derived", f"a search misses {missed[0]}") if missed else ("harmless", "")
    counts = len(found.commits), len(found.versions)
    if (truth.commits[: counts[0]], truth.versions[: counts[1]]) == (found.commits, found.versions):
        return "older", ""
    return "unnoticed", ""


async def _finds(store: SqliteAdapter, word: str) -> bool:
    page = await store.search(SearchQuery(text=word))
    return [entry.value["mark"] for entry in page.entries] == [word]


async def _keeps_what_it_acknowledges(path: Path) -> bool:
    """Whether a write to a damaged file is refused, or there when the file is opened anew."""
    try:
        async with SqliteAdapter(path, outcomes=HANDOFF) as store:
            await store.write(PROBE)
    except AmfsError:
        return True
    async with SqliteAdapter(path, outcomes=HANDOFF) as store:
        entry = await store.read(PROBE.entity_path, PROBE.key)
    return entry is not None and entry.value == PROBE.value


def _bytes(path: Path) -> Sequence[bytes | None]:
    files = [path.with_name(path.name + suffix) for suffix in FILES]
    return [each.read_bytes() if each.exists() else None for each in files]
