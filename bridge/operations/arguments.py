"""What operations are given, looked at before anything is done."""

from collections.abc import Collection

from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.models import EntryRef
from amfs_sqlite.rules.limits import check_is_text, is_several
from bridge.session import Session


def check_session(session: Session) -> None:
    """The session that every operation is on: an adapter is none."""
    if not isinstance(session, Session):
        raise InvalidArgumentError("session", f"is {quoted(session)}; make a Session of an open adapter")


def check_record(session: Session, scope: str, key: str) -> None:
    """A session and the address of a record."""
    check_session(session)
    check_is_text(scope, "scope")
    check_is_text(key, "key")


def check_handoff(session: Session, handoff_id: str) -> None:
    """A session and the id of a packet."""
    check_session(session)
    check_is_text(handoff_id, "handoff_id")


def check_refs(refs: Collection[EntryRef] | None) -> None:
    """Addresses in parts, or None. Texts must be resolved: each fits several addresses."""
    if refs is not None and not is_several(refs, EntryRef):
        raise InvalidArgumentError(
            "refs", f"is {quoted(refs)}; give EntryRefs: references.resolve_all makes them of texts"
        )
