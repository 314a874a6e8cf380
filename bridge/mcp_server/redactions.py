"""What was taken out of the texts of a call, as its answer tells it."""

from collections.abc import Mapping
from typing import Any

SCHEMA: dict[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"pattern": {"type": "string"}, "count": {"type": "integer"}},
        "required": ["pattern", "count"],
        "additionalProperties": False,
    },
    "description": "Secrets taken out before storing",
}


def said(counts: Mapping[str, int]) -> list[str]:
    """What stands in the text of an answer; nothing where nothing was taken out.

    >>> said({"github-token": 2, "jwt": 1})
    ['redacted: 2 github-token, 1 jwt']
    """
    return [f"redacted: {', '.join(f'{count} {name}' for name, count in counts.items())}"] if counts else []


def facts(counts: Mapping[str, int]) -> list[dict[str, Any]]:
    """The same in an object."""
    return [{"pattern": name, "count": count} for name, count in counts.items()]
