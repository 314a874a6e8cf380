"""Whether two records are equal, field by field, whatever type an adapter gives a field back in."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel

from bridge.copying.report import Difference, How

MADE_WITH_AN_ENTRY = frozenset({"content_hash", "integrity_chain", "commit_id"})
"""What every adapter makes itself; one that leaves it out is told of."""
OF_THE_KEY = frozenset({"recall_count", "tier", "priority_score"})
"""What may be kept beside a key, and then is the newest version's for all."""


def spelled(value: Any) -> str:
    """One text for equal values: JSON with sorted members, an instant as it is in UTC.

    >>> spelled({"b": 1, "a": datetime(2026, 1, 1, tzinfo=UTC)})
    '{"a": "2026-01-01T00:00:00+00:00", "b": 1}'
    >>> spelled("1") == spelled(1)
    False
    """
    return json.dumps(value, default=_spelled, sort_keys=True)


def differences(given: BaseModel, held: BaseModel, made: frozenset[str]) -> Iterator[tuple[str, How]]:
    """The fields that say something and are otherwise, or not, in what the target holds."""
    for name, field in type(given).model_fields.items():
        value, other = getattr(given, name), getattr(held, name)
        nothing = None if field.is_required() else field.get_default(call_default_factory=True)
        if value is None or spelled(value) == spelled(other):
            continue
        if name in made and other is not None:
            yield name, "made"
        else:
            yield name, "absent" if spelled(other) == spelled(nothing) else "changed"


class Comparison:
    """What records came to be on their way, counted by field. ``is_equal`` as long as nothing but what every
    adapter makes itself is otherwise.
    """

    def __init__(self) -> None:
        self.is_equal = True
        self._found: dict[tuple[str, str, How], tuple[int, str]] = {}

    def compare(
        self,
        kind: str,
        given: BaseModel,
        held: BaseModel,
        made: frozenset[str],
        example: str,
        *,
        passed_over: frozenset[str] = frozenset(),
    ) -> None:
        """Count the fields of one record, but for those to be ``passed_over``."""
        for name, how in differences(given, held, made):
            if name not in passed_over:
                self.is_equal &= name in made
                count, first = self._found.get((kind, name, how), (0, example))
                self._found[kind, name, how] = (count + 1, first)

    def differences(self) -> tuple[Difference, ...]:
        """By kind and field."""
        return tuple(
            Difference(kind=kind, field=name, how=how, count=count, example=example)
            for (kind, name, how), (count, example) in sorted(self._found.items())
        )


def _spelled(value: Any) -> Any:
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        return aware.astimezone(UTC).isoformat()
    if isinstance(value, BaseModel):
        return dict(value)
    return repr(value)
