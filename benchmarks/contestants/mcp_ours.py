"""The MCP server of ours over stdio."""

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.types import TextContent

from amfs_sqlite import HANDOFF, SqliteAdapter
from benchmarks.contestants.ours import load
from benchmarks.contestants.serving import SEARCH_LIMIT, VERSION_COUNT, Given, Operations, run
from benchmarks.workload import AGENT, KEYS_PER_PATH, RARE_WORD


@asynccontextmanager
async def contestant(folder: Path, durability: str) -> AsyncIterator[Operations]:
    """The operations, on a server whose file holds the workload."""
    path = folder / "server.db"
    async with SqliteAdapter(path, durability="normal", outcomes=HANDOFF) as store:
        await load(store)
    arguments = ["--db", str(path), "--agent", AGENT, "--durability", durability]
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "bridge.mcp_server", *arguments], env=dict(os.environ)
    )
    async with Client(server) as client:

        async def records(tool: str, arguments: dict[str, Any]) -> int:
            return await _call(client, tool, arguments, "area/")

        async def read(given: Given, number: int) -> int:
            scope, key = given.addresses[number]
            return await records("recall", {"scope": scope, "key": key})

        async def search(_: Given, __: int) -> int:
            return await records("recall", {"text": RARE_WORD, "limit": SEARCH_LIMIT})

        async def list_100(given: Given, number: int) -> int:
            return await records("recall", {"scope": given.paths[number], "limit": KEYS_PER_PATH})

        async def history_10(given: Given, number: int) -> int:
            scope, key = given.addresses[number]
            return await records("history", {"scope": scope, "key": key, "limit": VERSION_COUNT})

        async def write(given: Given, number: int) -> int:
            scope, key = given.addresses[number]
            value = json.dumps(given.values[number])
            return await records("remember", {"scope": scope, "key": key, "value_json": value})

        async def outcome_5(given: Given, number: int) -> int:
            refs = ["/".join(each) for each in given.groups[number]]
            named = {"outcome": "success", "outcome_ref": f"{given.name}, {number}", "refs": refs}
            return await records("record_outcome", named)

        yield {
            "read": read,
            "search": search,
            "list 100": list_100,
            "history 10": history_10,
            "write": write,
            "outcome 5": outcome_5,
        }


async def _call(client: Client, tool: str, arguments: dict[str, Any], record: str) -> int:
    """The lines of the answer that are a record."""
    answer = await client.call_tool(tool, arguments)
    text = "\n".join(each.text for each in answer.content if isinstance(each, TextContent))
    if answer.is_error:
        raise RuntimeError(text)
    return sum(line.startswith(record) for line in text.split("\n"))


if __name__ == "__main__":
    run(contestant)
