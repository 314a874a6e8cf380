"""Packets as entries: where they lie, how they are found, and how a changed one is put back.

A packet is one entry under ``_system/handoff``, its key the packet's id. What packets are looked
for by stands in its tags, whole tags and never parts of one: ``state:<state>``; ``unfinished``
while it is open or claimed; ``to:<agent>`` or, for whoever comes, ``to-anyone``;
``claimed-by:<agent>`` while it is claimed. Every change is the next version, by compare-and-set.
"""

import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from amfs_sqlite.errors import VersionConflictError
from amfs_sqlite.models import MemoryEntry, SearchOrder, SearchQuery, Write
from amfs_sqlite.rules.visibility import SYSTEM_PATH
from bridge.errors import PacketNotFoundError, PacketUnreadableError
from bridge.handoff.packet import Packet, PacketState
from bridge.session import Session

HANDOFF_PATH = f"{SYSTEM_PATH}/handoff"
UNFINISHED_TAG = "unfinished"
PAGE_PACKETS = 50

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Filed:
    """A packet, and the version of the entry that holds it."""

    packet: Packet
    entry: MemoryEntry


def state_tag(state: PacketState) -> str:
    """The tag of the packets in this state."""
    return f"state:{state}"


def claimed_by_tag(agent_id: str) -> str:
    """The tag of the packets that this agent holds."""
    return f"claimed-by:{agent_id}"


async def find(session: Session, handoff_id: str) -> Filed:
    """The packet as it stands. Raises PacketNotFoundError and PacketUnreadableError."""
    entry = await session.adapter.read(HANDOFF_PATH, handoff_id, viewer=session.viewer)
    if entry is None:
        raise PacketNotFoundError(handoff_id)
    return unfolded(entry)


async def find_as_given(session: Session, handoff_id: str) -> Filed | None:
    """The packet as it was when it was given, or None where there is none to see."""
    entry = await session.adapter.read_at_version(HANDOFF_PATH, handoff_id, 1, viewer=session.viewer)
    return None if entry is None or entry.withdrawn else unfolded(entry)


async def look_through(
    session: Session, tag: str | None, order: SearchOrder = "oldest"
) -> AsyncGenerator[Filed, None]:
    """The packets under this tag (None: all), page by page; ``oldest`` is by when they were given.

    What cannot be read as a packet is passed over with a warning in the log: one such entry must
    not keep every agent from its work.
    """
    query = SearchQuery(entity_path=HANDOFF_PATH, tag=tag, sort_by=order, limit=PAGE_PACKETS)
    while True:
        page = await session.adapter.search(query, viewer=session.viewer)
        for entry in page.entries:
            try:
                filed = unfolded(entry)
            except PacketUnreadableError as unreadable:
                _log.warning("passed over: %s", unreadable)
            else:
                yield filed
        if page.next_cursor is None:
            return
        query = query.model_copy(update={"cursor": page.next_cursor})


async def file_new(session: Session, packet: Packet, more: Mapping[str, Any], *, private: bool) -> Filed:
    """Store a new packet, with ``more`` members beside its own.

    Raises VersionConflictError where its id is taken.
    """
    value = {**more, **packet.to_wire()}
    return await _commit(session, _write(session, packet, value, 0, private=private), "given")


async def refile(session: Session, filed: Filed, packet: Packet, verb: str) -> Filed:
    """Store what became of a packet. Raises VersionConflictError where another was faster."""
    return await _commit(session, rewritten(session, filed, packet), verb)


async def move(session: Session, handoff_id: str, decide: Callable[[Packet], Packet], verb: str) -> Filed:
    """Read the packet, decide what becomes of it, and store that where it is a change.

    Where another was faster, what it made of the packet is read and decided about anew.
    """
    while True:
        filed = await find(session, handoff_id)
        packet = decide(filed.packet)
        if packet == filed.packet:
            return filed
        try:
            return await refile(session, filed, packet, verb)
        except VersionConflictError:
            continue


def rewritten(session: Session, filed: Filed, packet: Packet) -> Write:
    """The change that puts the packet in the place of what was filed, if that is still the same."""
    # Members that are none of the packet's own stay: what the giver noted, and what a later
    # release may add.
    value = {**filed.entry.value, **packet.to_wire()}
    return _write(session, packet, value, filed.entry.version, private=not filed.entry.shared)


def unfolded(entry: MemoryEntry) -> Filed:
    """The packet in an entry. Raises PacketUnreadableError."""
    try:
        packet = Packet.model_validate(entry.value)
    except ValidationError as refused:
        place = refused.errors(include_url=False, include_input=False)[0]["loc"]
        part = ".".join(map(str, place)) or "value"
        raise PacketUnreadableError(entry.key, f"its {part} is not a packet's") from refused
    if (entry.entity_path, entry.key) != (HANDOFF_PATH, packet.id):
        raise PacketUnreadableError(entry.key, "it lies in the place of another packet")
    return Filed(packet, entry)


def message(handoff_id: str, verb: str) -> str:
    """What the commit log says of a change."""
    return f"packet {handoff_id} {verb}"


def _write(
    session: Session, packet: Packet, value: Mapping[str, Any], expected: int, *, private: bool
) -> Write:
    # A private version exists for its author alone: whoever moves a private packet, its versions
    # stay its addressee's own.
    author = packet.to_agent if private and packet.to_agent is not None else session.agent_id
    entry = MemoryEntry.draft(
        HANDOFF_PATH,
        packet.id,
        dict(value),
        agent_id=author,
        session_id=session.session_id,
        tags=_tags(packet),
        shared=not private,
    )
    return Write(entry, expected)


def _tags(packet: Packet) -> tuple[str, ...]:
    tags = [state_tag(packet.state)]
    if not packet.is_final:
        tags.append(UNFINISHED_TAG)
    tags.append("to-anyone" if packet.to_agent is None else f"to:{packet.to_agent}")
    if packet.state == "claimed" and packet.claimed_by is not None:
        tags.append(claimed_by_tag(packet.claimed_by))
    return tuple(tags)


async def _commit(session: Session, write: Write, verb: str) -> Filed:
    result = await session.adapter.commit(
        [write],
        author=session.agent_id,
        session_id=session.session_id or None,
        message=message(write.entry.key, verb),
    )
    return unfolded(result.entries[0])
