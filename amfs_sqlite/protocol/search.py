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
        characters. Searched are path, key, tags, and every string, number and member name in the
        value.

        Pages joined by ``next_cursor`` repeat nothing, and hold everything that was not written
        again in between. Raises InvalidCursorError for a cursor of another store or query, and
        InvalidArgumentError for a limit that is no whole number from 0 or a text over the limit.
        """
        ...
