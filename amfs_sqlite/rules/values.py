"""JSON values as text: what is a value, how it is written down, how it is read back."""

import json
import math
from typing import Any

from amfs_sqlite.errors import InvalidArgumentError, quoted

MAX_DEPTH = 128
MAX_INTEGER_DIGITS = 4300
MAX_VALUE_BYTES = 16 * 1024 * 1024
MAX_MEMBERS = 1_000_000

_INTEGER_BOUND = 10**MAX_INTEGER_DIGITS
_SCALARS = frozenset({str, int, float, bool, type(None)})
# Made once: json.dumps makes an encoder for every call that does not take its defaults. Nothing that was
# checked goes round in a circle.
_COMPACT = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")
).encode
_PARSED = json.JSONDecoder().raw_decode


def encode(value: Any, argument: str = "value") -> str:
    """The value as compact JSON text, members in the given order. Raises InvalidArgumentError.

    >>> encode({"b": 1, "a": [1.0, None, "é"]})
    '{"b":1,"a":[1.0,null,"é"]}'
    """
    return encoded(value, argument)[0]


def encoded(value: Any, argument: str = "value") -> tuple[str, bool]:
    """As ``encode``; and whether the value ``is_plain``."""
    plain = is_plain(value)
    if not plain:
        _check(value, argument)
    try:
        text = _COMPACT(value)
        size = len(text.encode())
    except ValueError:
        _check(value, argument)  # says which part of it has no JSON
        raise
    if size > MAX_VALUE_BYTES:
        raise InvalidArgumentError(
            argument,
            f"is {size} bytes of JSON; the limit is {MAX_VALUE_BYTES}: store it outside and keep a pointer",
        )
    return text, plain


def decode(text: str) -> Any:
    """The value from its text. Raises ValueError where it is no JSON."""
    value, end = _PARSED(text)
    return value if end == len(text) else json.loads(text)


def is_plain(value: Any) -> bool:
    """Whether a value is made of JSON's own types alone, within the limits of depth and members: then its
    text, read back, gives the same. What a number or a text may be is not looked at.

    >>> is_plain({"a": [1, 2.5, None]}), is_plain({1: "a"}), is_plain((1,))
    (True, False, False)
    """
    return type(value) in _SCALARS or _is_plain(value, MAX_DEPTH, [MAX_MEMBERS])


def _is_plain(value: Any, levels: int, left: list[int]) -> bool:
    kind = type(value)
    if not levels or (kind is not dict and kind is not list):
        return False
    left[0] -= len(value)
    if left[0] < 0:
        return False
    for member in value.values() if kind is dict else value:
        if type(member) not in _SCALARS and not _is_plain(member, levels - 1, left):
            return False
    return kind is list or all(type(name) is str for name in value)


def _check(value: Any, argument: str) -> None:
    """Refuse what JSON cannot hold, by place. Iterative: a hostile depth must not end the interpreter."""
    pending: list[tuple[Any, str, int]] = [(value, argument, 0)]
    count = 0
    while pending:
        node, place, depth = pending.pop()
        if (count := count + 1) > MAX_MEMBERS:
            raise InvalidArgumentError(argument, f"has more than {MAX_MEMBERS} members; store them apart")
        if depth >= MAX_DEPTH and isinstance(node, dict | list | tuple):
            raise InvalidArgumentError(argument, f"nests deeper than {MAX_DEPTH} levels; flatten it")
        if isinstance(node, dict):
            for name, member in node.items():
                if not isinstance(name, str):
                    raise InvalidArgumentError(
                        place,
                        f"has the member name {quoted(name)}, which is no string; use strings",
                    )
                check_text(name, f"{place} member name")
                pending.append((member, f"{place}.{_shown(name)}", depth + 1))
        elif isinstance(node, list | tuple):
            pending.extend((item, f"{place}[{i}]", depth + 1) for i, item in enumerate(node))
        else:
            _check_scalar(node, place)


def _check_scalar(node: Any, place: str) -> None:
    if isinstance(node, str):
        check_text(node, place)
    elif node is None or isinstance(node, bool):
        pass
    elif isinstance(node, int):
        if not -_INTEGER_BOUND < node < _INTEGER_BOUND:
            raise InvalidArgumentError(
                place, f"is an integer of more than {MAX_INTEGER_DIGITS} digits; store it as text"
            )
    elif isinstance(node, float):
        if not math.isfinite(node):
            raise InvalidArgumentError(place, f"is {node}, which JSON does not have; store null or text")
    else:
        raise InvalidArgumentError(
            place, f"is a {type(node).__name__}, which JSON does not have; convert it first"
        )


def check_text(text: str, argument: str) -> None:
    """Refuse a lone surrogate: it has no UTF-8 form, so it could be hashed but not stored."""
    try:
        text.encode()
    except UnicodeEncodeError as refused:
        raise InvalidArgumentError(
            argument, f"has a lone surrogate at character {refused.start}; send well-formed text"
        ) from refused


def _shown(name: str) -> str:
    return name if name.isidentifier() and len(name) < 40 else quoted(name, 40)
