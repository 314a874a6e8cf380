"""Search over current entries."""

from typing import Protocol, runtime_checkable

from amfs_sqlite.models import SearchPage, SearchQuery


@runtime_checkable
class Search(Protocol):
    """Finding entries. A search never writes, and sees everything acknowledged before it."""

    async def search(self, query: SearchQuery, *, viewer: str | None = None) -> SearchPage:
        """One page of the current entries that pass every filter, in a total order.

        Expired entries are left out and counted. No text can raise: what is neither a letter nor a
        digit separates words, and a text without any word finds nothing. Words are compared without
        regard to case; runs of scripts without word spaces are found by any two neighbouring
        characters. Searched are path, key, tags, and every string, number and member name in the value.

        Which entries match is the same on every adapter, and so is the order by anything but relevance,
        which each adapter judges as it can.
        ``next_cursor`` continues behind the page. In the orders ``newest`` and ``oldest`` pages repeat
        nothing, and hold everything that was not written again in between; in the others what moves
        meanwhile may be missed or repeated.

        Raises InvalidCursorError for a cursor of another store or query, and InvalidArgumentError for a
        limit that is no whole number from 0, what is no instant, or a text or list over its limit.
        """
        ...
