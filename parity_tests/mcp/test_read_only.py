"""A server on a store that is opened for reading alone offers what reads, and says what it is."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from amfs_sqlite import HANDOFF, FixedClock, SqliteAdapter
from bridge.mcp_server.server import READ_ONLY_INSTRUCTIONS, TOOLS
from bridge.settings import SettingError, from_sources
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.mcp.agents import Agent, Agents

READING = ["recall", "history", "memory_stats"]


@pytest.fixture
async def looker(era: str, clock: FixedClock, tmp_path: Path) -> AsyncIterator[Agent]:
    """An agent at a server that was asked to read alone."""
    path = tmp_path / "store.db"
    async with SqliteAdapter(path, outcomes=HANDOFF, clock=clock) as adapter:
        await adapter.write(draft("svc/a", "limit", "250 a second"))
    async with SqliteAdapter(path, mode="ro", outcomes=HANDOFF, clock=clock) as adapter:
        agents = Agents(adapter, clock, era, settings={"mode": "on"})
        async with agents.clients:
            yield await agents("looker")


@proves("read-only.faces")
async def test_only_tools_that_read_are_listed_and_they_answer(looker: Agent) -> None:
    listed = (await looker.client.list_tools()).tools
    assert [tool.name for tool in listed] == READING
    assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in listed)
    assert "250 a second" in await looker.call("recall", scope="svc/a", key="limit")
    assert "250 a second" in await looker.call("history", scope="svc/a", key="limit")
    assert "1" in await looker.call("memory_stats")


@proves("read-only.faces")
async def test_who_calls_another_tool_all_the_same_is_refused_in_one_line(looker: Agent) -> None:
    told = await looker.refusal("remember", scope="svc/a", key="limit", value="other")
    assert told.startswith("read_only: ")
    assert "open it for writing" in told
    assert "\n" not in told
    told = await looker.refusal("handoff", summary="done")
    assert told.startswith(("read_only: ", "nothing_touched: "))


@proves("read-only.faces")
def test_the_instructions_name_no_tool_that_is_not_there() -> None:
    named = {name for name in TOOLS if re.search(rf"\b{name}\b", READ_ONLY_INSTRUCTIONS)}
    assert named == set(READING)


@proves("read-only.faces")
@pytest.mark.parametrize(
    ("arguments", "environment", "mode"),
    [
        ({}, {}, "rw"),
        ({"mode": "on"}, {}, "ro"),
        ({"mode": "off"}, {"MEMORY_MODE": "ro"}, "rw"),
        ({}, {"MEMORY_MODE": "ro"}, "ro"),
        ({}, {"MEMORY_MODE": "rw"}, "rw"),
    ],
)
def test_the_mode_is_a_switch_or_a_variable(
    arguments: dict[str, str | None], environment: dict[str, str], mode: str
) -> None:
    assert from_sources(arguments, environment).mode == mode
    with pytest.raises(SettingError, match="it must be rw or ro"):
        from_sources({"mode": "readonly"}, {})
