"""The official MCP memory server over stdio, asked by the same client as ours.

An entity is a key, its type the path, an observation a value. It is loaded with one value for each
key, as it keeps no versions; a write adds an observation. Writes under way at the same time lose one
another there, so it is asked for one at a time.
"""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from benchmarks.contestants.serving import Given, Operations, newest, run
from benchmarks.workload import RARE_WORD

PROGRAM = "node_modules/@modelcontextprotocol/server-memory/dist/index.js"


@asynccontextmanager
async def contestant(folder: Path, environment: str) -> AsyncIterator[Operations]:
    """The operations, on a server with the workload, from the folder it was installed into."""
    server = StdioServerParameters(
        command="node",
        args=[str(Path(environment) / PROGRAM)],
        env={**os.environ, "MEMORY_FILE_PATH": str(folder / "memory.jsonl")},
    )
    entities = [
        {"name": f"{path}/{key}", "entityType": path, "observations": [json.dumps(value)]}
        for path, key, value in newest()
    ]
    async with Client(server) as client:
        await _call(client, "create_entities", {"entities": entities}, "entities")

        async def read(given: Given, number: int) -> int:
            names = ["/".join(given.addresses[number])]
            return await _call(client, "open_nodes", {"names": names}, "entities")

        async def search(_: Given, __: int) -> int:
            return await _call(client, "search_nodes", {"query": RARE_WORD}, "entities")

        async def list_100(given: Given, number: int) -> int:
            return await _call(client, "search_nodes", {"query": given.paths[number]}, "entities")

        async def write(given: Given, number: int) -> int:
            name, value = "/".join(given.addresses[number]), json.dumps(given.values[number])
            added = [{"entityName": name, "contents": [value]}]
            return await _call(client, "add_observations", {"observations": added}, "results")

        yield {"read": read, "search": search, "list 100": list_100, "write": write}


async def _call(client: Client, tool: str, arguments: dict[str, Any], field: str) -> int:
    """How many the answer has of what it is about."""
    answer = await client.call_tool(tool, arguments)
    if answer.is_error or not isinstance(answer.structured_content, dict):
        raise RuntimeError(f"{tool} answered {answer.content}")
    return len(answer.structured_content[field])


if __name__ == "__main__":
    run(contestant, one_at_a_time={"write"})
