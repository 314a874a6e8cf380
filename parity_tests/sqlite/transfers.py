"""Stores to be exported, and their exports, line by line."""

import asyncio
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from amfs_sqlite import HANDOFF, Commit, CommitEntry, FixedClock, Outcome, SqliteAdapter, Write
from amfs_sqlite.rules.export_reading import ExportReader
from amfs_sqlite.rules.transfer import ImportReport
from parity_tests.drafts import at, draft, outcome, private

OTHER = "other"
GOING = "the words that were to go"
EARLY = "2026-01-01T00:00:00.000001+09:00"


async def tell(path: Path | str) -> None:
    """A store that holds one of everything, under both policies and in two namespaces."""
    clock = FixedClock()
    async with SqliteAdapter(path, clock=clock) as adapter:
        value = {"b": 1, "a": [1.0, -0.0, 1e16, 10**30, None, "\u2028\x7f\x00\U0001f600"]}
        await adapter.write(draft(value=value, tags=("t", "u"), odd={"z": 1, "a": [2.5]}))
        await adapter.write(draft(value=2, tags=("t",), written_at=EARLY, session="s"))
        await adapter.commit_outcome(outcome("success", "svc/a/k", "svc/a/k", note="twice", more="kept"))
        await adapter.write_batch([draft("b", "c/d", 1), draft("b/c", "d", 2), draft("b", "c/d", None)])
        await adapter.write(draft("gone", value=GOING, odd=GOING))
        await adapter.write(private("gone", value="not theirs", artifact_refs=[{"uri": "u", "label": "l"}]))
        await adapter.write(draft("old", value="x", ttl_at="2020-01-01"))
        named = (CommitEntry(entity_path="q", key="r", version=7),)
        saved = Commit(id="saved", author_agent_id="z", created_at=clock.now(), branch="side", entries=named)
        await adapter.save_commit(saved)
        await adapter.save_commit(saved.model_copy(update={"message": "said later"}))
        await adapter.erase([at("gone", version=1)], author="owner", message="asked to")
        await adapter.archive_expired(author="owner")
        await adapter.write(draft("_system/handoff", "h_1", {"state": "open"}, tags=("open",)))
        await adapter.write(draft("old", value="there again"))
    async with SqliteAdapter(path, clock=clock, outcomes=HANDOFF, namespace=OTHER) as adapter:
        await adapter.write(draft(confidence=0.8))
        for _ in range(2):
            await adapter.commit_outcome(outcome("failure", at()))
        again = outcome("success", at(), outcome_ref="run-2")
        await adapter.commit([Write(draft(value=5, confidence=0.5)), Outcome(again)], author="bob")
        await adapter.commit([Outcome(outcome("failure", at(), outcome_ref="run-3"))], author="bob")
        await adapter.erase([at()], author="owner")


def told(path: Path | str) -> bytes:
    """As ``tell``, for what is not asynchronous; the export of it."""

    async def telling() -> bytes:
        await tell(path)
        return await exported(path)

    return asyncio.run(telling())


async def exported(path: Path | str) -> bytes:
    """The export of a store."""
    found = io.BytesIO()
    async with SqliteAdapter(path) as adapter:
        await adapter.export_to(found.write)
    return found.getvalue()


async def imported(path: Path | str, export: bytes, **options: Any) -> ImportReport:
    """What an import into a store comes to."""
    async with SqliteAdapter(path) as adapter:
        return await adapter.import_from(reader(export), **options)


def reader(export: bytes) -> ExportReader:
    """A reader of an export that is all here."""
    return ExportReader(io.BytesIO(export).readline)


def lines(export: bytes) -> list[bytes]:
    """Its lines, each with its end."""
    return export.splitlines(keepends=True)


def written(members: Any) -> bytes:
    """A line that holds this."""
    return json.dumps(members).encode() + b"\n"


def changed(export: bytes, number: int, *path: str | int, to: Any) -> bytes:
    """The export with one thing on the line of this number, from 1, made into something else."""
    all_lines = lines(export)
    members = json.loads(all_lines[number - 1])
    *way, last = path
    place = members
    for step in way:
        place = place[step]
    place[last] = to
    all_lines[number - 1] = written(members)
    return b"".join(all_lines)


def number_of(export: bytes, *texts: str) -> int:
    """The number of the first line that holds all these texts."""
    return 1 + next(i for i, line in enumerate(lines(export)) if all(each.encode() in line for each in texts))


def leaves(members: Any, *way: str | int) -> Iterable[tuple[str | int, ...]]:
    """The ways to everything in a line that holds nothing else."""
    if isinstance(members, dict | list) and members:
        pairs = members.items() if isinstance(members, dict) else enumerate(members)
        for name, member in pairs:
            yield from leaves(member, *way, name)
    else:
        yield way
