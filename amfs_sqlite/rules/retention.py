"""What may be asked to go, and which versions a pruning leaves alone."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from amfs_sqlite.errors import InvalidArgumentError
from amfs_sqlite.models import EntryRef
from amfs_sqlite.rules.commits import check_signature, checked_model
from amfs_sqlite.rules.limits import (
    check_count,
    check_finite,
    check_flag,
    check_is_text,
    check_optional_name,
    check_optional_text,
    check_several,
)

ERASED_TOGETHER = 1_000
"""Versions that one commit of kind ``erase`` lists at most."""
MAX_KEPT_DAYS = 366 * 1000


@dataclass(frozen=True, slots=True)
class Signature:
    """Who lets go, why and when asked, checked; ``dry_run`` only looks."""

    author: str
    message: str
    session_id: str | None
    dry_run: bool

    def __post_init__(self) -> None:
        check_is_text(self.author, "author")
        check_signature(self.author, self.message, self.session_id, None)
        check_flag(self.dry_run, "dry_run")


@dataclass(frozen=True, slots=True)
class Under:
    """Where, checked."""

    entity_path: str | None
    include_system: bool

    def __post_init__(self) -> None:
        check_optional_text(self.entity_path, "entity_path")
        check_flag(self.include_system, "include_system")


@dataclass(frozen=True, slots=True)
class Kept:
    """What a pruning leaves alone, besides current versions."""

    last: int | None
    since: datetime | None
    versions: frozenset[tuple[str, str, int | None]]

    def holds(self, address: tuple[str, str], version: int, newest: int, superseded_at: datetime) -> bool:
        """Whether this version of a key, whose newest is ``newest``, stays.

        >>> kept = Kept(2, None, frozenset())
        >>> [kept.holds(("p", "k"), version, 3, datetime(2026, 1, 1)) for version in (1, 2)]
        [False, True]
        """
        if self.last is not None and version > newest - self.last:
            return True
        if self.since is not None and superseded_at > self.since:
            return True
        return (*address, version) in self.versions or (*address, None) in self.versions


def kept(keep_last: int | None, keep_days: float | None, keep: Sequence[EntryRef], now: datetime) -> Kept:
    """What is to be kept, checked. Raises InvalidArgumentError.

    >>> kept(None, 30, (), datetime(1, 1, 1)).since
    datetime.datetime(1, 1, 1, 0, 0)
    >>> kept(None, None, (), datetime(2026, 1, 1))
    Traceback (most recent call last):
    amfs_sqlite.errors.InvalidArgumentError: keep_last and keep_days are both None; say what is to be kept
    """
    check_count(keep_last, "keep_last")
    if keep_last == 0:
        raise InvalidArgumentError("keep_last", "is 0; the current version always stays, so give 1 or more")
    if keep_days is not None:
        check_finite(keep_days, "keep_days")
        if not 0 <= keep_days <= MAX_KEPT_DAYS:
            raise InvalidArgumentError("keep_days", f"is {keep_days}; it must be from 0 to {MAX_KEPT_DAYS}")
    if keep_last is None and keep_days is None:
        raise InvalidArgumentError("keep_last", "and keep_days are both None; say what is to be kept")
    since = None if keep_days is None else _before(now, keep_days)
    versions = frozenset((ref.entity_path, ref.key, ref.version) for ref in checked_refs(keep, "keep"))
    return Kept(keep_last, since, versions)


def _before(now: datetime, days: float) -> datetime:
    """So long ago, or when time began."""
    try:
        return now - timedelta(days=days)
    except OverflowError:
        return datetime.min.replace(tzinfo=now.tzinfo)


def checked_refs(refs: Collection[object], argument: str) -> list[EntryRef]:
    """References, their fields checked anew."""
    check_several(refs, argument)
    return [checked_model(ref, EntryRef, argument) for ref in refs]


def check_erased(refs: Collection[object], written_by: str | None) -> list[EntryRef]:
    """What is to be erased, checked. Raises InvalidArgumentError where nothing is named."""
    named = checked_refs(refs, "refs")
    check_optional_name(written_by, "written_by")
    if not named and written_by is None:
        raise InvalidArgumentError("refs", "are none, and written_by is None; say what is to be erased")
    return named
