"""`stats`: where the store is, and what it holds."""

from collections.abc import Iterator, Mapping
from typing import Any

import click
from rich.text import Text

from amfs_sqlite.sqlite import StoreDescription
from bridge import rendering
from bridge.cli import records
from bridge.cli.layout import Row, fact
from bridge.cli.options import EPILOG, PLACE, answer, asked, full_option, json_option, setting_options
from bridge.cli.output import Output
from bridge.cli.store import Store
from bridge.operations import statistics
from bridge.operations.statistics import StoreSummary

NAMES_SHOWN = 10


@click.command(epilog=EPILOG)
@full_option
@json_option
@setting_options(*PLACE)
def stats(*, full: bool, as_json: bool) -> None:
    """Show the file and what it holds, in numbers.

    Packets are stored as records too: records, versions, agents and scopes leave them out, commits
    and outcomes do not.

    JSON: {"stats": {AMFS's names, and versionCount, commitCount, outcomeCount}, "packets": {state:
    count}, "store": {"path", "namespace", "sqliteVersion", "knownFaults", "journalMode",
    "schemaVersion", "fileBytes", "walBytes"}}.
    """
    namespace, summary, store = asked(_counted)
    answer(
        lambda: _document(namespace, summary, store),
        lambda out: _rows(out, namespace, summary, store, full=full),
        as_json=as_json,
    )


async def _counted(store: Store) -> tuple[str, StoreSummary, StoreDescription]:
    summary = await statistics.stats(store.session)
    return store.session.adapter.namespace, summary, await store.describe()


def _document(namespace: str, summary: StoreSummary, store: StoreDescription) -> dict[str, Any]:
    counts = summary.stats
    return {
        "stats": counts.to_wire()
        | {
            "versionCount": counts.version_count,
            "commitCount": counts.commit_count,
            "outcomeCount": counts.outcome_count,
        },
        "packets": dict(summary.packets),
        "store": {
            "path": store.path,
            "namespace": namespace,
            "sqliteVersion": store.sqlite_version,
            "knownFaults": list(store.known_faults),
            "journalMode": store.journal_mode,
            "schemaVersion": store.schema_version,
            "fileBytes": store.file_bytes,
            "walBytes": store.wal_bytes,
        },
    }


def _rows(
    out: Output, namespace: str, summary: StoreSummary, store: StoreDescription, *, full: bool
) -> Iterator[Row]:
    counts = summary.stats
    yield fact("file", out.name(store.path, "bold"))
    size = f"{store.file_bytes:,} bytes, and {store.wal_bytes:,} in the write-ahead log"
    yield fact("size", out.text(size))
    yield fact("namespace", out.name(namespace))
    average = records.confidence(out, counts.confidence_avg)
    yield fact("records", out.text(f"{counts.total_entries:,}"), average, out.text("confidence on average"))
    yield fact("versions", out.text(f"{counts.version_count:,}"))
    yield fact("commits", out.text(f"{counts.commit_count:,}"))
    yield fact("outcomes", out.text(f"{counts.outcome_count:,}"))
    yield fact("packets", *(out.text(f"{count:,} {state}") for state, count in summary.packets.items()))
    yield fact("agents", *_most(out, counts.agents, full=full))
    yield fact("scopes", *_most(out, counts.entities, full=full))
    how = f"{store.sqlite_version}, journal {store.journal_mode}, schema {store.schema_version}"
    yield fact("SQLite", out.text(how))
    for fault in store.known_faults:
        yield Row((out.line(fault, "yellow"),))


def _most(out: Output, counts: Mapping[str, int], *, full: bool) -> list[Text]:
    """How many names there are, and those with the most records."""
    ordered = sorted(counts, key=lambda name: (-counts[name], name))
    shown = ordered if full else ordered[:NAMES_SHOWN]
    cells = [out.text(f"{len(ordered):,}:" if ordered else "0")]
    cells += [out.text(f"{rendering.word(name)} ({counts[name]:,})") for name in shown]
    if len(shown) < len(ordered):
        cells.append(out.text(f"and {len(ordered) - len(shown):,} more: --full", "dim"))
    return cells
