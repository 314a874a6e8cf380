"""Cursors: where a page ended, bound to the store and to the query it belongs to."""

import base64
import binascii
import json

from amfs_sqlite.errors import InvalidCursorError
from amfs_sqlite.models import SearchQuery
from amfs_sqlite.rules.hashing import canonical_json, digest


def search_cursor(query: SearchQuery, viewer: str | None, store_id: str, position: int) -> str:
    """A cursor behind this position."""
    parts = [store_id, _fingerprint(query, viewer), position]
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


def search_position(query: SearchQuery, viewer: str | None, store_id: str) -> int | None:
    """The position the query's cursor stands for; None without a cursor. Raises InvalidCursorError."""
    if not query.cursor:
        return None
    try:
        padded = query.cursor + "=" * (-len(query.cursor) % 4)
        store, fingerprint, position = json.loads(base64.b64decode(padded, b"-_", validate=True))
    except (binascii.Error, UnicodeError, ValueError, TypeError, RecursionError) as refused:
        raise InvalidCursorError("is not one of ours") from refused
    if isinstance(position, bool) or not isinstance(position, int) or not 0 <= position < 2**63:
        raise InvalidCursorError("is not one of ours")
    if store != store_id:
        raise InvalidCursorError("belongs to another store")
    if fingerprint != _fingerprint(query, viewer):
        raise InvalidCursorError("belongs to another query")
    return position


def _fingerprint(query: SearchQuery, viewer: str | None) -> str:
    asked = query.model_dump(mode="json", exclude={"cursor", "limit"})
    return digest(canonical_json(asked), viewer)[:16]
