"""AMFS's ``FilesystemAdapter`` by itself. It has no history of one key."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from amfs_core.models import (
    MemoryEntry,
    OutcomeRecord,
    OutcomeType,
    Provenance,
    SearchQuery,
)
from amfs_filesystem import FilesystemAdapter

from benchmarks.contestants.serving import SEARCH_LIMIT, Given, Operations, run_sync, versions
from benchmarks.workload import AGENT, RARE_WORD

RARE = SearchQuery(query=RARE_WORD, limit=SEARCH_LIMIT)


def entry(path: str, key: str, value: dict[str, Any]) -> Any:
    """An entry to be written."""
    by = Provenance(agent_id=AGENT, session_id="", written_at=datetime.now(UTC))
    return MemoryEntry(entity_path=path, key=key, value=value, provenance=by)


@contextmanager
def contestant(folder: Path) -> Iterator[Operations]:
    """The operations, on a folder with the workload."""
    store = FilesystemAdapter(folder / "amfs")
    for version in versions():
        store.write_batch([entry(*each) for each in version])

    def read(given: Given, number: int) -> int:
        return int(store.read(*given.addresses[number]) is not None)

    def search(_: Given, __: int) -> int:
        return len(store.search(RARE))

    def list_100(given: Given, number: int) -> int:
        return len(store.list(given.paths[number]))

    def write(given: Given, number: int) -> int:
        written = store.write(entry(*given.addresses[number], given.values[number]))
        return int(written.version > 1)

    def outcome_5(given: Given, number: int) -> int:
        record = OutcomeRecord(
            outcome_ref=f"{given.name}, {number}",
            outcome_type=OutcomeType.SUCCESS,
            agent_id=AGENT,
            committed_at=datetime.now(UTC),
            causal_entry_keys=["/".join(each) for each in given.groups[number]],
        )
        return len(store.commit_outcome(record))

    yield {
        "read": read,
        "search": search,
        "list 100": list_100,
        "write": write,
        "outcome 5": outcome_5,
    }
    store.close()


if __name__ == "__main__":
    run_sync(contestant)
