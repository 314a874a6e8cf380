"""Cursors: where a page or a reader of changes ended, bound to the store, and a page to its query."""

import base64
import binascii
import json
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from amfs_sqlite.errors import InvalidCursorError
from amfs_sqlite.models import SearchQuery
from amfs_sqlite.rules.hashing import digest
from amfs_sqlite.rules.ranking import SORTS

Position = Sequence[float]


class ChangePosition(NamedTuple):
    """Where a change stands in the log; they sort in its order.

    ``sequence`` is the commit's, ``version`` the number of the newest version written by then, store-wide,
    and ``effect`` that of the effect that moved an entry in place; of a version written it is 0.
    """

    sequence: int
    version: int
    effect: int


BEGINNING = ChangePosition(0, 0, 0)
LARGEST_NUMBER = 2**63 - 1
MALFORMED = (binascii.Error, UnicodeError, ValueError, TypeError, RecursionError)


def search_cursor(query: SearchQuery, viewer: str | None, store_id: str, position: Position) -> str:
    """A cursor behind this position: what the order goes by, as it stood at the last entry."""
    parts = [store_id, _fingerprint(query, viewer), list(position)]
    return _encoded(parts)


def search_position(query: SearchQuery, viewer: str | None, store_id: str) -> Position | None:
    """The position the query's cursor stands for; None without a cursor. Raises InvalidCursorError."""
    if not query.cursor:
        return None
    try:
        store, fingerprint, position = _decoded(query.cursor)
        numbers = [_number(each) for each in position]
    except MALFORMED as refused:
        raise InvalidCursorError("is not one of ours") from refused
    if store != store_id:
        raise InvalidCursorError("belongs to another store")
    if fingerprint != _fingerprint(query, viewer):
        raise InvalidCursorError("belongs to another query")
    if len(numbers) != len(SORTS[query.sort_by]):
        raise InvalidCursorError("is not one of ours")
    return numbers


def change_cursor(store_id: str, position: ChangePosition) -> str:
    """A cursor behind the change at this position."""
    return _encoded([store_id, *position])


def change_position(cursor: str, store_id: str) -> ChangePosition:
    """The position a cursor of changes stands for. Raises InvalidCursorError.

    >>> change_position(change_cursor("s", ChangePosition(3, 2, 1)), "s")
    ChangePosition(sequence=3, version=2, effect=1)
    """
    try:
        store, *numbers = _decoded(cursor)
        sequence, version, effect = (_count(number) for number in numbers)
    except MALFORMED as refused:
        raise InvalidCursorError("is not one of ours") from refused
    if store != store_id:
        raise InvalidCursorError("belongs to another store")
    return ChangePosition(sequence, version, effect)


def _encoded(parts: Sequence[Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


def _decoded(cursor: str) -> Any:
    padded = cursor + "=" * (-len(cursor) % 4)
    return json.loads(base64.b64decode(padded, b"-_", validate=True))


def _count(part: object) -> int:
    if isinstance(part, bool) or not isinstance(part, int) or not 0 <= part <= LARGEST_NUMBER:
        raise ValueError("no count")
    return part


def _number(part: object) -> float:
    if isinstance(part, bool) or not isinstance(part, int | float) or not math.isfinite(part):
        raise ValueError("no number")
    return part


def _fingerprint(query: SearchQuery, viewer: str | None) -> str:
    asked = {name: given for name, given in query.__dict__.items() if name not in ("cursor", "limit")}
    # In ASCII, where a lone surrogate, which names nothing but may be asked for, has a form too.
    return digest(ascii((asked, viewer)))[:16]
