"""Agents, each at an MCP client of its own, on one store in memory."""

from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from mcp import Client
from mcp.types import CallToolResult, TextContent

from amfs_sqlite import AmfsAdapter, FixedClock
from amfs_sqlite.sqlite import StoreDescription
from bridge.mcp_server import records
from bridge.mcp_server.server import build_server
from bridge.mcp_server.workplace import Workplace
from bridge.session import Session
from bridge.settings import from_sources

ERAS = ("legacy", "auto")
"""How a client opens: with the initialize handshake, or, finding it served, without any."""


class RefusedError(Exception):
    """The tool answered with an error."""


@dataclass
class Agent:
    """One agent: its client, its session, and the adapter below, for tests to look behind."""

    client: Client
    session: Session

    async def answer(self, tool: str, **arguments: Any) -> CallToolResult:
        """The whole answer, an error or not."""
        return await self.client.call_tool(tool, arguments)

    async def call(self, tool: str, **arguments: Any) -> str:
        """The text of the answer. Raises RefusedError with the text of an error."""
        result = await self.answer(tool, **arguments)
        if result.is_error:
            raise RefusedError(text(result))
        return text(result)

    async def refusal(self, tool: str, **arguments: Any) -> str:
        """The text of the error that the tool must answer with."""
        result = await self.answer(tool, **arguments)
        assert result.is_error, text(result)
        assert result.structured_content is None
        return text(result)

    async def facts(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The object of an acknowledgement."""
        result = await self.answer(tool, **arguments)
        assert not result.is_error, text(result)
        assert isinstance(result.structured_content, dict)
        return result.structured_content

    async def lines(self, tool: str, **arguments: Any) -> list[str]:
        """The lines of the answer, without the banner over stored data."""
        return [line for line in (await self.call(tool, **arguments)).split("\n") if line != records.STORED]


@dataclass
class Agents:
    """Lets agents in, and ends their clients."""

    adapter: AmfsAdapter
    clock: FixedClock
    era: str
    clients: AsyncExitStack = field(default_factory=AsyncExitStack)
    settings: dict[str, str | None] = field(default_factory=dict)

    async def __call__(self, agent_id: str, **options: Any) -> Agent:
        session = Session(self.adapter, agent_id, f"{agent_id}-session", clock=self.clock, **options)
        arguments: dict[str, str | None] = {
            "db": ":memory:",
            "agent": agent_id,
            "session": f"{agent_id}-session",
        }
        arguments |= self.settings
        workplace = Workplace(session, from_sources(arguments, {}), _describe)
        client = Client(build_server(workplace), mode=self.era)
        return Agent(await self.clients.enter_async_context(client), session)


def text(result: CallToolResult) -> str:
    """The one text block of an answer."""
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def after(lines: list[str], label: str) -> str:
    """What the one line that begins with this label says."""
    (found,) = [line.removeprefix(label) for line in lines if line.startswith(label)]
    return found.strip()


async def _describe() -> StoreDescription:
    return StoreDescription(
        path="/data/memory.db",
        sqlite_version="3.40.1",
        known_faults=("SQLite 3.40.1 has a fault",),
        journal_mode="wal",
        schema_version=1,
        file_bytes=4096,
        wal_bytes=32,
    )
