"""Letting go: of values for good, of old versions, of what has expired."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from amfs_sqlite.models import EntryRef, RetentionReport


@runtime_checkable
class Retention(Protocol):
    """Removing what was stored, for the owner of the file: always asked for, always in the commit log.

    An erased version keeps its number, author, time, tags, pointers and hashes, so that the chain still
    verifies. Its value and unknown fields are gone from every byte of the store's own files when the call
    returns; what could not be removed from them yet, and copies that lie beside them, ``remains`` tells.
    ``history``, ``read_at_version`` and ``list`` with ``include_superseded`` show it without its value, as
    ``withdrawn``. Where the current version is withdrawn nothing is there now: ``read``, ``list``, ``search``
    and the statistics leave it out, an ``expected_version`` of 0 is right, and the next write is the next
    version. Whoever has the file can still guess a short value and confirm it by its contentHash.

    Each operation takes ``author``, ``message`` and ``session_id`` for its commits, which are of kind
    ``erase`` and list what they erased, at most 1,000 versions each. With ``dry_run`` nothing is changed.
    """

    async def erase(
        self,
        refs: Sequence[EntryRef] = (),
        *,
        written_by: str | None = None,
        author: str,
        message: str = "",
        session_id: str | None = None,
        dry_run: bool = False,
    ) -> RetentionReport:
        """Erase what is named: one version by a ref with its number, a key with its whole history by a ref
        without, and everything that ``written_by`` wrote.

        What is erased already is passed over. All of it or nothing, up to 1,000 versions. Outcomes, commit
        messages, paths, keys and tags stay. Raises EntryNotFoundError for a ref that names nothing, and
        InvalidArgumentError where nothing is named.
        """
        ...

    async def prune(
        self,
        *,
        entity_path: str | None = None,
        keep_last: int | None = None,
        keep_days: float | None = None,
        keep: Sequence[EntryRef] = (),
        include_system: bool = True,
        author: str,
        message: str = "",
        session_id: str | None = None,
        dry_run: bool = False,
    ) -> RetentionReport:
        """Erase old versions at or below ``entity_path`` (None or '' is everywhere).

        Kept are the current version, the newest ``keep_last`` of each key (from 1), what was current at any
        time in the last ``keep_days`` days (from 0), what ``keep`` names, by version or by key, and what a
        branch lies over. What branches wrote themselves stays. At least one of the first two must be given.
        """
        ...

    async def archive_expired(
        self,
        *,
        entity_path: str | None = None,
        include_system: bool = True,
        author: str,
        message: str = "",
        session_id: str | None = None,
        dry_run: bool = False,
    ) -> RetentionReport:
        """Give every expired entry at or below ``entity_path`` a next version: one that says that nothing is
        there.

        ``list`` shows it no longer; its history stays. The new versions are private where the expired ones
        are, and of the same author. Their commits are of kind ``write``.
        """
        ...
