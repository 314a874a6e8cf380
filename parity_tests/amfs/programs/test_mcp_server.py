"""The SDK's MCP server on a file of ours, over its standard input and output."""

import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from parity_tests.amfs.programs.processes import RUN, TEST_PATIENCE_S, Place, needs
from parity_tests.ledger import proves
from parity_tests.mcp.processes import ServerProcess

pytestmark = pytest.mark.timeout(TEST_PATIENCE_S)

SERVER = (*RUN, "amfs-mcp-server", "--toolset", "all")


@asynccontextmanager
async def served(place: Place) -> AsyncIterator[ServerProcess]:
    """A server that a client has greeted; all that it says on standard output is held to be a message."""
    process = await anyio.open_process(
        SERVER, cwd=place.folder, env=place.environment | {"AMFS_TOOLSET": "all"}, stderr=subprocess.DEVNULL
    )
    server = ServerProcess(process, "legacy")
    try:
        await server.greet()
        yield server
    finally:
        with anyio.CancelScope(shield=True):
            if process.returncode is None:
                process.kill()
            await process.aclose()


async def asked(server: ServerProcess, tool: str, **arguments: Any) -> Any:
    """What a tool answers."""
    return json.loads(await server.call(tool, **arguments))


@needs("amfs_mcp", "amfs-mcp-server")
@proves("programs.mcp-server")
async def test_the_tools_work_on_a_file_of_ours_and_the_next_server_finds_it_all(place: Place) -> None:
    async with served(place) as server:
        await server.send(server.request(1, "tools/list", {}))
        tools = {each["name"] for each in (await server.answer(1))["result"]["tools"]}
        assert {"amfs_write", "amfs_retrieve", "amfs_commit_outcome", "amfs_verify"} <= tools
        for value in ("3 retries", "5 retries"):
            await asked(server, "amfs_write", entity_path="svc/api", key="limits/retry", value=value)
        read = await asked(server, "amfs_read", entity_path="svc/api", key="limits/retry")
        assert (read["version"], read["value"], read["provenance"]["agent_id"]) == (2, "5 retries", "scout")
        found = await asked(server, "amfs_search", query="retries")
        assert "limits/retry" in json.dumps(found)
        assert "limits/retry" in json.dumps(await asked(server, "amfs_retrieve", query="how many retries"))
        told = await asked(server, "amfs_commit_outcome", outcome_ref="run-1", outcome_type="failure")
        assert told["affected_entries"] == 1
        assert (await server.leave()) == 0
    async with served(place) as server:
        history = await asked(server, "amfs_history", entity_path="svc/api", key="limits/retry")
        assert [each["version"] for each in history["versions"]] == [1, 2, 3]
        assert history["versions"][2]["outcome_count"] == 1
        report = await asked(server, "amfs_verify")
        assert report["total_checked"] >= 1
        assert (report["corrupted"], report["chain_breaks"]) == ([], [])
