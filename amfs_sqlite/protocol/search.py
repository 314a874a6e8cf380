"""Search over current entries."""

from typing import Protocol, runtime_checkable

from amfs_sqlite.models import SearchPage, SearchQuery


@runtime_checkable
class Search(Protocol):
    """Finding entries. A search never writes, and sees everything acknowledged before it."""

    async def search(self, query: SearchQuery, *, viewer: str | None = None) -> SearchPage:
        """One page of the current entries that pass every filter, in a total order.

        Expired entries are left out and counted. No text within its limit can raise: what is neither a
        letter nor a digit separates words, and a text without any word finds nothing. Words are compared
        without regard to case; runs of scripts without word spaces are found by any two neighbouring
        characters. Searched are path, key, tags, and in the value every string, number, member name, and
        true and false.

        Which entries match is the same on every adapter, and so is the order by anything but relevance,
        which each adapter judges as it can.

        ``next_cursor`` continues behind the page, for the same query; where it is None nothing follows. In
        the orders ``newest`` and ``oldest`` pages repeat nothing, and hold everything that was not written
        again in between; in the others what moves meanwhile may be missed or repeated.

        Raises InvalidCursorError for a cursor of another store or query, and InvalidArgumentError for a
        limit that is no whole number from 0 and below ``2**63``, what is no instant, a ``text`` or
        ``contains`` of more than 4,096 characters, or more than 100 ``entity_paths``.
        """
        ...
