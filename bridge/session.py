"""Who is at work, on which store, and what they touched."""

import math
from dataclasses import dataclass
from typing import Self

from amfs_sqlite.clock import Clock, IdSource, RandomIds, SystemClock
from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.models import EntryRef, MemoryEntry
from amfs_sqlite.protocol import AmfsAdapter
from amfs_sqlite.rules.confidence import HANDOFF
from amfs_sqlite.rules.limits import check_name

MAX_AGENT_CHARACTERS = 1000
MAX_LEASE_S = 366 * 24 * 3600.0

_SYSTEM_CLOCK = SystemClock()
_RANDOM_IDS = RandomIds()


@dataclass(frozen=True, slots=True)
class SeenVersion:
    """A stored version as somebody saw it: what it takes to pin or credit it, and not its value."""

    ref: EntryRef
    content_hash: str
    shared: bool
    agent_id: str

    @classmethod
    def of(cls, entry: MemoryEntry) -> Self:
        """What was seen of an entry. Raises ValueError on one that was never stored."""
        if entry.content_hash is None:
            raise ValueError("this entry was never stored: it has no content_hash yet")
        return cls(entry.ref, entry.content_hash, entry.shared, entry.agent_id)


class Session:
    """One agent at work on an open adapter: the first argument of every operation.

    ``agent_id`` (1 to 1,000 characters) signs what is written and decides what can be seen.
    ``session_id`` tells this run of the agent from its others; the faces make one where none is
    given: ``sess-`` and 12 hexadecimal digits. ``lease_s`` is how many seconds a claim of this
    session holds before others may take the packet; None means until it is closed or released.
    ``owner`` is the owner of the file at the command line: sees everything, and may release and
    cancel any packet. ``redact_secrets`` takes secrets of a known form out of everything that this
    session stores, and refuses names that hold one.

    The adapter must be opened with the outcome policy ``HANDOFF``. Raises InvalidArgumentError.
    """

    def __init__(
        self,
        adapter: AmfsAdapter,
        agent_id: str,
        session_id: str,
        *,
        clock: Clock = _SYSTEM_CLOCK,
        ids: IdSource = _RANDOM_IDS,
        lease_s: float | None = None,
        owner: bool = False,
        redact_secrets: bool = False,
    ) -> None:
        _check_identity(agent_id, session_id)
        _check_lease(lease_s)
        if adapter.policy_name != HANDOFF.name:
            raise InvalidArgumentError(
                "adapter",
                f"was opened with the outcome policy {quoted(adapter.policy_name)};"
                " open it with outcomes=HANDOFF",
            )
        self.adapter = adapter
        self.agent_id = agent_id
        self.session_id = session_id
        self.clock = clock
        self.ids = ids
        self.lease_s = lease_s
        self.owner = owner
        self.redact_secrets = redact_secrets
        self._touched: dict[tuple[str, str], SeenVersion] = {}
        # The same addresses, the one touched last at the end.
        self._latest: dict[tuple[str, str], None] = {}
        self._given: set[str] = set()

    @property
    def viewer(self) -> str | None:
        """Whom reading operations are asked for: the agent, or None for the owner, who sees all."""
        return None if self.owner else self.agent_id

    @property
    def touched(self) -> tuple[SeenVersion, ...]:
        """What this session read exactly, wrote, or resumed, each at the version last seen.

        In the order of first touch. What a search or a history showed is not touched.
        """
        return tuple(self._touched.values())

    def touch(self, entry: MemoryEntry) -> None:
        """Note that the session has this version of a record in hand.

        Raises ValueError on an entry that was never stored.
        """
        address = entry.entity_path, entry.key
        self._touched[address] = SeenVersion.of(entry)
        self._latest.pop(address, None)
        self._latest[address] = None

    def touched_last(self, limit: int) -> tuple[SeenVersion, ...]:
        """Of ``touched`` the ``limit`` (from 1) that were touched last, in the same order."""
        kept = set(list(self._latest)[-limit:])
        return tuple(seen for address, seen in self._touched.items() if address in kept)

    def touched_refs(self) -> tuple[EntryRef, ...]:
        """The addresses of ``touched``, each with its version."""
        return tuple(seen.ref for seen in self.touched)

    def mark_given(self, handoff_id: str) -> None:
        """Note that the session gave this packet."""
        self._given.add(handoff_id)

    def has_given(self, handoff_id: str) -> bool:
        """Whether this very session gave the packet; another run of its agent did not."""
        return handoff_id in self._given


def _check_identity(agent_id: str, session_id: str) -> None:
    check_name(agent_id, "agent_id", MAX_AGENT_CHARACTERS)
    if not agent_id:
        raise InvalidArgumentError("agent_id", "is empty; name the agent at work")
    check_name(session_id, "session_id")


def _check_lease(lease_s: float | None) -> None:
    if lease_s is None:
        return
    if not math.isfinite(lease_s) or not 0 < lease_s <= MAX_LEASE_S:
        raise InvalidArgumentError(
            "lease_s", f"is {lease_s}; it must be above 0 and at most {MAX_LEASE_S:.0f} seconds"
        )
