"""Who is at work on which adapter, and the log of what was read."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from amfs_sqlite.agent.results import ExternalContext
from amfs_sqlite.clock import Clock, IdSource
from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.models import EntryRef, MemoryEntry
from amfs_sqlite.protocol import AmfsAdapter
from amfs_sqlite.rules.limits import CLOCK, check_able, check_instant, check_is_text, check_name

ADAPTER = "an adapter, such as SqliteAdapter(path)"
OPERATIONS = (
    "read",
    "list",
    "history",
    "search",
    "commit",
    "commit_outcome",
    "watch",
    "list_commits",
    "common_ancestor",
    "stats",
    "scopes",
    "verify",
)
"""What an agent's memory asks of its adapter."""


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
        if not isinstance(entry, MemoryEntry):
            raise InvalidArgumentError("entry", f"is {quoted(entry)}; make a MemoryEntry")
        if (moment := check_instant(read_at, "read_at")) is None:
            raise InvalidArgumentError("read_at", f"is {quoted(read_at)}, no instant; give a datetime")
        self._readings[entry.entity_path, entry.key] = _Reading(entry.version, moment)

    def record_context(self, context: ExternalContext) -> None:
        """Note something learned elsewhere."""
        if not isinstance(context, ExternalContext):
            raise InvalidArgumentError("context", f"is {quoted(context)}; make an ExternalContext")
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
        check_is_text(entry_key, "entry_key")
        for ref in self.refs:
            if f"{ref.entity_path}/{ref.key}" == entry_key:
                return ref.version
        return None

    def contains(self, entry_key: str) -> bool:
        """Whether this ``path/key`` was read."""
        return self.read_version(entry_key) is not None


@dataclass(frozen=True, slots=True)
class AgentSession:
    """One agent at work: every operation of its memory takes this first. Raises InvalidArgumentError."""

    adapter: AmfsAdapter
    agent_id: str
    session_id: str
    clock: Clock
    ids: IdSource
    tracker: ReadTracker = field(default_factory=ReadTracker)

    def __post_init__(self) -> None:
        check_able(self.adapter, "adapter", OPERATIONS, ADAPTER)
        check_able(self.clock, "clock", ["now"], CLOCK)
        check_name(self.agent_id, "agent_id")
        check_name(self.session_id, "session_id")

    def note(self, entry: MemoryEntry | None) -> MemoryEntry | None:
        """Log a reading, if it found something, and pass it on."""
        if entry is not None:
            self.tracker.record(entry, self.clock.now())
        return entry
