"""No text becomes SQL, a pattern or a query: every argument of every operation, every field, every tool."""

import inspect
import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from amfs_sqlite import HANDOFF, AmfsAdapter, AmfsError, FixedClock, SearchQuery, SqliteAdapter
from amfs_sqlite.sqlite import migrate
from bridge.mcp_server.server import TOOLS
from parity_tests.agent.wrong import admits, answer
from parity_tests.drafts import draft, outcome
from parity_tests.ledger import proves
from parity_tests.mcp.agents import Agents, text
from parity_tests.ours.test_types import FIELDS, MODELS, NEEDED, OPERATIONS, asked
from parity_tests.security.hostile import INJECTIONS, PATHS, SHOWN

HOSTILE = (*INJECTIONS, *PATHS, *SHOWN)
TEXTS = [
    (name, argument)
    for name, operation in OPERATIONS.items()
    for argument, hint in get_type_hints(operation).items()
    if argument != "return" and admits(hint, "text")
]
# Fields of a query that take a text, and something that would be found if it were a pattern or a query.
FILTERS = [
    (field, pattern)
    for field in ("entity_path", "key", "tag", "agent_id", "contains", "text")
    for pattern in ("%", "_", "sv_", "s%", "k_", "a%e", "[a-z]", "?*", "x' OR '1'='1", '" OR "1"="1')
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the store of this test is."""
    return tmp_path / "memory.db"


@pytest.fixture
async def adapter(path: Path) -> AsyncIterator[SqliteAdapter]:
    """A store with an entry that nothing may find, change or remove by accident."""
    async with SqliteAdapter(path, outcomes=HANDOFF, clock=FixedClock()) as adapter:
        await adapter.write(draft("svc", "k1", "a word", tags=("tag",), agent="alice"))
        await adapter.write(draft("p", "1", "another"))
        await adapter.commit_outcome(outcome("success", "svc/k1"))
        yield adapter


async def untouched(adapter: AmfsAdapter) -> bool:
    """Whether that entry is there as it was, and the store is whole."""
    kept = await adapter.read("svc", "k1")
    return kept is not None and kept.value == "a word" and kept.version == 1 and (await adapter.verify()).ok


def schema(path: Path) -> dict[tuple[str, str], str]:
    """All that the file is made of, by kind and name."""
    with closing(sqlite3.connect(path)) as raw:
        return {(kind, name): sql for kind, name, sql in raw.execute(migrate.OBJECTS)}


@proves("security.injection")
@pytest.mark.parametrize(("name", "argument"), TEXTS, ids=str)
async def test_no_text_given_to_an_operation_becomes_sql(
    adapter: SqliteAdapter, path: Path, name: str, argument: str
) -> None:
    parameters = inspect.signature(OPERATIONS[name]).parameters
    good = {each: NEEDED[each] for each in parameters if each in NEEDED}
    if name == "prune":
        good["entity_path"] = "nowhere"
    for given in HOSTILE:
        try:
            said = await asked(adapter, name, {**good, argument: given})
        except AmfsError:
            continue  # An iterator refuses at its first step.
        assert not isinstance(said, Exception) or isinstance(said, AmfsError), (given, said)
    assert await untouched(adapter)
    assert schema(path) == migrate.objects()


@proves("security.injection")
@pytest.mark.parametrize(("name", "field"), FIELDS, ids=lambda each: each.replace(" ", "-"))
async def test_no_text_in_a_model_becomes_sql(
    adapter: SqliteAdapter, path: Path, name: str, field: str
) -> None:
    model, call = MODELS[name]
    forms: list[Any] = [*INJECTIONS, *((given,) for given in INJECTIONS[:5])]
    for form in [*forms, *({given: given} for given in INJECTIONS[:5])]:
        bent = model.model_copy(update={field: form})
        said = await answer(call, {"adapter": adapter, "bent": bent})
        assert not isinstance(said, Exception) or isinstance(said, AmfsError), (form, said)
    assert await untouched(adapter)
    assert schema(path) == migrate.objects()


@proves("security.patterns")
@pytest.mark.parametrize(("field", "pattern"), FILTERS)
async def test_a_pattern_finds_only_what_is_spelled_like_it(
    adapter: SqliteAdapter, field: str, pattern: str
) -> None:
    asked_for = SearchQuery.model_validate({field: pattern})
    found = [entry.key for entry in (await adapter.search(asked_for)).entries]
    # Of a text only its words count, and these hold none but "x", "a" and the like, or nothing at all.
    assert found == [] or (field == "text" and pattern in ("%", "_", "?*"))
    literal = draft(pattern, pattern, pattern, tags=(pattern,), agent=pattern)
    await adapter.write(literal)
    if field != "text":
        (only,) = (await adapter.search(asked_for)).entries
        assert only.key == pattern


@proves("security.patterns")
@pytest.mark.parametrize("pattern", ["%", "_", "s_c", "sv*", "svc%", "svc/%", "s?c", "SVC"])
async def test_no_listing_takes_a_path_for_a_pattern(adapter: SqliteAdapter, pattern: str) -> None:
    assert await adapter.list(pattern) == []
    assert await adapter.scopes(pattern) == []
    assert await adapter.list_outcomes(entity_path=pattern) == []
    assert await adapter.list_outcomes(outcome_ref=pattern) == []
    assert [each async for each in adapter.changes(entity_path=pattern, follow=False)] == []
    for viewer in ("%", "alic_", "a%"):
        await adapter.write(draft("mine", "k", shared=False, agent="alice"))
        assert await adapter.read("mine", "k", viewer=viewer) is None
        assert await adapter.list("mine", viewer=viewer) == []


def arguments_with(tool: str, argument: str, given: str) -> dict[str, Any]:
    """A call in order but for one argument."""
    schemas: Mapping[str, Any] = TOOLS[tool].arguments.input_schema()["properties"]
    calls: dict[str, dict[str, Any]] = {
        "remember": {"scope": "svc", "key": "other", "value": "v"},
        "history": {"scope": "svc", "key": "k1"},
        "handoff": {"summary": "s"},
        "record_outcome": {"outcome": "success", "outcome_ref": "r", "refs": ["svc/k1"]},
    }
    needed = calls.get(tool, {})
    if argument == "value_json":
        needed.pop("value")
    return needed | {argument: [given] if schemas[argument]["type"] == "array" else given}


TOOL_TEXTS = [
    (tool, argument)
    for tool in TOOLS
    for argument, schema_ in TOOLS[tool].arguments.input_schema()["properties"].items()
    if schema_["type"] in ("string", "array")
]


@proves("security.injection", "security.tools")
@pytest.mark.parametrize(("tool", "argument"), TOOL_TEXTS)
async def test_no_text_given_to_a_tool_becomes_sql(
    adapter: SqliteAdapter, path: Path, tool: str, argument: str
) -> None:
    clock = FixedClock()
    async with AsyncExitStack() as clients:
        agent = await Agents(adapter, clock, "auto", clients)("scout")
        for given in HOSTILE:
            if "\ud800" in given:
                continue  # No client can send it as text.
            said = await agent.answer(tool, **arguments_with(tool, argument, given))
            assert not text(said).startswith("internal_error"), (given, text(said))
            assert all(line.isprintable() for line in text(said).split("\n")), (given, text(said))
    assert await untouched(adapter)
    assert schema(path) == migrate.objects()
