"""What SQL cannot say about text by itself."""

import sqlite3

from amfs_sqlite.rules.values import decode


def register(connection: sqlite3.Connection) -> None:
    """Make the functions known to a connection; they give the same answer for the same text for ever."""
    connection.create_function("lowered", 1, lowered, deterministic=True)
    connection.create_function("value_text", 1, value_text, deterministic=True)


def lowered(text: str | None) -> str | None:
    """In lower case, all of Unicode's letters: SQLite's own knows those of ASCII."""
    return None if text is None else text.lower()


def value_text(stored: str | None) -> str | None:
    """What a substring is looked for in: a text as it is, any other value as its JSON."""
    return decode(stored) if stored is not None and stored.startswith('"') else stored
