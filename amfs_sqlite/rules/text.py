"""Words: what a text is cut into, and whether a query's words occur in it. The same for every adapter."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any

from amfs_sqlite.errors import InvalidArgumentError
from amfs_sqlite.models import MemoryEntry
from amfs_sqlite.rules.values import check_text, encode

TOKENIZER_VERSION = 1
MAX_TOKEN_CHARACTERS = 128
MAX_QUERY_CHARACTERS = 4096

_UNSPACED_SCRIPTS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1100, 0x11FF),  # Hangul Jamo
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),  # ideographic iteration mark, closing mark, zero
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3100, 0x318F),  # Bopomofo, Hangul compatibility Jamo
    (0x31F0, 0x31FF),  # Katakana extensions
    (0x3400, 0x4DBF),  # CJK extension A
    (0x4E00, 0x9FFF),  # CJK
    (0xAC00, 0xD7FF),  # Hangul
    (0xF900, 0xFAFF),  # CJK compatibility
    (0x20000, 0x3FFFF),  # CJK extensions
)

# All that the rules below come to where there is nothing to normalise.
_ASCII_WORDS = re.compile("[0-9a-z]+").findall

_SEPARATOR, _LETTERS, _UNSPACED = range(3)


@dataclass(frozen=True, slots=True)
class Term:
    """Neighbouring tokens that must occur in this order; ``prefix`` lets the last one go on."""

    tokens: tuple[str, ...]
    prefix: bool


def tokens_of(text: str) -> list[str]:
    """The tokens of a text, in order.

    Letters and digits make words, compared after compatibility normalisation and case folding. In
    scripts without word spaces each character makes a token with its right neighbour, and the last
    of a run one of its own.

    >>> tokens_of("Don't re-index file_name")
    ['don', 't', 're', 'index', 'file', 'name']
    >>> tokens_of("重跑gen后")
    ['重跑', '跑', 'gen', '后']
    """
    if text.isascii():
        return [word[:MAX_TOKEN_CHARACTERS] for word in _ASCII_WORDS(text.lower())]
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    found: list[str] = []
    for kind, group in groupby(folded, key=_kind):
        if kind == _SEPARATOR:
            continue
        run = "".join(group)
        if kind == _UNSPACED:
            found += [run[i : i + 2] for i in range(len(run))]
        else:
            found.append(run[:MAX_TOKEN_CHARACTERS])
    return found


def entry_tokens(entry: MemoryEntry) -> list[str]:
    """The tokens of everything in an entry that a text search looks at."""
    parts = [entry.entity_path, entry.key, *entry.provenance.pattern_refs, *_words_in(entry.value)]
    # Where there is nothing to normalise, what parts them parts their words as well.
    whole = "\n".join(parts)
    if whole.isascii():
        return tokens_of(whole)
    return [token for part in parts for token in tokens_of(part)]


def terms_of(query: str) -> tuple[Term, ...]:
    r"""The terms of a query: each word, or each "quoted phrase"; a trailing * makes a prefix.

    Raises InvalidArgumentError only for more than MAX_QUERY_CHARACTERS or a lone surrogate.

    >>> [(term.tokens, term.prefix) for term in terms_of('deploy* "blue green" -x *')]
    [(('deploy',), True), (('blue', 'green'), False), (('x',), False)]
    """
    if len(query) > MAX_QUERY_CHARACTERS:
        raise InvalidArgumentError(
            "text", f"has {len(query)} characters; the limit is {MAX_QUERY_CHARACTERS}"
        )
    check_text(query, "text")
    return tuple(term for part, prefix in _parts(query) if (term := _term(part, prefix)))


def matches(terms: Sequence[Term], tokens: Sequence[str]) -> bool:
    """Whether every term occurs; a query without terms finds nothing."""
    text = f" {joined(tokens)} "
    return bool(terms) and all(
        f" {joined(term.tokens)}{'' if term.prefix else ' '}" in text for term in terms
    )


def contains(entry: MemoryEntry, part: str) -> bool:
    """Whether path, key or value text holds this substring, whatever its case.

    >>> entry = MemoryEntry.draft("svc", "k", {"Note": ["x"]}, agent_id="a")
    >>> contains(entry, 'note":['), contains(entry, "SVC"), contains(entry, "nope")
    (True, True, False)
    """
    value = entry.value if isinstance(entry.value, str) else encode(entry.value)
    wanted = part.lower()
    return any(wanted in text.lower() for text in (entry.entity_path, entry.key, value))


def _words_in(value: Any) -> list[str]:
    found: list[str] = []
    pending = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, str):
            found.append(node)
        elif isinstance(node, dict):
            for name, member in reversed(node.items()):
                pending += (member, name)
        elif isinstance(node, list | tuple):
            pending += reversed(node)
        elif isinstance(node, bool):
            found.append("true" if node else "false")
        elif node is not None:
            found.append(str(node))
    return found


def _parts(query: str) -> Iterator[tuple[str, bool]]:
    for i, quoted in enumerate(query.split('"')):
        if i % 2:
            yield quoted, False
            continue
        for word in quoted.split():
            yield word, word.endswith("*")


def _term(part: str, prefix: bool) -> Term | None:
    tokens = tokens_of(part)
    if not tokens:
        return None
    if _kind(tokens[-1][0]) == _UNSPACED and len(tokens[-1]) == 1:
        # The last character of a run stands for itself in a stored text only at a run's end: as a
        # prefix it also finds the pairs it begins. Behind another pair it adds nothing.
        prefix = True
        if len(tokens) > 1 and _kind(tokens[-2][0]) == _UNSPACED:
            tokens, prefix = tokens[:-1], False
    return Term(tuple(tokens), prefix)


@lru_cache(maxsize=8192)
def _kind(character: str) -> int:
    code = ord(character)
    if any(first <= code <= last for first, last in _UNSPACED_SCRIPTS):
        return _UNSPACED if unicodedata.category(character)[0] in "LMN" else _SEPARATOR
    return _LETTERS if unicodedata.category(character)[0] in "LMN" else _SEPARATOR


def joined(tokens: Iterable[str]) -> str:
    """Tokens as one text, parted by spaces, which no token contains."""
    return " ".join(tokens)
