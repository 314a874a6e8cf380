"""Questions drawn by chance: every operation that reads, with every argument it takes."""

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any, get_args

from hypothesis import strategies as st

from amfs_sqlite.models import SearchOrder
from parity_tests.properties.changes import COMMIT_IDS, seldom
from parity_tests.properties.worlds import PARTS, PIECES, World
from parity_tests.scenarios.player import Step, all_pages, call

ELSEWHERE = ["", "none", "\ud800", "x" * 5000, "_system", "a/"]
CONFIDENCES: list[float | None] = [
    None,
    0,
    0.0,
    0.25,
    0.5,
    0.8,
    1.0,
    -1.0,
    2,
    1e308,
    float("nan"),
    float("inf"),
]
COUNTS: list[Any] = [None, None, 0, 1, 2, 5, 2**63 - 1, -1, True, 1.0, "3", 2**64]
NO_INSTANTS = ["yesterday", "2026-13-01", "0001-01-01T00:00:00+01:00", "\ud800"]
LONG = "x" * 4097
CHANGES = "changes"


@st.composite
def questions(draw: st.DrawFn, world: World) -> Step:
    """A step that only asks."""
    operation = draw(st.sampled_from(sorted(ARGUMENTS)))
    given = ARGUMENTS[operation](draw, world)
    positional = [given.pop(name) for name in POSITIONAL[operation]]
    if operation in SEEN:
        given["viewer"] = draw(viewers(world))
    return call(operation, *positional, **given)


@st.composite
def searches(draw: st.DrawFn, world: World) -> Step:
    """A search, followed to its last page."""
    return all_pages(draw(viewers(world)), **draw(filters(world)))


@st.composite
def filters(draw: st.DrawFn, world: World) -> dict[str, Any]:
    """A query of the whole language; good ones ask for few things at once, so that they find some."""
    good: dict[str, st.SearchStrategy[Any]] = {
        "entity_path": st.sampled_from([*world.paths, ""]),
        "entity_paths": st.lists(st.sampled_from([*world.paths, ""]), max_size=3).map(tuple),
        "descendants": st.booleans(),
        "key": st.sampled_from([*world.keys, ""]),
        "tag": st.sampled_from([*world.tags, ""]),
        "agent_id": st.sampled_from([*world.agents, ""]),
        "since": instants(world),
        "until": instants(world),
        "min_confidence": st.sampled_from([0, 0.25, 0.5, -1.0]),
        "max_confidence": st.sampled_from([0, 0.5, 0.8, 1.0]),
        "contains": st.sampled_from([*PARTS, *world.paths, *world.keys]) | st.text(max_size=2),
        "text": words(),
        "include_system": st.booleans(),
    }
    asked = draw(st.lists(st.sampled_from(sorted(good)), max_size=3, unique=True))
    query = {name: draw(good[name]) for name in asked}
    query["sort_by"] = draw(st.sampled_from(get_args(SearchOrder)))
    query["limit"] = draw(st.sampled_from([1, 2, 3, None, 0]))
    return query | (draw(st.sampled_from(BAD_FILTERS)) if seldom(draw) else {})


BAD_FILTERS: list[dict[str, Any]] = [
    {"limit": -1},
    {"limit": 2**63 - 1},
    {"min_confidence": float("nan")},
    {"max_confidence": float("inf")},
    {"since": "yesterday"},
    {"until": "2026-13-01"},
    {"text": LONG},
    {"text": "\ud800"},
    {"contains": LONG},
    {"contains": "\ud800"},
    {"entity_paths": ("p",) * 101},
    {"entity_path": "\ud800"},
    {"entity_paths": ("\ud800",)},
    {"key": "\ud800"},
    {"tag": "\ud800"},
    {"agent_id": "\ud800"},
    {"cursor": "nonsense"},
    {"cursor": "W10"},
    {"entity_path": LONG * 2},
]


def words() -> st.SearchStrategy[str]:
    """What somebody may type to search for."""
    typed = st.lists(st.sampled_from(PIECES), min_size=1, max_size=2).map(" ".join)
    return typed | st.text(st.characters(exclude_categories=["Cs"]), max_size=4)


def viewers(world: World) -> st.SearchStrategy[str | None]:
    """Who asks."""
    return st.sampled_from([*world.viewers, "\ud800"])


