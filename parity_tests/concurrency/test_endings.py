"""How an adapter ends: closed once or twice, beside other calls, in a fork, by being forgotten."""

import asyncio
import gc
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from amfs_sqlite import AdapterClosedError, SqliteAdapter
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.sqlite.internals import lanes_of, left_running

SCRIPT_TIMEOUT_S = 50
OPENED = """
import asyncio, os, sys
from amfs_sqlite import AdapterClosedError, SqliteAdapter
from parity_tests.drafts import draft

async def opened():
    adapter = SqliteAdapter(sys.argv[1])
    await adapter.open()
    await adapter.write(draft())
    held.append(adapter)
    return adapter

held = []
"""


def run(script: str, path: str) -> "subprocess.CompletedProcess[str]":
    """Run a script that imports what this process can import."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", OPENED + script, path]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=SCRIPT_TIMEOUT_S, check=False
    )


async def stored_keys(path: str) -> list[str]:
    async with SqliteAdapter(path) as adapter:
        assert (await adapter.verify()).findings == ()
        return [entry.key for entry in await adapter.list()]


@proves("endings.closing-beside-calls")
async def test_a_write_beside_two_closings_is_stored_or_refused(path: str) -> None:
    for number in range(20):
        adapter = SqliteAdapter(path)
        await adapter.open()
        early, _, late, _ = await asyncio.gather(
            adapter.write(draft(key=f"early-{number}")),
            adapter.close(),
            adapter.write(draft(key=f"late-{number}")),
            adapter.close(),
            return_exceptions=True,
        )
        keys = await stored_keys(path)
        for name, answer in (("early", early), ("late", late)):
            refused = isinstance(answer, AdapterClosedError)
            assert refused or not isinstance(answer, BaseException)
            assert (f"{name}-{number}" in keys) is not refused
        with pytest.raises(AdapterClosedError):
            await adapter.write(draft())


@proves("endings.closing-beside-calls")
async def test_what_was_asked_before_closing_is_answered(path: str) -> None:
    adapter = SqliteAdapter(path)
    await adapter.open()
    writes = [asyncio.ensure_future(adapter.write(draft(key=str(each)))) for each in range(50)]
    await asyncio.sleep(0)
    await adapter.close()
    assert [(await each).version for each in writes] == [1] * 50
    assert len(await stored_keys(path)) == 50


@proves("endings.opening-twice")
async def test_opening_at_once_several_times_opens_once(path: str) -> None:
    before = threading.active_count()
    adapter = SqliteAdapter(path)
    await asyncio.gather(*(adapter.open() for _ in range(5)))
    writer, reader = lanes_of(adapter)
    assert threading.active_count() <= before + 3  # and the one that watches for the end of all
    await adapter.open()
    assert lanes_of(adapter) == (writer, reader)
    await asyncio.gather(*(adapter.close() for _ in range(5)))
    async with adapter:
        assert (await adapter.write(draft())).version == 1


@proves("endings.other-loop")
def test_another_loop_is_refused_and_may_still_close(path: str) -> None:
    adapter = SqliteAdapter(path)
    asyncio.run(adapter.open())
    for call in (adapter.write(draft()), adapter.stats()):
        with pytest.raises(AdapterClosedError, match="another event loop"):
            asyncio.run(call)
    asyncio.run(adapter.close())
    assert asyncio.run(stored_keys(path)) == []


@proves("endings.other-loop")
def test_loops_in_several_threads_share_a_file_through_adapters_of_their_own(path: str) -> None:
    async def work(name: str) -> None:
        async with SqliteAdapter(path) as adapter:
            await asyncio.gather(*(adapter.write(draft(key=f"{name}-{each}")) for each in range(25)))

    threads = [threading.Thread(target=lambda name=name: asyncio.run(work(name))) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(asyncio.run(stored_keys(path))) == 100


@proves("endings.forgotten")
@pytest.mark.parametrize("last_call_fails", [False, True])
async def test_an_adapter_that_is_dropped_warns_and_ends_its_threads(
    path: str, last_call_fails: bool
) -> None:
    before = set(threading.enumerate())
    adapter = SqliteAdapter(path)
    await adapter.open()
    await adapter.write(draft())
    if last_call_fails:
        with pytest.raises(ValueError, match="finite"):
            await adapter.read("svc/a", "k", min_confidence=float("nan"))
        with pytest.raises(ValueError, match="finite"):
            await adapter.write(draft(confidence=float("nan")))
    assert await adapter.list() != []
    assert len(set(threading.enumerate()) - before) >= 2
    await asyncio.sleep(0)  # The loop, too, holds on to the last answer until its next turn.
    del adapter
    with pytest.warns(ResourceWarning, match=f"{Path(path).name} was never closed"):
        gc.collect()
    assert left_running(before) == []
    assert await stored_keys(path) == ["k"]


@proves("endings.forgotten")
@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        ("adapter = asyncio.run(opened())", 0, ""),
        (
            "async def fail():\n    adapter = await opened()\n    1 / 0\nasyncio.run(fail())",
            1,
            "ZeroDivisionError",
        ),
        ("async def leave():\n    adapter = await opened()\n    sys.exit(3)\nasyncio.run(leave())", 3, ""),
    ],
    ids=["ends", "raises", "exits"],
)
async def test_a_program_that_forgets_to_close_ends_by_itself_and_says_so(
    path: str, script: str, code: int, said: str
) -> None:
    ended = run(script, path)
    assert ended.returncode == code
    assert f"{Path(path).name} was never closed" in ended.stderr
    assert said in ended.stderr
    assert await stored_keys(path) == ["k"]


FORKED = """
import multiprocessing

def child(adapter):
    async def use():
        for call in (adapter.read("svc/a", "k"), adapter.write(draft(key="child"))):
            try:
                await call
            except AdapterClosedError as error:
                print(error)
        await adapter.close()
        async with SqliteAdapter(sys.argv[1]) as own:
            await own.write(draft(key="child"))
    asyncio.run(use())

async def main():
    adapter = await opened()
    process = multiprocessing.get_context("fork").Process(target=child, args=(adapter,))
    process.start()
    process.join()
    await adapter.write(draft(key="parent"))
    await adapter.close()
    print("parent goes on, child ended with", process.exitcode)

asyncio.run(main())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@proves("endings.fork")
async def test_a_forked_child_is_refused_and_its_end_does_not_touch_the_parent(path: str) -> None:
    ended = run(FORKED, path)
    lines = ended.stdout.splitlines()
    assert lines[-1:] == ["parent goes on, child ended with 0"], ended.stderr
    assert len(lines) == 3
    assert all("does not survive a fork" in line for line in lines[:2])
    assert "never closed" not in ended.stderr
    assert await stored_keys(path) == ["k", "child", "parent"]
