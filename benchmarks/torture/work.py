"""Mixed work for one client: requests that can be written down, made, and made again by their mark."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from amfs_sqlite import (
    AmfsError,
    Change,
    EntryRef,
    MemoryEntry,
    Outcome,
    OutcomeRecord,
    SqliteAdapter,
    VersionConflictError,
    Write,
)
from benchmarks.torture.journal import Journal, Stored
from benchmarks.torture.rounds import Round, repeatable
from benchmarks.writers import Durability

KEYS = 12
"""So many keys each client has for itself, and so many all share."""
COUNTER = ("shared", "counter")
FILLER = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor"

Work = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Client:
    """One that works on a store: under which name, by which chance, and where its journal is."""

    path: Path
    name: str
    seed: str
    journals: Path
    durability: Durability = "full"

    def journal(self) -> Journal:
        """Its journal, to be gone on with."""
        return Journal(self.journals, self.name)

    def works(self, first: int = 0) -> Iterator[tuple[str, Work]]:
        """What it is to do, behind so many requests that it made before."""
        return works(self.name, first, repeatable(self.seed))


def client_of(round_: Round, name: str) -> Client:
    """A client of the store of this round."""
    return Client(round_.path, name, f"{round_.name}/{name}", round_.folder)


def works(client: str, first: int, chance: random.Random) -> Iterator[tuple[str, Work]]:
    """Marks and what is to be done under each, without end."""
    number = first
    while True:
        number += 1
        yield f"{client}n{number}", _work(client, chance)


def _work(client: str, chance: random.Random) -> Work:
    kind = chance.choice(["write", "write", "batch", "commit", "count"])
    path = chance.choice([f"own/{client}", "shared"])
    keys = [f"k{each}" for each in chance.sample(range(KEYS), 3)]
    fillers = 60 if chance.random() < 0.05 else chance.randint(0, 3)
    return {"kind": kind, "path": path, "keys": keys, "fillers": fillers}


def drafts(client: str, mark: str, work: Work) -> list[MemoryEntry]:
    """The entries of a request; each value carries a word that no other has."""
    return [
        MemoryEntry.draft(
            work["path"],
            key,
            {"mark": word, "imprint": imprint(word), "filler": FILLER * work["fillers"]},
            agent_id=client,
            tags=[work["kind"]],
            confidence=0.5,
            ttl_at=work.get("ttl_at"),
        )
        for key, word in zip(work["keys"], words(mark, work), strict=False)
    ]


def words(mark: str, work: Work) -> list[str]:
    """The words that the values of a request carry.

    >>> words("an1", {"kind": "batch"})
    ['an1e0', 'an1e1', 'an1e2']
    """
    return [f"{mark}e{place}" for place in range(3 if work["kind"] in ("batch", "commit") else 1)]


def imprint(word: str) -> str:
    """Another word that goes with this one, and begins like no other."""
    return sha256(word.encode()).hexdigest()[:20]


async def do(store: SqliteAdapter, client: str, mark: str, work: Work) -> Sequence[MemoryEntry]:
    """Make the request, or make it again: the idempotency key is its mark. Raises VersionConflictError."""
    if work["kind"] == "count":
        return [await _count(store, client, mark, work)]
    entries = drafts(client, mark, work)
    if work["kind"] == "write":
        return [await store.write(entries[0], idempotency_key=mark)]
    if work["kind"] == "batch":
        return await store.write_batch(entries, idempotency_key=mark)
    changes: list[Change] = [Write(entry) for entry in entries]
    refs = [EntryRef(entity_path=entry.entity_path, key=entry.key) for entry in entries]
    record = OutcomeRecord(outcome_ref=mark, outcome_type="success", agent_id=client, refs=tuple(refs))
    changes.append(Outcome(record))
    done = await store.commit(changes, author=client, message=mark, idempotency_key=mark)
    return done.entries


async def _count(store: SqliteAdapter, client: str, mark: str, work: Work) -> MemoryEntry:
    path, key = COUNTER
    value = {"mark": words(mark, work)[0], "count": work["expected"] + 1}
    entry = MemoryEntry.draft(path, key, value, agent_id=client)
    return await store.write(entry, expected_version=work["expected"], idempotency_key=mark)


async def attempt(store: SqliteAdapter, journal: Journal, mark: str, work: Work) -> None:
    """Write the request down, make it, write the answer down. Raises AmfsError, which stored nothing."""
    if work["kind"] == "count" and "expected" not in work:
        current = await store.read(*COUNTER)
        work["expected"] = 0 if current is None else current.version
    journal.asks(mark, work)
    try:
        entries = await do(store, journal.client, mark, work)
    except VersionConflictError:
        journal.was_declined(mark)
    except AmfsError:
        journal.was_declined(mark)
        raise
    else:
        journal.was_told(mark, sorted({stored(entry) for entry in entries}))


def stored(entry: MemoryEntry) -> Stored:
    """What an answer says is stored."""
    return entry.entity_path, entry.key, entry.version, entry.value["mark"]
