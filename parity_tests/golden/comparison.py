"""When two answers are equal: numbers by value, instants as instants, everything else to the letter."""

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from amfs_sqlite.clock import instant

RELATIVE_TOLERANCE = 1e-12
INSTANTS = frozenset({"writtenAt", "ttlAt", "committedAt", "recordedAt", "oldest", "newest", "createdAt"})


def difference(expected: Any, got: Any, place: str = "$") -> str | None:
    """The first place where they differ, and how; None where they do not."""
    if type(expected) is type(got) and not isinstance(expected, Mapping | list) and expected == got:
        return None
    if _is_number(expected) and _is_number(got):
        return None if _same_number(expected, got) else f"{place}: {expected!r} is not {got!r}"
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        return _in_maps(expected, got, place)
    if isinstance(expected, list) and isinstance(got, list):
        return _in_lists(expected, got, place)
    return f"{place}: {expected!r} is not {got!r}"


def same(expected: Any, got: Any) -> bool:
    """Whether they do not differ."""
    return difference(expected, got) is None


def moment(spelling: Any) -> datetime | None:
    """The instant that a text spells, if it spells one."""
    try:
        return instant(spelling)
    except ValueError:
        return None


def _in_maps(expected: Mapping[str, Any], got: Mapping[str, Any], place: str) -> str | None:
    for name in sorted(expected.keys() ^ got.keys()):
        return f"{place}.{name}: only in what was {'got' if name in got else 'expected'}"
    for name in expected:
        if not _same_instant(name, expected[name], got[name]) and (
            found := difference(expected[name], got[name], f"{place}.{name}")
        ):
            return found
    return None


def _in_lists(expected: list[Any], got: list[Any], place: str) -> str | None:
    for i, (one, other) in enumerate(zip(expected, got, strict=False)):
        if found := difference(one, other, f"{place}[{i}]"):
            return found
    if len(expected) != len(got):
        return f"{place}: {len(expected)} items expected, {len(got)} got"
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same_number(one: float, other: float) -> bool:
    if one == other or (math.isnan(one) and math.isnan(other)):
        return True
    if float(one).is_integer() and float(other).is_integer():
        return False
    return math.isclose(one, other, rel_tol=RELATIVE_TOLERANCE, abs_tol=0.0)


def _same_instant(name: str, one: Any, other: Any) -> bool:
    if name not in INSTANTS or not isinstance(one, str) or not isinstance(other, str):
        return False
    return moment(one) is not None and moment(one) == moment(other)
