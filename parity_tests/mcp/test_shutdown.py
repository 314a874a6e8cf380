"""However it ends: with code 0, the store closed, and no write half done."""

import json
import os
import signal
import sys
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from amfs_sqlite import HANDOFF, SqliteAdapter
from parity_tests.ledger import proves
from parity_tests.mcp.agents import ERAS
from parity_tests.mcp.processes import COMMAND, PATIENCE_S, ServerProcess, environment, server

LISTEN = {"notifications": {"toolsListChanged": True}}
BURST = 100

on_posix = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no signals that a process could handle"
)


async def listen(served: ServerProcess) -> None:
    """Hold a stream of notices open, as clients of the newer era do."""
    if served.era != "legacy":
        await served.send(served.request(999, "subscriptions/listen", LISTEN))
        while (await served.read_message()).get("method") is None:
            pass


async def ask_for_writes(served: ServerProcess) -> list[int]:
    return [await served.ask("remember", scope="a", key=f"k{i}", value=f"{i}") for i in range(BURST)]


async def assert_whole(db: Path, acknowledged: set[int]) -> None:
    """What was acknowledged is there, what is there is whole, and the process let go of the file."""
    assert not await anyio.Path(f"{db}-wal").exists()
    async with SqliteAdapter(db, outcomes=HANDOFF) as adapter:
        stored = {int(entry.value): entry for entry in await adapter.list("a")}
        assert acknowledged <= stored.keys()
        assert all(entry.key == f"k{value}" for value, entry in stored.items())
        assert (await adapter.verify()).ok


def acknowledged(served: ServerProcess, asked: list[int]) -> set[int]:
    answers = served.answers()
    return {i for i, each in enumerate(asked) if "result" in answers.get(each, {})}


@on_posix
@proves("mcp.ends", "mcp.ends-writing")
@pytest.mark.parametrize(
    ("name", "era"), [("SIGTERM", "auto"), ("SIGINT", "legacy"), ("SIGINT", "auto"), ("SIGHUP", "auto")]
)
async def test_a_signal_ends_the_server_cleanly_amid_writes(tmp_path: Path, name: str, era: str) -> None:
    db = tmp_path / "m.db"
    async with server(db, era=era) as served:
        await listen(served)
        asked = await ask_for_writes(served)
        await served.read_message()
        served.process.send_signal(getattr(signal, name))
        assert await served.ended() == 0
    assert "Traceback" not in served.complaints
    await assert_whole(db, acknowledged(served, asked))


@proves("mcp.ends", "mcp.ends-writing")
@pytest.mark.parametrize("era", ERAS)
async def test_the_end_of_input_ends_the_server_and_every_write_before_it_is_answered(
    tmp_path: Path, era: str
) -> None:
    db = tmp_path / "m.db"
    async with server(db, era=era) as served:
        await listen(served)
        asked = await ask_for_writes(served)
        assert await served.leave() == 0
    assert "Traceback" not in served.complaints
    assert acknowledged(served, asked) == set(range(BURST))
    await assert_whole(db, set(range(BURST)))


@proves("mcp.ends")
async def test_the_server_ends_although_nobody_ever_asked_anything(tmp_path: Path) -> None:
    async with server(tmp_path / "m.db", greet=False) as served:
        assert await served.leave() == 0
    assert served.complaints == ""


@proves("mcp.client-gone")
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_is_gone_amid_answers_leaves_a_clean_end(tmp_path: Path, era: str) -> None:
    db = tmp_path / "m.db"
    reading, writing = os.pipe()
    async with server(db, era=era, stdout=writing) as served:
        os.close(writing)
        await served.open()
        assert await anyio.to_thread.run_sync(os.read, reading, 1) == b"{"
        os.close(reading)
        # The input stays open: only writing tells the server that nobody is there.
        await ask_for_writes(served)
        with anyio.fail_after(PATIENCE_S):
            assert await served.process.wait() == 0
    assert "Traceback" not in served.complaints
    await assert_whole(db, set())


@proves("mcp.ends")
async def test_a_client_that_reads_nothing_cannot_keep_the_server_alive(tmp_path: Path) -> None:
    db = tmp_path / "m.db"
    async with server(db) as served:
        await served.call("remember", scope="a", key="k0", value="0")
        await served.call("remember", scope="b", key="k", value="x" * 35_000)
        # More than the pipe holds.
        reads = served.request(1, "tools/call", {"name": "recall", "arguments": {"scope": "b"}})
        lines = [json.dumps({**reads, "id": i}) for i in range(1, 31)]
        await served.send("\n".join(lines).encode())
        assert served.process.stdin is not None
        await served.process.stdin.aclose()
        with anyio.fail_after(PATIENCE_S):
            assert await served.process.wait() == 0
    assert "not everything ended in 2.5 s; what was acknowledged is kept" in served.complaints
    assert "Traceback" not in served.complaints
    await assert_whole(db, {0})


@on_posix
@proves("mcp.ends")
async def test_a_server_whose_client_was_killed_ends_with_its_pipe_held_by_others(
    tmp_path: Path,
) -> None:
    # A process that outlives the client holds the writing end of the server's input.
    reading, writing = os.pipe()
    command = [*COMMAND, "--db", str(tmp_path / "m.db")]
    process = await anyio.open_process(command, stdin=reading, stderr=None, env=environment())
    os.close(reading)
    assert process.stdout is not None
    try:
        os.write(writing, b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n')
        with anyio.fail_after(PATIENCE_S):
            assert b'"id":1' in await process.stdout.receive()
            process.terminate()
            assert await process.wait() == 0
    finally:
        os.close(writing)
        if process.returncode is None:
            process.kill()
        await process.aclose()
