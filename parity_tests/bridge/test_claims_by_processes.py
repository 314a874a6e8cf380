"""Several processes on one file: one claim wins."""

import asyncio
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from amfs_sqlite import HANDOFF, SqliteAdapter
from bridge.operations import packets
from bridge.session import Session
from parity_tests.ledger import proves

PROCESSES = 8
PATIENCE_S = 45

_together: Barrier


@proves("bridge.claim-by-processes")
@pytest.mark.parametrize("agent", ["worker", ""])
def test_of_eight_processes_on_one_packet_exactly_one_gets_it(tmp_path: Path, agent: str) -> None:
    path = tmp_path / "shared.db"
    given = asyncio.run(_give(path, 1))
    names = [agent or f"worker-{number}" for number in range(PROCESSES)]
    taken = _all_at_once(path, names)
    assert sorted(taken, key=bool) == [None] * (PROCESSES - 1) + given
    (packet,) = asyncio.run(_listed(path))
    assert packet.claimed_by == names[taken.index(given[0])]


@proves("bridge.claim-by-processes")
def test_of_eight_processes_on_five_packets_none_gets_anothers(tmp_path: Path) -> None:
    path = tmp_path / "shared.db"
    given = asyncio.run(_give(path, 5))
    taken = _all_at_once(path, ["worker"] * PROCESSES)
    assert sorted(each for each in taken if each is not None) == sorted(given)
    assert {each.state for each in asyncio.run(_listed(path))} == {"claimed"}


def _all_at_once(path: Path, names: list[str]) -> list[str | None]:
    spawn = multiprocessing.get_context("spawn")
    together = spawn.Barrier(len(names))
    with ProcessPoolExecutor(len(names), mp_context=spawn, initializer=_begin, initargs=(together,)) as pool:
        return list(pool.map(_take, [path] * len(names), names))


def _begin(together: Barrier) -> None:
    global _together  # noqa: PLW0603 - how a pool's processes are given what only they inherit
    _together = together


def _take(path: Path, name: str) -> str | None:
    return asyncio.run(_taken(path, name))


async def _taken(path: Path, name: str) -> str | None:
    async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
        session = Session(adapter, name, "s")
        await asyncio.to_thread(_together.wait, PATIENCE_S)
        taken = await packets.take(session)
        return taken.packet.id if isinstance(taken, packets.Taken) else None


async def _give(path: Path, count: int) -> list[str]:
    async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
        session = Session(adapter, "giver", "s")
        return [(await packets.give(session, "to do")).packet.id for _ in range(count)]


async def _listed(path: Path) -> list[packets.Packet]:
    async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
        return list(await packets.list_packets(Session(adapter, "giver", "s")))
