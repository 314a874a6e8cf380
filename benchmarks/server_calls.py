"""Servers at the other end of two pipes, and what is asked of them."""

import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from itertools import count, cycle
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from amfs_sqlite import HANDOFF, MemoryEntry, SqliteAdapter
from benchmarks.measuring import Contender, Round
from benchmarks.memory import child_processes
from benchmarks.workload import AGENT, RARE_WORD, Workload, address

KEY_COUNT = 1_000
VERSIONS_PER_KEY = 5
PREPARED = 2_000

Call = Callable[[], Awaitable[object]]


class ServerError(Exception):
    """A server answered with an error, so there is nothing to measure."""


async def fill(path: Path) -> None:
    """A store of KEY_COUNT records."""
    values = Workload(seed=0)
    async with SqliteAdapter(path, outcomes=HANDOFF) as store:
        for _ in range(VERSIONS_PER_KEY):
            drafts = [
                MemoryEntry.draft(*address(number), values.value(), agent_id=AGENT)
                for number in range(KEY_COUNT)
            ]
            await store.write_batch(drafts)


def ours(path: Path, durability: str) -> StdioServerParameters:
    """Our server on this file."""
    arguments = ["-m", "bridge.mcp_server", "--db", str(path), "--agent", AGENT, "--durability", durability]
    return StdioServerParameters(command=sys.executable, args=arguments)


def empty() -> StdioServerParameters:
    """A server with one tool that does nothing."""
    return StdioServerParameters(command=sys.executable, args=["-m", "benchmarks.empty_server"])


@asynccontextmanager
async def connected(server: StdioServerParameters) -> AsyncIterator[tuple[Client, int | None]]:
    """A client of a server of its own, and the id of the server's process where that can be told."""
    before = child_processes()
    async with Client(server) as client:
        new = child_processes() - before
        yield client, min(new, default=None)


async def call(client: Client, tool: str, arguments: Mapping[str, Any]) -> None:
    """Call a tool. Raises ServerError where it answers with an error."""
    result = await client.call_tool(tool, dict(arguments))
    if result.is_error:
        raise ServerError(f"{tool}: {result.content}")


async def call_empty(client: Client) -> None:
    """Call the tool that does nothing."""
    await call(client, "nothing", {})


async def call_first(client: Client) -> None:
    """What a client may ask our server first."""
    scope, key = address(0)
    await call(client, "recall", {"scope": scope, "key": key})


def reading_calls(client: Client) -> Mapping[str, Call]:
    """The tools that only read, each called with what is next."""
    records = _records()
    return {
        "recall a record": lambda: call(client, "recall", next(records)),
        "recall by text": lambda: call(client, "recall", {"text": RARE_WORD}),
        "history": lambda: call(client, "history", next(records)),
    }


def writing_calls(client: Client, durability: str) -> Mapping[str, Call]:
    """The tools that write, each called with what is next."""
    records, numbers = _records(), count()
    values = cycle([json.dumps(value) for value in Workload(seed=2).values(PREPARED)])

    def outcome() -> Mapping[str, Any]:
        record = next(records)
        refs = [f"{record['scope']}/{record['key']}"]
        return {"outcome": "success", "outcome_ref": f"{durability}-{next(numbers)}", "refs": refs}

    return {
        f"remember, {durability}": lambda: call(
            client, "remember", next(records) | {"value_json": next(values)}
        ),
        f"record_outcome, {durability}": lambda: call(client, "record_outcome", outcome()),
    }


def _records() -> Iterator[dict[str, Any]]:
    addresses = Workload(seed=1).addresses(PREPARED, KEY_COUNT)
    return cycle([{"scope": scope, "key": key} for scope, key in addresses])


def of_start(server: StdioServerParameters, first: Callable[[Client], Awaitable[None]]) -> Contender:
    """A round is one start, from nothing to the first answer. The end does not count."""

    async def one_round(number: int) -> Round:  # noqa: ARG001 - every start is like the others
        begun = time.perf_counter()
        async with connected(server) as (client, _):
            await first(client)
            taken_s = time.perf_counter() - begun
        return Round(taken_s, [taken_s])

    return one_round
