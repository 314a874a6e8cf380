"""Entries: copy-on-write versions of values, addressed by (entity_path, key)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol, runtime_checkable

from amfs_sqlite.models import MemoryEntry


@runtime_checkable
class Entries(Protocol):
    """Reading and writing.

    An address is the pair (entity_path, key): opaque text, compared byte for byte, never joined or
    normalised. What goes in or comes out is a copy.

    ``viewer`` names the agent who asks: a version that is not ``shared`` and was written by another
    agent does not exist for it. None is the owner of the file, who sees everything.
    """

    async def read(
        self,
        entity_path: str,
        key: str,
        *,
        min_confidence: float | None = None,
        include_expired: bool = False,
        viewer: str | None = None,
    ) -> MemoryEntry | None:
        """The current version, or None: nothing there, expired, hidden from the viewer, or less
        confident than ``min_confidence`` (None and 0 do not filter). ``include_expired`` answers
        with an expired one as well.
        """
        ...

    async def write(
        self,
        entry: MemoryEntry,
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> MemoryEntry:
        """Store the entry as the next version of its key, in a commit of its own; return it as
        stored.

        Versions count 1, 2, 3 … per key without gaps. The version and hashes of the entry passed in
        are ignored; ``written_at`` None is stamped with the adapter's clock; everything else,
        ``outcome_count`` and unknown fields included, is stored as given.

        ``expected_version`` is compare-and-set: 0 means the key must be new, N that N must be
        current. Of any number of writers expecting the same version exactly one succeeds.

        ``idempotency_key`` (of this author, in this namespace) makes a repeated call return the
        first call's result as it was. The payload compared is path, key, value, confidence, tags,
        shared, ttl and expected_version.

        Raises VersionConflictError, IdempotencyConflictError, or InvalidArgumentError for an empty
        or over-long path or key (4,096 characters each), a lone surrogate anywhere, a value that is
        no JSON (NaN, infinity, other types), nests deeper than 128 levels, has more than 1,000,000
        members or is larger than 16 MiB, more than 1,000 tags, or a confidence that is not finite,
        or that the outcome policy does not take. Nothing is stored then.
        """
        ...

    async def write_batch(
        self,
        entries: Sequence[MemoryEntry],
        *,
        idempotency_key: str | None = None,
    ) -> Sequence[MemoryEntry]:
        """Write several entries in order as one commit, all or nothing; return them as stored.

        The same key twice makes two consecutive versions with chained hashes. An empty batch makes
        no commit. Where all entries name one ``commit_id`` that the store does not have yet, the
        commit takes it, so that a later ``save_commit`` can describe it. The author of the commit
        is the first entry's. Raises as ``write`` does, and InvalidArgumentError for more than 10,000
        entries.
        """
        ...

    async def list(
        self,
        entity_path: str | None = None,
        *,
        include_superseded: bool = False,
        descendants: bool = True,
        include_system: bool = True,
        viewer: str | None = None,
    ) -> Sequence[MemoryEntry]:
        """Current entries, in the order their keys were first written; expired ones included.

        ``entity_path`` covers the path itself and everything below it (``a`` covers ``a`` and
        ``a/b``, not ``ab``); with ``descendants=False`` exactly that path; None or '' is
        everywhere. ``include_superseded`` adds the older versions, ascending, at their key's place.
        ``include_system=False`` leaves out paths at or below ``_system``.
        """
        ...

    async def history(
        self,
        entity_path: str,
        key: str,
        *,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        after_version: int = 0,
        limit: int | None = None,
        viewer: str | None = None,
    ) -> Sequence[MemoryEntry]:
        """The versions of exactly this key, oldest first; empty when there are none.

        A version carries its confidence as it last stood. ``since`` and ``until`` are inclusive
        instants in any ISO 8601 spelling (no offset means UTC, None or '' is no bound);
        ``after_version`` continues behind that version; ``limit`` cuts last, None is all. Raises
        InvalidArgumentError for what is no instant, or no whole number from 0 and below ``2**63``.
        """
        ...

    async def read_at_version(
        self, entity_path: str, key: str, version: int, *, viewer: str | None = None
    ) -> MemoryEntry | None:
        """Exactly this version, current or not, expired or not; None where there is none to see."""
        ...
