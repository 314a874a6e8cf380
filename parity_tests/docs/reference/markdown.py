"""Text as Markdown has it."""

import re
import textwrap
from collections.abc import Iterable, Sequence

WIDTH = 100
MADE = "<!-- Made by `python -m parity_tests.docs.generate`: change what it is made from, not this page. -->"


_STARS = re.compile(r"`[^`]*`|(\*{1,2})(?=\w)[^*`]+(?<=\w)\1|\*")


def page(title: str, *parts: str) -> str:
    """A page: its title, the note that it is made, and its parts."""
    return "\n\n".join([f"# {title}", MADE, *(part.strip("\n") for part in parts)]) + "\n"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    r"""A table, without the columns in which no row has anything.

    >>> print(table(["a", "b", "c"], [["1", "x | y", ""]]))
    | a | b |
    |---|---|
    | 1 | x \| y |
    """
    rows = list(rows)
    kept = [i for i in range(len(headings)) if any(row[i] for row in rows)]
    lines = [[row[i].replace("|", r"\|") for i in kept] for row in [headings, *rows]]
    made = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([made[0], f"|{'---|' * len(kept)}", *made[1:]])


def block(language: str, text: str) -> str:
    """A fenced block."""
    return f"```{language}\n{text.rstrip(chr(10))}\n```"


def code(text: str) -> str:
    """Code in a sentence; nothing where there is nothing."""
    return f"`{text}`" if text else ""


def prose(text: str) -> str:
    r"""Paragraphs, filled; a star that neither stands in code nor makes words stand out is escaped.

    >>> print(prose("A trailing * or ``*`` is *ours*."))
    A trailing \* or `*` is *ours*.
    """
    filled = [
        textwrap.fill(" ".join(part.split()), WIDTH, break_long_words=False, break_on_hyphens=False)
        for part in text.split("\n\n")
    ]
    plain = "\n\n".join(filled).replace("``", "`")
    return _STARS.sub(lambda found: r"\*" if found[0] == "*" else found[0], plain)


def anchor(heading: str) -> str:
    """The anchor of a heading, as code hosts make it.

    >>> anchor("`packets show` and more")
    'packets-show-and-more'
    """
    kept = "".join(one for one in heading.lower() if one.isalnum() or one in " -_")
    return kept.replace(" ", "-")
