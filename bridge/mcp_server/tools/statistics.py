"""Where the memory is, what it holds, and whether it is whole."""

from typing import Annotated

from pydantic import Field

from amfs_sqlite.models import Finding, VerifyReport
from amfs_sqlite.sqlite import StoreDescription
from bridge import rendering
from bridge.mcp_server import pages, readings
from bridge.mcp_server.arguments import Arguments
from bridge.mcp_server.tool import Answer, MemoryTool
from bridge.mcp_server.workplace import Workplace
from bridge.operations import integrity, statistics

PATH_BYTES = 6_000


class MemoryStats(Arguments):
    """What `memory_stats` takes."""

    verify: Annotated[bool, Field(description="Also check every hash")] = False


async def memory_stats(at: Workplace, given: MemoryStats) -> Answer:
    """The file, the session, the counts; with verify also the findings."""
    summary = await statistics.stats(at.session)
    store = await at.describe()
    counts = summary.stats
    states = ", ".join(f"{count} {state}" for state, count in summary.packets.items())
    lines = [
        *_place(at, store),
        f"records: {counts.total_entries} in {counts.total_entities} scopes; expired ones too, packets not",
        f"agents: {counts.total_agents} wrote these records as they stand",
        f"versions: {counts.version_count} of these records",
        f"commits: {counts.commit_count}, of packets too",
        f"outcomes: {counts.outcome_count}",
        f"average confidence: {rendering.percent(counts.confidence_avg)} of these records",
        f"packets: {states}",
        *(rendering.one_line(fault) for fault in store.known_faults),
    ]
    report = await integrity.verify(at.session) if given.verify else None
    shown = [] if report is None else _findings_shown(at, report)
    if report is not None:
        lines += _verified(report, shown)
    if not at.settings.structured:
        return Answer("\n".join(lines))
    made = readings.place(at, store) | readings.counts(summary) | readings.verified(report, len(shown))
    return Answer("\n".join(lines), made)


def _place(at: Workplace, store: StoreDescription) -> list[str]:
    settings = at.settings
    return [
        f"file: {rendering.word(store.path, PATH_BYTES)}",
        f"bytes: {store.file_bytes}, and {store.wal_bytes} in the write-ahead log",
        f"agent: {rendering.word(at.session.agent_id)}",
        f"session: {rendering.word(at.session.session_id)}",
        f"namespace: {rendering.word(settings.namespace)}",
        f"durability: {settings.durability}",
        f"redaction of secrets: {'on' if settings.redact_secrets else 'off'}",
        f"journal: {store.journal_mode}",
        f"schema: {store.schema_version}",
        f"SQLite: {store.sqlite_version}",
    ]


def _findings_shown(at: Workplace, report: VerifyReport) -> list[str]:
    room_bytes = pages.ANSWER_BYTES - 5 * pages.FRAME_BYTES
    # An object tells them a second time, each at up to twice the length.
    share = 3 if at.settings.structured else 1
    return pages.fitting_texts([_finding(each) for each in report.findings], room_bytes // share)


def _verified(report: VerifyReport, shown: list[str]) -> list[str]:
    checked = (
        f"checked {report.key_count} keys, {report.version_count} versions, {report.commit_count} commits,"
        f" {report.outcome_count} outcomes of the whole file, packets too"
    )
    if report.ok:
        return [f"verify: {checked}; nothing found"]
    more = len(report.findings) - len(shown)
    return [
        f"verify: {checked}; {len(report.findings)} found: do not trust these records",
        *shown,
        *([f"{more} more; the command 'amfs-sqlite verify' has all"] if more else []),
    ]


def _finding(finding: Finding) -> str:
    where = ""
    if finding.entity_path is not None and finding.key is not None:
        at = "" if finding.version is None else f"@{finding.version}"
        where = f"  {rendering.word(f'{finding.entity_path}/{finding.key}{at}', rendering.NAME_BYTES)}"
    elif finding.commit_id is not None:
        where = f"  commit {rendering.word(finding.commit_id)}"
    return f"finding {finding.code}{where}  {rendering.one_line(finding.message)}"


MEMORY_STATS = MemoryTool(
    name="memory_stats",
    title="About this memory",
    description=(
        "Which file, agent and session this is, and counts. Call when memory seems wrong or"
        " empty; with verify when you suspect tampering."
    ),
    arguments=MemoryStats,
    run=memory_stats,
    reading=readings.MEMORY_STATS,
    reads_only=True,
    is_idempotent=True,
)
