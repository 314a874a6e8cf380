"""What changed between two values, in one line that nothing stored can forge or break."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from amfs_sqlite.rules.hashing import canonical_json

MAX_DIFFERENCE_CHARACTERS = 160
MEMBER_CHARACTERS = 40
WHOLE_CHARACTERS = 70
CONTEXT_CHARACTERS = 12

_CUT = "..."


def difference(old: Any, new: Any) -> str:
    r"""Of objects the members changed, removed and added; else the old and the new value.

    At most MAX_DIFFERENCE_CHARACTERS, cut visibly; control, format and other unprintable characters
    are escaped.

    >>> difference({"verdict": "apply", "fee": 600}, {"verdict": "maybe", "note": "cut"})
    'verdict: "apply" -> "maybe"; removed fee: 600; added note: "cut"'
    >>> difference("60 s", "a\u202eb")
    '"60 s" -> "a\\u202eb"'
    """
    if isinstance(old, dict) and isinstance(new, dict):
        return _joined(list(_members(old, new)))
    return _moved(old, new, WHOLE_CHARACTERS)


def _members(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    for name, before in old.items():
        if name not in new:
            yield f"removed {_name(name)}: {_shown(_text(before), 0, MEMBER_CHARACTERS)}"
        elif canonical_json(before) != canonical_json(new[name]):
            yield f"{_name(name)}: {_moved(before, new[name], MEMBER_CHARACTERS)}"
    for name, after in new.items():
        if name not in old:
            yield f"added {_name(name)}: {_shown(_text(after), 0, MEMBER_CHARACTERS)}"


def _joined(pieces: Sequence[str]) -> str:
    line = ""
    for i, piece in enumerate(pieces):
        longer = f"{line}; {piece}" if line else piece
        left = len(pieces) - i
        rest = f"; and {left - 1} more" if left > 1 else ""
        if len(longer) + len(rest) > MAX_DIFFERENCE_CHARACTERS:
            return f"{line}; and {left} more"
        line = longer
    return line


def _moved(old: Any, new: Any, limit: int) -> str:
    """Both from just before where they part, so that a difference far into a text can be seen."""
    before, after = _text(old), _text(new)
    parting = _parting(before, after)
    return f"{_shown(before, parting, limit)} -> {_shown(after, parting, limit)}"


def _parting(one: str, other: str) -> int:
    """How many characters two texts have in common before they part."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def _shown(text: str, parting: int, limit: int) -> str:
    lead = _escaped(text[max(0, parting - CONTEXT_CHARACTERS) : parting])
    if parting > CONTEXT_CHARACTERS or len(lead) > CONTEXT_CHARACTERS:
        lead = _CUT + lead[len(_CUT) - CONTEXT_CHARACTERS :]
    tail = _escaped(text[parting : parting + limit])
    room = limit - len(lead)
    if len(text) - parting <= limit and len(tail) <= room:
        return lead + tail
    return lead + tail[: room - len(_CUT)] + _CUT


def _name(name: str) -> str:
    return name if name.isidentifier() and len(name) <= MEMBER_CHARACTERS else _quoted(name)


def _quoted(name: str) -> str:
    return _shown(_text(name), 0, MEMBER_CHARACTERS)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def _escaped(text: str) -> str:
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
