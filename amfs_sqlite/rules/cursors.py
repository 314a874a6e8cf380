"""Cursors: where a page ended, bound to the store and to the query it belongs to."""

import base64
import binascii
import json
import math
from collections.abc import Sequence

from amfs_sqlite.errors import InvalidCursorError
from amfs_sqlite.models import SearchQuery
from amfs_sqlite.rules.hashing import canonical_json, digest
from amfs_sqlite.rules.ranking import SORTS

Position = Sequence[float]


def search_cursor(query: SearchQuery, viewer: str | None, store_id: str, position: Position) -> str:
    """A cursor behind this position: what the order goes by, as it stood at the last entry."""
    parts = [store_id, _fingerprint(query, viewer), list(position)]
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


def search_position(query: SearchQuery, viewer: str | None, store_id: str) -> Position | None:
    """The position the query's cursor stands for; None without a cursor. Raises InvalidCursorError."""
    if not query.cursor:
        return None
    try:
        padded = query.cursor + "=" * (-len(query.cursor) % 4)
        store, fingerprint, position = json.loads(base64.b64decode(padded, b"-_", validate=True))
        numbers = [_number(each) for each in position]
    except (binascii.Error, UnicodeError, ValueError, TypeError, RecursionError) as refused:
        raise InvalidCursorError("is not one of ours") from refused
    if store != store_id:
        raise InvalidCursorError("belongs to another store")
    if fingerprint != _fingerprint(query, viewer):
        raise InvalidCursorError("belongs to another query")
    if len(numbers) != len(SORTS[query.sort_by]):
        raise InvalidCursorError("is not one of ours")
    return numbers


def _number(part: object) -> float:
    if isinstance(part, bool) or not isinstance(part, int | float) or not math.isfinite(part):
        raise ValueError("no number")
    return part


def _fingerprint(query: SearchQuery, viewer: str | None) -> str:
    asked = query.model_dump(mode="json", exclude={"cursor", "limit"})
    return digest(canonical_json(asked), viewer)[:16]
