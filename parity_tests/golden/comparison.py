"""When two answers are equal: numbers by value, instants as instants, everything else to the letter."""

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from amfs_sqlite.clock import instant
from amfs_sqlite.errors import quoted

RELATIVE_TOLERANCE = 1e-12
INSTANTS = frozenset({"writtenAt", "ttlAt", "committedAt", "recordedAt", "oldest", "newest", "createdAt"})


class Gap(NamedTuple):
    """A place where two answers differ, and what stands there in either, as it may be told."""

    place: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"at {self.place} {self.expected} is expected, and there is {self.got}"


def difference(expected: Any, got: Any, place: str = "$") -> Gap | None:
    """The first place where they differ, and how; None where they do not."""
    if type(expected) is type(got) and not isinstance(expected, Mapping | list) and expected == got:
        return None
    if _is_number(expected) and _is_number(got):
        return None if _same_number(expected, got) else Gap(place, quoted(expected), quoted(got))
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        return _in_maps(expected, got, place)
    if isinstance(expected, list) and isinstance(got, list):
        return _in_lists(expected, got, place)
    return Gap(place, quoted(expected), quoted(got))


def same(expected: Any, got: Any) -> bool:
    """Whether they do not differ."""
    return difference(expected, got) is None


def moment(spelling: Any) -> datetime | None:
    """The instant that a text spells, if it spells one."""
    try:
        return instant(spelling)
    except ValueError:
        return None


def _in_maps(expected: Mapping[str, Any], got: Mapping[str, Any], place: str) -> Gap | None:
    for name in sorted(expected.keys() ^ got.keys()):
        told = [quoted(each[name]) if name in each else "nothing" for each in (expected, got)]
        return Gap(f"{place}.{name}", *told)
    for name in expected:
        if not _same_instant(name, expected[name], got[name]) and (
            found := difference(expected[name], got[name], f"{place}.{name}")
        ):
            return found
    return None


def _in_lists(expected: list[Any], got: list[Any], place: str) -> Gap | None:
    for i, (one, other) in enumerate(zip(expected, got, strict=False)):
        if found := difference(one, other, f"{place}[{i}]"):
            return found
    if len(expected) != len(got):
        return Gap(place, f"a list of {len(expected)}", f"a list of {len(got)}")
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
