"""What of the SDK's an export has, and that it counts what it has not."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from amfs_core.models import MemoryEntry, Provenance

from amfs_sqlite import ExportReader, SqliteAdapter
from parity_tests.ledger import proves

if TYPE_CHECKING:
    from amfs_sqlite.sync import SyncSqliteAdapter

WRITTEN = Provenance(agent_id="scout", session_id="s", written_at=datetime(2026, 1, 1, tzinfo=UTC))


@proves("transfer.beside")
async def test_an_export_has_the_entries_and_counts_what_stands_beside_the_log(
    sdk_adapter: "SyncSqliteAdapter", tmp_path: Path
) -> None:
    entry = MemoryEntry(entity_path="service", key="a/b", value=3, provenance=WRITTEN, embedding=[1.0, 0.5])
    sdk_adapter.write(entry)
    sdk_adapter.increment_recall_count("service", "a/b")
    sdk_adapter.close()
    lines: list[bytes] = []
    async with SqliteAdapter(tmp_path / "memory.db") as adapter:
        report = await adapter.export_to(lines.append)
    assert report.left_out == {"recall count": 1, "embedding": 1}
    waiting = iter(lines)
    async with SqliteAdapter(":memory:") as copy:
        await copy.import_from(ExportReader(lambda _limit: next(waiting, b"")))
        read = await copy.read("service", "a/b")
    assert read is not None
    assert read.value == 3
