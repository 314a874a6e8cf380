"""How JavaScript spells values, and what its objects make of certain names."""

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

INHERITED = {
    "constructor": "Object",
    **{
        name: name
        for name in (
            "__defineGetter__",
            "__defineSetter__",
            "__lookupGetter__",
            "__lookupSetter__",
            "hasOwnProperty",
            "isPrototypeOf",
            "propertyIsEnumerable",
            "toLocaleString",
            "toString",
            "valueOf",
        )
    },
}
"""The functions that every object has without holding them, and what each is called."""
PROTOTYPE = "__proto__"


def as_text(value: Any) -> str:
    """`String(value)`."""
    if value is None:
        return "null"
    if isinstance(value, list):
        return ",".join("" if item is None else as_text(item) for item in value)
    if isinstance(value, dict):
        return "[object Object]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else number(value)


def as_json(value: Any) -> str:
    """What we look into instead: a text as it is, anything else as our compact JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def number(value: float) -> str:
    """A number as JavaScript spells it: the shortest digits that stand for it, from 1e21 on with exponent.

    >>> [number(each) for each in (1.0, -0.0, 1e-7, 1e16, 1e21, 1.5e300)]
    ['1', '0', '1e-7', '10000000000000000', '1e+21', '1.5e+300']
    """
    if value == 0:
        return "0"
    mantissa, _, power = repr(float(abs(value))).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    exponent = int(power or 0) + len(whole)
    digits = (whole + fraction).lstrip("0")
    exponent -= len(whole + fraction) - len(digits)
    digits = digits.rstrip("0")
    sign = "-" if value < 0 else ""
    if 0 < exponent <= 21:
        spelled = digits[:exponent].ljust(exponent, "0") + ("." + digits[exponent:]).rstrip(".")
    elif -6 < exponent <= 0:
        spelled = "0." + "0" * -exponent + digits
    else:
        power = f"{exponent - 1:+d}"
        spelled = digits[0] + (("." + digits[1:]) if digits[1:] else "") + f"e{power}"
    return sign + spelled


def tally(names: Iterable[str]) -> dict[str, Any]:
    """Counts kept in a plain object: what is inherited is counted on, what is the prototype is lost."""
    counts: dict[str, Any] = {}
    for name in names:
        if name in counts and isinstance(counts[name], int):
            counts[name] += 1
        elif name in INHERITED:
            counts[name] = f"{counts.get(name, f'function {INHERITED[name]}() {{ [native code] }}')}1"
        elif name != PROTOTYPE:
            counts[name] = 1
    return counts


def reached(names: Sequence[str], polluted: frozenset[str]) -> list[str]:
    """The names of a path that a tree of plain objects comes to hold: those before an inherited one."""
    for i, name in enumerate(names):
        if name == PROTOTYPE or name in INHERITED or name in polluted:
            return list(names[:i])
    return list(names)


def pollutes(names: Sequence[str]) -> set[str]:
    """The names that such a tree writes to where every object inherits them."""
    return {after for before, after in pairwise(names) if before == PROTOTYPE}


def code_units(text: str) -> bytes:
    """What JavaScript sorts texts by."""
    return text.encode("utf-16-be", "surrogatepass")
