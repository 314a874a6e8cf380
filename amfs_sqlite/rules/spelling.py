"""How the AMFS Python SDK spells a value when it looks for a substring: as Python's ``str`` does."""

from typing import Any

from amfs_sqlite.rules.values import decode

# What Python and JSON spell in their own ways: quotes, escapes, and what stands between members.
_SPELLED_DIFFERENTLY = frozenset("\"'\\,:[]{}")
# JSON's null. True and False differ by case alone, which is not looked at.
_NULL = str(None).lower()


def spelled(value: Any) -> str:
    """The text a substring is looked for in, in lower case.

    >>> spelled({"Pool": [None, True, "a"]}), spelled("It's")
    ("{'pool': [none, true, 'a']}", "it's")
    """
    return str(value).lower()


def says(stored: str | None, needle: str | bytes) -> bool:
    """Whether the spelling of a stored value holds this text, which is in lower case. No value holds what is
    no text.

    >>> says('{"pool":20}', "'pool': 20"), says('{"pool":20}', "pool"), says('[null]', "null")
    (True, True, False)
    """
    if stored is None or type(needle) is not str:
        return False
    if stored.startswith('"') and "\\" not in stored:
        return needle in stored[1:-1].lower()
    if _is_spelled_alike(needle) and _has_no_escapes(stored) and needle not in stored.lower():
        return False
    return needle in spelled(decode(stored))


def _is_spelled_alike(needle: str) -> bool:
    """Whether a spelling without escapes can hold it only where the JSON does.

    Spaces begin or end nothing that JSON has and are nowhere else between members. Letters beyond ASCII may
    be other ones in lower case by what stands beside them.
    """
    return (
        needle.isascii()
        and needle == needle.strip()
        and _SPELLED_DIFFERENTLY.isdisjoint(needle)
        and needle not in _NULL
    )


def _has_no_escapes(stored: str) -> bool:
    """Whether neither spelling of a value with this JSON escapes anything."""
    return "\\" not in stored and stored.isprintable()
