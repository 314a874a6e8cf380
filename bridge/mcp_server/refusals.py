"""What went wrong, in the words of the tools.

An error carries what happened as facts. What can be done about it depends on who asks: an agent has
these seven tools, and no other operation. So where an error's own message names what else there is,
its code has words of its own here.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from amfs_sqlite.errors import (
    AmbiguousReferenceError,
    AmfsError,
    EntryNotFoundError,
    InvalidArgumentError,
    StoreError,
    VersionConflictError,
    quoted,
)
from bridge import rendering
from bridge.errors import (
    NothingTouchedError,
    PacketNotFoundError,
    PacketStateError,
    PacketUnreadableError,
    PrivatePinError,
    ReservedPathError,
)
from bridge.mcp_server.arguments import explained

VERSION_IN_KEY = "a key has no version: scope/key@N goes into refs, and history has all versions"

_VERSION = re.compile(r"[1-9][0-9]{0,17}")


def said(refused: AmfsError) -> str:
    """The code, what happened, and what to do about it: one line."""
    words = _WORDS.get(refused.code, str)(refused)
    retry = " (retryable: the same call may succeed later)" if refused.retryable else ""
    return f"{refused.code}: {rendering.one_line(words)}{retry}"


def hint(key: str) -> str:
    """What may be wrong with a key that is not there; empty where nothing is to be seen.

    >>> hint("k"), hint("k@one")
    ('', "what follows its last '@' is no version number")
    """
    _, at, tail = key.rpartition("@")
    if not at:
        return ""
    return VERSION_IN_KEY if _VERSION.fullmatch(tail) else "what follows its last '@' is no version number"


def _not_found(error: EntryNotFoundError) -> str:
    at = "" if error.version is None else f" at version {error.version}"
    parts = [
        f"no record {quoted(error.key)} under {quoted(error.entity_path)}{at}",
        hint(error.key) if error.version is None else "",
        "recall finds what is stored"
        if error.withdrawn is None
        else f"it was {error.withdrawn}: history of it shows what is left",
    ]
    return "; ".join(part for part in parts if part)


def _ambiguous_reference(error: AmbiguousReferenceError) -> str:
    named = ", ".join(f"scope {quoted(path)} key {quoted(key)}" for path, key in error.candidates)
    return (
        f"{quoted(error.reference)} fits several records: {named};"
        " recall the one you mean by scope and key, and leave refs out: what was recalled so is in"
    )


def _version_conflict(error: VersionConflictError) -> str:
    by = "" if error.actual_agent_id is None else f" by {quoted(error.actual_agent_id)}"
    now = f"the current version is {error.actual}{by}" if error.actual else "it has no version yet"
    return (
        f"{quoted(error.key)} under {quoted(error.entity_path)} was expected at version"
        f" {error.expected} but {now}; recall it and decide"
    )


def _packet_not_found(error: PacketNotFoundError) -> str:
    return f"there is no packet {quoted(error.handoff_id)}; resume with peek shows what waits"


def _packet_state(error: PacketStateError) -> str:
    by = "" if error.claimed_by is None else f" by {quoted(error.claimed_by)}"
    if error.state == "open":
        advice = "resume with its handoff_id takes it, then report again"
    elif error.state != "claimed":
        advice = "that is final: hand over anew for more work"
    elif error.wanted == "claimed":
        advice = "wait until it is open again, or resume without handoff_id for another"
    else:
        advice = "only the agent that holds it closes it"
    return f"packet {quoted(error.handoff_id)} is {error.state}{by}; {advice}"


def _packet_unreadable(error: PacketUnreadableError) -> str:
    return (
        f"packet {quoted(error.handoff_id)} cannot be read: {error.problem};"
        " memory_stats with verify tells whether the file was changed; have it handed over again"
    )


def _private_pin(error: PrivatePinError) -> str:
    return (
        f"{quoted(error.key)} under {quoted(error.entity_path)} is private and cannot be pinned for"
        " another agent; leave it out of refs, or remember it again, which shares it"
    )


def _reserved_path(error: ReservedPathError) -> str:
    return (
        f"{quoted(error.entity_path)} is kept for the system's own records; use another scope, and"
        " handoff and resume for packets"
    )


def _nothing_touched(_: NothingTouchedError) -> str:
    return (
        "no record was read or written in this session (searches do not count); name in refs the records"
        " it is about, or in handoff_id the packet to be closed"
    )


def _store_error(error: StoreError) -> str:
    return f"{quoted(error.path, 400)}: {error.problem}; memory_stats with verify checks the file"


_WORDS: Mapping[str, Callable[[Any], str]] = MappingProxyType(
    {
        InvalidArgumentError.code: explained,
        EntryNotFoundError.code: _not_found,
        AmbiguousReferenceError.code: _ambiguous_reference,
        VersionConflictError.code: _version_conflict,
        PacketNotFoundError.code: _packet_not_found,
        PacketStateError.code: _packet_state,
        PacketUnreadableError.code: _packet_unreadable,
        PrivatePinError.code: _private_pin,
        ReservedPathError.code: _reserved_path,
        NothingTouchedError.code: _nothing_touched,
        StoreError.code: _store_error,
    }
)
