"""References as people and tools write them: ``scope/key`` or ``scope/key@version``."""

from collections.abc import Sequence

from amfs_sqlite.errors import (
    AmbiguousReferenceError,
    EntryNotFoundError,
    InvalidArgumentError,
    quoted,
)
from amfs_sqlite.models import EntryRef
from amfs_sqlite.rules.limits import MAX_ADDRESS_CHARACTERS, check_is_text, check_name, check_texts
from amfs_sqlite.rules.references import readings
from amfs_sqlite.rules.visibility import is_system
from bridge.errors import ReservedPathError
from bridge.handoff import withdrawals
from bridge.operations.arguments import check_session
from bridge.session import Session

MAX_REFERENCE_CHARACTERS = 2 * MAX_ADDRESS_CHARACTERS + 32
MAX_REFERENCE_SLASHES = 256


async def resolve(session: Session, text: str) -> EntryRef:
    """The address that a reference means, with its version if it names one.

    A '/' and an '@' may belong to a scope or a key, so each way to read the text is tried against
    what is stored and visible. Raises EntryNotFoundError where none fits (with the address of what
    was erased or archived, and why it is gone), AmbiguousReferenceError naming the candidates where
    several do, ReservedPathError for the system's own paths, and InvalidArgumentError for what is no
    reference.
    """
    check_session(session)
    return await _resolve(session, text, "ref")


async def resolve_all(session: Session, texts: Sequence[str]) -> tuple[EntryRef, ...]:
    """The addresses that several references mean, in order. Raises as ``resolve`` does."""
    check_session(session)
    check_texts(texts, "refs")
    return tuple([await _resolve(session, text, f"refs[{i}]") for i, text in enumerate(texts)])


async def records_named(session: Session, text: str) -> tuple[EntryRef, ...]:
    """Every stored and visible record that the text may mean; none for what is no reference."""
    check_session(session)
    check_is_text(text, "text")
    try:
        ways = _readings(text, "ref")
    except (InvalidArgumentError, ReservedPathError):
        return ()
    return tuple([ref for ref in ways if await _is_stored(session, ref)])


async def _resolve(session: Session, text: str, argument: str) -> EntryRef:
    ways = _readings(text, argument)
    found = [ref for ref in ways if await _is_stored(session, ref)]
    if len(found) == 1:
        return found[0]
    if found:
        raise _ambiguous(text, found)
    gone = [error for ref in ways if (error := await _gone(session, ref)) is not None]
    if len(gone) > 1:
        raise _ambiguous(text, gone)
    if gone:
        raise gone[0]
    likeliest = readings(text)[0]
    raise EntryNotFoundError(likeliest.entity_path, likeliest.key, likeliest.version)


def _ambiguous(text: str, found: Sequence[EntryRef | EntryNotFoundError]) -> AmbiguousReferenceError:
    return AmbiguousReferenceError(text, [(each.entity_path, each.key) for each in found])


async def _gone(session: Session, ref: EntryRef) -> EntryNotFoundError | None:
    """What to say of a record that was there and is no more."""
    if ref.version is not None:
        return None
    why = await withdrawals.withdrawn(session, ref.entity_path, ref.key)
    return None if why is None else EntryNotFoundError(ref.entity_path, ref.key, withdrawn=why)


def _readings(text: str, argument: str) -> list[EntryRef]:
    check_name(text, argument, MAX_REFERENCE_CHARACTERS)
    if is_system(text):
        raise ReservedPathError(text)
    if text.count("/") > MAX_REFERENCE_SLASHES:
        raise InvalidArgumentError(argument, f"has more than {MAX_REFERENCE_SLASHES} '/'")
    ways = readings(text)
    if not ways:
        raise InvalidArgumentError(argument, f"is {quoted(text)}; write it as scope/key or scope/key@version")
    return ways


async def _is_stored(session: Session, ref: EntryRef) -> bool:
    path, key = ref.entity_path, ref.key
    if ref.version is None:
        found = await session.adapter.read(path, key, include_expired=True, viewer=session.viewer)
        return found is not None
    there = await session.adapter.read_at_version(path, key, ref.version, viewer=session.viewer)
    return there is not None
