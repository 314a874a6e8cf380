"""All that an adapter answers, as one comparable text, to see what changed and what did not."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Any, TypeVar

import pytest
from pydantic import BaseModel

from amfs_sqlite import AmfsAdapter, AmfsError, SearchQuery
from amfs_sqlite.protocol import Branches
from parity_tests.nouns import claimed

Refusal = TypeVar("Refusal", bound=BaseException)


def plain(value: Any) -> Any:
    """Models, errors and instants as JSON types: every field, those outside the wire form too."""
    if isinstance(value, BaseModel):
        fields = {name: plain(getattr(value, name)) for name in type(value).model_fields}
        return fields | plain(value.model_extra or {})
    if isinstance(value, AmfsError):
        return {"raised": value.code, "message": str(value)} | plain(vars(value))
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {name: plain(member) for name, member in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value


def text(value: Any) -> str:
    """What `plain` makes of a value, as text that tells 1, 1.0 and true apart, and keeps order."""
    return json.dumps(plain(value), indent=1)


async def answers(adapter: AmfsAdapter, viewer: str | None = None) -> dict[str, Any]:
    """What all reading operations of the nouns that the adapter claims answer this viewer."""
    found: dict[str, Any] = {}
    for noun, ask in _READINGS.items():
        if noun in claimed(type(adapter)):
            found |= await ask(adapter, viewer)
    return found


async def _entries(adapter: AmfsAdapter, viewer: str | None) -> dict[str, Any]:
    everything = await adapter.list(include_superseded=True, viewer=viewer)
    addresses = list(dict.fromkeys((each.entity_path, each.key) for each in everything))
    return {
        "list": everything,
        "current": await adapter.list(viewer=viewer),
        "read": [await adapter.read(*each, viewer=viewer) for each in addresses],
        "history": [await adapter.history(*each, viewer=viewer) for each in addresses],
    }


async def _search(adapter: AmfsAdapter, viewer: str | None) -> dict[str, Any]:
    return {
        "newest": await adapter.search(SearchQuery(limit=None), viewer=viewer),
        "oldest": await adapter.search(SearchQuery(limit=None, sort_by="oldest"), viewer=viewer),
    }


async def _statistics(adapter: AmfsAdapter, viewer: str | None) -> dict[str, Any]:
    return {"scopes": await adapter.scopes(viewer=viewer), "stats": await adapter.stats(viewer=viewer)}


async def _outcomes(adapter: AmfsAdapter, viewer: str | None) -> dict[str, Any]:
    return {"outcomes": await adapter.list_outcomes(viewer=viewer)}


async def _commits(adapter: AmfsAdapter, viewer: str | None) -> dict[str, Any]:
    return {"commits": await adapter.list_commits(viewer=viewer)}


async def _integrity(adapter: AmfsAdapter, viewer: str | None) -> dict[str, Any]:
    return {"verify": await adapter.verify()}


async def _branches(adapter: AmfsAdapter, viewer: str | None) -> dict[str, Any]:
    assert isinstance(adapter, Branches)
    listed = await adapter.list_branches()
    if not listed:
        return {}
    return {
        "branches": listed,
        "diffs": [await adapter.diff_branch(branch.name) for branch in listed],
        "on branches": [
            await adapter.on_branch(branch.name).list(include_superseded=True, viewer=viewer)
            for branch in listed
        ],
    }


_READINGS: Mapping[str, Callable[[AmfsAdapter, str | None], Awaitable[dict[str, Any]]]] = {
    "Entries": _entries,
    "Search": _search,
    "Statistics": _statistics,
    "Outcomes": _outcomes,
    "Commits": _commits,
    "Integrity": _integrity,
    "Branches": _branches,
}


async def state(adapter: AmfsAdapter, viewer: str | None = None) -> str:
    """All of an adapter's answers as text."""
    return text(await answers(adapter, viewer))


async def refused(adapter: AmfsAdapter, attempt: Awaitable[object], error: type[Refusal]) -> Refusal:
    """Await what must raise this, see that it left no trace, and hand back what it raised."""
    before = await state(adapter)
    with pytest.raises(error) as caught:
        await attempt
    assert await state(adapter) == before
    return caught.value
