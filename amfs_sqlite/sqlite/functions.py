"""What SQL cannot say about text by itself."""

import sqlite3
from collections.abc import Sequence
from functools import lru_cache

from amfs_sqlite.rules.ranking import relevance
from amfs_sqlite.rules.text import Term
from amfs_sqlite.rules.values import decode, encode


def register(connection: sqlite3.Connection) -> None:
    """Make the functions known to a connection; they give the same answer for the same text for ever."""
    connection.create_function("lowered", 1, lowered, deterministic=True)
    connection.create_function("value_text", 1, value_text, deterministic=True)
    connection.create_function("relevance", 2, _relevance, deterministic=True)


def lowered(text: str | None) -> str | None:
    """In lower case, all of Unicode's letters: SQLite's own knows those of ASCII."""
    return None if text is None else text.lower()


def value_text(stored: str | None) -> str | None:
    """What a substring is looked for in: a text as it is, any other value as its JSON."""
    return decode(stored) if stored is not None and stored.startswith('"') else stored


def terms_text(terms: Sequence[Term]) -> str:
    """Terms as the SQL function ``relevance`` takes them beside the tokens of an entry."""
    return encode([[term.tokens, term.prefix] for term in terms])


def _relevance(tokens: str, terms: str) -> float:
    return relevance(_terms(terms), tokens.split(" "))


@lru_cache(maxsize=64)
def _terms(stored: str) -> tuple[Term, ...]:
    return tuple(Term(tuple(tokens), prefix) for tokens, prefix in decode(stored))
