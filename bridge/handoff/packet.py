"""What a packet is. Its stored form is ``to_wire``: camelCase names, instants in UTC."""

from datetime import datetime
from typing import Annotated, Literal, get_args

from pydantic import Field

from amfs_sqlite.modelling import Model
from amfs_sqlite.models import EntryRef, Instant, Strings
from bridge.session import SeenVersion

PacketState = Literal["open", "claimed", "closed", "cancelled"]
PACKET_STATES: tuple[PacketState, ...] = get_args(PacketState)


class Pin(Model):
    """One version of one record, and the contentHash its value had."""

    entity_path: str
    key: str
    version: int
    content_hash: str

    @property
    def ref(self) -> EntryRef:
        """The address of the pinned version."""
        return EntryRef(entity_path=self.entity_path, key=self.key, version=self.version)

    @classmethod
    def of(cls, seen: SeenVersion) -> "Pin":
        """The pin of this version."""
        return cls.model_validate({**dict(seen.ref), "content_hash": seen.content_hash})


class Packet(Model):
    """A handoff: what was done, what is next, what is unclear, and where to start from.

    ``id`` is ``h_`` and 8 hexadecimal digits. ``to_agent`` None is whoever comes. ``session_id`` is
    the giver's. ``claimed_by``, ``claimed_at`` and ``lease_until`` (None: no lease) stand while the
    packet is claimed and stay once it is closed; a release clears them. ``closed_at`` is when it
    became final, closed or cancelled; ``outcome_ref`` names the outcome it was closed with.
    """

    id: str
    summary: str
    next_steps: Strings = ()
    open_questions: Strings = ()
    pins: Annotated[tuple[Pin, ...], Field(strict=False)] = ()
    from_agent: str
    to_agent: str | None = None
    session_id: str = ""
    created_at: Instant
    state: PacketState = "open"
    claimed_by: str | None = None
    claimed_at: Instant | None = None
    lease_until: Instant | None = None
    closed_at: Instant | None = None
    outcome_ref: str | None = None

    @property
    def is_final(self) -> bool:
        """Closed or cancelled: nothing can become of it any more."""
        return self.state in ("closed", "cancelled")

    def is_open_at(self, at: datetime) -> bool:
        """Open, or claimed under a lease that has run out by then."""
        if self.state == "claimed":
            return self.lease_until is not None and self.lease_until <= at
        return self.state == "open"

    def waits_for(self, agent_id: str, at: datetime) -> bool:
        """Whether this agent may claim it at that instant."""
        return self.is_open_at(at) and self.to_agent in (None, agent_id)
