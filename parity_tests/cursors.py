"""Cursors that were damaged on their way: opaque text, of which no adapter says what stands in it."""

from collections.abc import Iterator


def damaged(cursor: str) -> Iterator[str]:
    """The cursor with each of its characters changed in turn, too short, too long, and with a rest.

    >>> list(damaged("A0"))
    ['90', 'z0', 'AA', 'A9', 'Az', '0', 'A0A0', 'A0=']
    """
    for place, character in enumerate(cursor):
        for put in "A9z":
            if put != character:
                yield cursor[:place] + put + cursor[place + 1 :]
    yield from (cursor[1:], cursor * 2, f"{cursor}=")
