"""What SQL cannot say about text by itself."""

import json
import re
import sqlite3
from functools import lru_cache

from amfs_sqlite.rules.spelling import says
from amfs_sqlite.rules.values import decode


def register(connection: sqlite3.Connection) -> None:
    """Make the functions known to a connection; they give the same answer for the same text for ever."""
    connection.create_function("lowered", 1, lowered, deterministic=True)
    connection.create_function("value_text", 1, value_text, deterministic=True)
    connection.create_function("says", 2, says, deterministic=True)
    connection.create_function("content_length", 1, content_length, deterministic=True)
    # SQLite's own LIKE takes a for A and knows no escapes. REGEXP, which it leaves to others, is that of
    # Postgres: predicates that are written for it keep their meaning.
    connection.create_function("regexp", 2, is_like, deterministic=True)
    connection.create_function("regexp", 3, is_like, deterministic=True)
    connection.create_aggregate("mean", 1, Mean)  # type: ignore[arg-type]  # typed for integers alone


def lowered(text: str | None) -> str | None:
    """In lower case, all of Unicode's letters: SQLite's own knows those of ASCII."""
    return None if text is None else text.lower()


def value_text(stored: str | None) -> str | None:
    """What a substring is looked for in: a text as it is, any other value as its JSON."""
    return decode(stored) if stored is not None and stored.startswith('"') else stored


def content_length(stored: str | None) -> int | None:
    """How many characters a value is as Python's ``json.dumps`` has it."""
    return None if stored is None else len(json.dumps(decode(stored)))


def is_like(
    pattern: str | bytes | None, text: str | bytes | None, escape: str | bytes | None = "\\"
) -> bool | None:
    r"""Whether a text is like a pattern in which % stands for anything, _ for any character, and either for
    itself behind ``escape``, of which there is none where it is empty.

    Raises ValueError for an ``escape`` of several characters.

    >>> is_like("a%", "a/b"), is_like("a_", "A/"), is_like(r"a\_", "a_"), is_like(r"a\_", "ab")
    (True, False, True, False)
    >>> is_like("a!_", "a_", "!"), is_like("a!_", "ab", "!"), is_like(r"a\_", r"a\b", "")
    (True, False, True)
    """
    if type(pattern) is not str or type(text) is not str or type(escape) is not str:
        return None
    if len(escape) > 1:
        raise ValueError("ESCAPE takes one character, or none")
    return _regex(pattern, escape).fullmatch(text) is not None


@lru_cache(maxsize=64)
def _regex(pattern: str, escape: str) -> re.Pattern[str]:
    wild = {"%": ".*", "_": "."}
    parts = re.findall(f"{re.escape(escape)}.|." if escape else ".", pattern, re.DOTALL)
    return re.compile("".join(wild.get(part) or re.escape(part[-1]) for part in parts), re.DOTALL)


class Mean:
    """The mean of numbers as Python adds them up, in the order they come; NULL of none."""

    def __init__(self) -> None:
        self._numbers: list[float] = []

    def step(self, number: float) -> None:
        """One more."""
        self._numbers.append(number)

    def finalize(self) -> float | None:
        """Of all of them."""
        return sum(self._numbers) / len(self._numbers) if self._numbers else None
