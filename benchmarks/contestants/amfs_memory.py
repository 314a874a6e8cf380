"""AMFS's SDK: ``AgentMemory`` on its ``FilesystemAdapter``.

What a session read makes its writes and outcomes dearer: each of them begins a fresh log, as a
short session would.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from amfs import AgentMemory
from amfs_core.models import OutcomeType
from amfs_filesystem import FilesystemAdapter

from benchmarks.contestants.amfs_adapter import entry
from benchmarks.contestants.serving import SEARCH_LIMIT, Given, Operations, run_sync, versions
from benchmarks.workload import AGENT, RARE_WORD


@contextmanager
def contestant(folder: Path) -> Iterator[Operations]:
    """The operations, on a folder with the workload."""
    store = FilesystemAdapter(folder / "amfs")
    for version in versions():
        store.write_batch([entry(*each) for each in version])
    memory = AgentMemory(AGENT, adapter=store)

    def read(given: Given, number: int) -> int:
        return int(memory.read(*given.addresses[number]) is not None)

    def search(_: Given, __: int) -> int:
        return len(memory.search(query=RARE_WORD, limit=SEARCH_LIMIT))

    def list_100(given: Given, number: int) -> int:
        return len(memory.list(given.paths[number]))

    def history_10(given: Given, number: int) -> int:
        return len(memory.history(*given.addresses[number]))

    def write(given: Given, number: int) -> int:
        memory.clear_read_log()
        return int(memory.write(*given.addresses[number], given.values[number]).version > 1)

    def outcome_5(given: Given, number: int) -> int:
        memory.clear_read_log()
        keys = ["/".join(each) for each in given.groups[number]]
        return len(memory.commit_outcome(f"{given.name}, {number}", OutcomeType.SUCCESS, keys))

    yield {
        "read": read,
        "search": search,
        "list 100": list_100,
        "history 10": history_10,
        "write": write,
        "outcome 5": outcome_5,
    }
    memory.close()


if __name__ == "__main__":
    run_sync(contestant)
