"""Who is at work on which adapter, and the log of what was read."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from amfs_sqlite.agent.results import ExternalContext
from amfs_sqlite.clock import Clock
from amfs_sqlite.models import EntryRef, MemoryEntry
from amfs_sqlite.protocol import AmfsAdapter


class _Reading(NamedTuple):
    version: int
    read_at: datetime


class ReadTracker:
    """What a session read, at which version, and what it learned elsewhere.

    Addresses are pairs; a key as text is ``path/key``, as AMFS writes it.
    """

    def __init__(self) -> None:
        self._readings: dict[tuple[str, str], _Reading] = {}
        self._contexts: list[ExternalContext] = []

    def record(self, entry: MemoryEntry, read_at: datetime) -> None:
        """Note a reading; a second one of the same address takes the place of the first."""
        self._readings[entry.entity_path, entry.key] = _Reading(entry.version, read_at)

    def record_context(self, context: ExternalContext) -> None:
        """Note something learned elsewhere."""
        self._contexts.append(context)

    def clear(self) -> None:
        """Forget everything."""
        self._readings.clear()
        self._contexts.clear()

    @property
    def refs(self) -> Sequence[EntryRef]:
        """What was read, each address once, by the time of its last reading, with the version read."""
        by_time = sorted(self._readings.items(), key=lambda item: item[1].read_at)
        return [
            EntryRef(entity_path=path, key=key, version=reading.version) for (path, key), reading in by_time
        ]

    @property
    def causal_keys(self) -> Sequence[str]:
        """The same as ``path/key`` texts."""
        return [f"{ref.entity_path}/{ref.key}" for ref in self.refs]

    @property
    def read_count(self) -> int:
        """How many addresses were read."""
        return len(self._readings)

    @property
    def external_contexts(self) -> Sequence[ExternalContext]:
        """What was learned elsewhere, in order."""
        return tuple(self._contexts)

    def read_version(self, entry_key: str) -> int | None:
        """The version last read under this ``path/key``; None if it was not."""
        for ref in self.refs:
            if f"{ref.entity_path}/{ref.key}" == entry_key:
                return ref.version
        return None

    def contains(self, entry_key: str) -> bool:
        """Whether this ``path/key`` was read."""
        return self.read_version(entry_key) is not None


@dataclass(frozen=True, slots=True)
class AgentSession:
    """One agent at work: every operation of its memory takes this first."""

    adapter: AmfsAdapter
    agent_id: str
    session_id: str
    clock: Clock
    tracker: ReadTracker = field(default_factory=ReadTracker)

    def note(self, entry: MemoryEntry | None) -> MemoryEntry | None:
        """Log a reading, if it found something, and pass it on."""
        if entry is not None:
            self.tracker.record(entry, self.clock.now())
        return entry