@st.composite
def instants(draw: st.DrawFn, world: World) -> datetime | str | None:
    """An instant in one of its spellings."""
    moment = draw(st.sampled_from(world.instants))
    match draw(st.integers(0, 6)):
        case 0:
            return moment
        case 1:
            return moment.isoformat()
        case 2:
            return moment.replace(tzinfo=None)
        case 3:
            return moment.replace(tzinfo=timezone(timedelta(hours=5, minutes=30)))
        case 4:
            return moment.date().isoformat()
        case 5:
            return draw(st.sampled_from([None, ""]))
    return draw(st.sampled_from(NO_INSTANTS)) if seldom(draw) else moment.isoformat(" ")


def _address(draw: st.DrawFn, world: World) -> dict[str, Any]:
    if seldom(draw):
        return {"entity_path": draw(st.sampled_from(ELSEWHERE)), "key": draw(st.sampled_from(ELSEWHERE))}
    return {"entity_path": draw(st.sampled_from(world.paths)), "key": draw(st.sampled_from(world.keys))}


def _path(draw: st.DrawFn, world: World) -> str | None:
    return draw(st.sampled_from([None, *world.paths, *world.paths, *ELSEWHERE]))


def _page(draw: st.DrawFn) -> dict[str, Any]:
    return {"limit": draw(st.sampled_from(COUNTS)), "before": draw(st.sampled_from([*COUNTS, 3, 4, 6]))}


def _read(draw: st.DrawFn, world: World) -> dict[str, Any]:
    return _address(draw, world) | {
        "min_confidence": draw(st.sampled_from(CONFIDENCES)),
        "include_expired": draw(st.booleans()),
    }


def _read_at_version(draw: st.DrawFn, world: World) -> dict[str, Any]:
    return _address(draw, world) | {"version": draw(st.sampled_from([1, 2, 3, 4, 0, -1, 2**63]))}


def _list(draw: st.DrawFn, world: World) -> dict[str, Any]:
    flags = ("include_superseded", "descendants", "include_system")
    return {"entity_path": _path(draw, world)} | {flag: draw(st.booleans()) for flag in flags}


def _history(draw: st.DrawFn, world: World) -> dict[str, Any]:
    return _address(draw, world) | {
        "since": draw(st.none() | instants(world)),
        "until": draw(st.none() | instants(world)),
        "after_version": draw(st.sampled_from([0, 0, 0, 1, 2, -1, True, 2**64])),
        "limit": draw(st.sampled_from(COUNTS)),
    }


def _list_outcomes(draw: st.DrawFn, world: World) -> dict[str, Any]:
    asked = {
        "outcome_ref": st.sampled_from(["r1", "r2", "", "\ud800"]),
        "entity_path": st.sampled_from([*world.paths, *ELSEWHERE]),
        "key": st.sampled_from([*world.keys, *ELSEWHERE]),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(asked)), max_size=2, unique=True))
    return {name: draw(asked[name]) for name in chosen} | _page(draw)


def _commit_id(draw: st.DrawFn) -> str:
    return draw(st.sampled_from([*COMMIT_IDS, "", "\ud800", "none"]))


ARGUMENTS: dict[str, Callable[[st.DrawFn, World], dict[str, Any]]] = {
    "read": _read,
    "read_at_version": _read_at_version,
    "list": _list,
    "history": _history,
    "list_outcomes": _list_outcomes,
    "list_commits": lambda draw, _world: _page(draw),
    "get_commit": lambda draw, _world: {"commit_id": _commit_id(draw)},
    "common_ancestor": lambda draw, _world: {"commit_a": _commit_id(draw), "commit_b": _commit_id(draw)},
    "recorded_result": lambda draw, world: {
        "idempotency_key": draw(st.sampled_from(["i1", "i1", "", "é\0", "\ud800", LONG])),
        "author": draw(st.sampled_from([*world.viewers[1:], "dave", "\ud800"])),
    },
    "scopes": lambda draw, world: {"entity_path": _path(draw, world), "include_system": draw(st.booleans())},
    "stats": lambda draw, _world: {"include_system": draw(st.booleans())},
    "verify": lambda _draw, _world: {},
    CHANGES: lambda draw, world: {
        "behind": draw(st.sampled_from([None, 0, 1, 2, 5])),
        "entity_path": _path(draw, world),
        "include_system": draw(st.booleans()),
    },
}
SEEN = ARGUMENTS.keys() - {"common_ancestor", "recorded_result", "verify"}
ADDRESS = ("entity_path", "key")
POSITIONAL: dict[str, tuple[str, ...]] = dict.fromkeys(ARGUMENTS, ()) | {
    "read": ADDRESS,
    "history": ADDRESS,
    "read_at_version": (*ADDRESS, "version"),
    "get_commit": ("commit_id",),
    "common_ancestor": ("commit_a", "commit_b"),
    "recorded_result": ("idempotency_key",),
}
