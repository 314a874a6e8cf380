"""Readings as objects, for clients of a server that was started with --structured.

An object holds what the text beside it shows, under names that stay. What there is none of is '', 0
or an empty list: every member is there, and of one type.
"""

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from amfs_sqlite.clock import spelled
from amfs_sqlite.models import EntryRef, Finding, MemoryEntry, SearchPage, VerifyReport
from amfs_sqlite.sqlite import StoreDescription
from bridge import rendering
from bridge.mcp_server import records
from bridge.mcp_server.workplace import Workplace
from bridge.operations import packets, statistics

Object = dict[str, Any]
Schema = dict[str, Any]
Facts = Callable[[int], Object]
"""Makes the object of one record with at most this many bytes of its value."""


def size(made: Object) -> int:
    """Bytes of it on the wire."""
    return rendering.size(json.dumps(made, ensure_ascii=False, separators=(",", ":")))


def facts(at: Workplace, entries: Sequence[MemoryEntry], *, hashes: bool = False) -> list[Facts]:
    """What makes the objects of these records; nothing where only text is wanted."""
    return [partial(_beginning, entry, hashes) for entry in entries] if at.settings.structured else []


def record(entry: MemoryEntry, start: int, end: int, *, hashes: bool = False) -> Object:
    """One record with this part of its value."""
    value = rendering.Value(entry.value)
    made = {
        "ref": str(entry.ref),
        "version": entry.version,
        "confidence": entry.confidence,
        "agentId": entry.agent_id,
        "writtenAt": spelled(entry.written_at),
        "tagCount": len(entry.tags),
        "tags": records.some_tags(entry.tags),
        "shared": entry.shared,
        "expiresAt": "" if entry.ttl_at is None else spelled(entry.ttl_at),
        "valueKind": value.kind,
        "value": value.raw[start:end],
        "valueStart": start,
        "valueEnd": end,
        "valueLength": len(value.raw),
    }
    if hashes:
        made |= {"contentHash": entry.content_hash or "", "integrityChain": entry.integrity_chain or ""}
    return made


def _beginning(entry: MemoryEntry, hashes: bool, value_bytes: int) -> Object:
    return record(entry, 0, rendering.Value(entry.value).reach(value_bytes), hashes=hashes)


def recalled(
    found: Sequence[Object], cursor: str | None, page: SearchPage | None = None, hints: Sequence[str] = ()
) -> Object:
    """What `recall` found; with no page it read one record."""
    return {
        "note": records.STORED,
        "records": list(found),
        "belowConfidenceCount": 0 if page is None else page.below_confidence_count,
        "expiredCount": 0 if page is None else page.expired_count,
        "hints": list(hints),
        "nextCursor": cursor or "",
    }


def history(versions: Sequence[Object], cursor: str) -> Object:
    """The versions that `history` tells of."""
    return {"note": records.STORED, "versions": list(versions), "nextCursor": cursor}


def nothing_waits(held: Sequence[str], own: Sequence[str]) -> Object:
    """What `resume` says where nothing waits."""
    empty: dict[str, Any] = {"string": "", "integer": 0, "boolean": False, "array": []}
    none = {name: empty[schema["type"]] for name, schema in RESUME.items()}
    return none | {"note": records.STORED, "held": list(held), "own": list(own)}


def resumed(taken: packets.Taken, *, claimed: bool, steps: Object) -> Object:
    """A packet without its records; ``steps`` is what its text shows of what the giver wrote."""
    packet = taken.packet
    lease = packet.lease_until if claimed else None
    return {
        "note": records.STORED,
        "waits": True,
        "handoffId": packet.id,
        "fromAgent": packet.from_agent,
        "toAgent": packet.to_agent or "",
        "createdAt": spelled(packet.created_at),
        "claimedBy": (packet.claimed_by or "") if claimed else "",
        "leaseUntil": "" if lease is None else spelled(lease),
        **steps,
        "recordCount": len(taken.records),
        "staleCount": len(taken.stale),
        "own": [],
        "waitingCount": taken.waiting_count,
    }


def stale(each: packets.Stale) -> Object:
    """One warning."""
    return {
        "ref": str(EntryRef(entity_path=each.entity_path, key=each.key)),
        "pinnedVersion": each.pinned_version,
        "currentVersion": each.current_version or 0,
        "change": each.change,
    }


def place(at: Workplace, store: StoreDescription) -> Object:
    """Where the memory is."""
    return {
        "file": store.path,
        "fileBytes": store.file_bytes,
        "walBytes": store.wal_bytes,
        "agent": at.session.agent_id,
        "session": at.session.session_id,
        "namespace": at.settings.namespace,
        "durability": at.settings.durability,
        "journal": store.journal_mode,
        "schemaVersion": store.schema_version,
        "sqliteVersion": store.sqlite_version,
        "knownFaults": list(store.known_faults),
    }


def counts(summary: statistics.StoreSummary) -> Object:
    """What it holds."""
    return {
        "recordCount": summary.stats.total_entries,
        "scopeCount": summary.stats.total_entities,
        "agentCount": summary.stats.total_agents,
        "versionCount": summary.stats.version_count,
        "commitCount": summary.stats.commit_count,
        "outcomeCount": summary.stats.outcome_count,
        "averageConfidence": summary.stats.confidence_avg,
        "packets": dict(summary.packets),
    }


def verified(report: VerifyReport | None, shown_count: int) -> Object:
    """What verify found, where it was asked for."""
    if report is None:
        return {"verified": False, "checked": dict.fromkeys(CHECKED, 0), "findingCount": 0, "findings": []}
    checked = (report.key_count, report.version_count, report.commit_count, report.outcome_count)
    return {
        "verified": True,
        "checked": dict(zip(CHECKED, checked, strict=True)),
        "findingCount": len(report.findings),
        "findings": [_finding(each) for each in report.findings[:shown_count]],
    }


def _finding(finding: Finding) -> Object:
    ref = ""
    if finding.entity_path is not None and finding.key is not None:
        found = EntryRef(entity_path=finding.entity_path, key=finding.key, version=finding.version)
        ref = str(found)
    return {
        "code": finding.code,
        "ref": ref,
        "commitId": finding.commit_id or "",
        "message": finding.message,
    }


def closed(members: dict[str, Schema]) -> Schema:
    """An object with exactly these members."""
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


CHECKED = ("keys", "versions", "commits", "outcomes")

_TEXT: Schema = {"type": "string"}
_COUNT: Schema = {"type": "integer"}
_FLAG: Schema = {"type": "boolean"}
_NUMBER: Schema = {"type": "number"}
_CURSOR: Schema = {"type": "string", "description": "Empty: this is all"}
_RECORD: dict[str, Schema] = {
    "ref": _TEXT,
    "version": _COUNT,
    "confidence": _NUMBER,
    "agentId": _TEXT,
    "writtenAt": _TEXT,
    "tagCount": _COUNT,
    "tags": _list(_TEXT),
    "shared": _FLAG,
    "expiresAt": {"type": "string", "description": "Empty: never"},
    "valueKind": {"type": "string", "description": "text, or JSON of anything else"},
    "value": {"type": "string", "description": "Its characters from valueStart to valueEnd"},
    "valueStart": _COUNT,
    "valueEnd": _COUNT,
    "valueLength": {"type": "integer", "description": "More than valueEnd: cut"},
}
_STALE = {"ref": _TEXT, "pinnedVersion": _COUNT, "currentVersion": _COUNT, "change": _TEXT}
_FINDING = {"code": _TEXT, "ref": _TEXT, "commitId": _TEXT, "message": _TEXT}

RECALL: dict[str, Schema] = {
    "note": _TEXT,
    "records": _list(closed(_RECORD)),
    "belowConfidenceCount": _COUNT,
    "expiredCount": _COUNT,
    "hints": {"type": "array", "items": _TEXT, "description": "What may have been meant where nothing is"},
    "nextCursor": _CURSOR,
}
HISTORY: dict[str, Schema] = {
    "note": _TEXT,
    "versions": _list(closed({**_RECORD, "contentHash": _TEXT, "integrityChain": _TEXT})),
    "nextCursor": _CURSOR,
}
RESUME: dict[str, Schema] = {
    "note": _TEXT,
    "waits": {"type": "boolean", "description": "False: nothing does, and only held and own say anything"},
    "handoffId": _TEXT,
    "fromAgent": _TEXT,
    "toAgent": {"type": "string", "description": "Empty: whoever comes"},
    "createdAt": _TEXT,
    "claimedBy": {"type": "string", "description": "Empty: only looked at"},
    "leaseUntil": {"type": "string", "description": "Empty: without end"},
    "summary": _TEXT,
    "nextStepCount": _COUNT,
    "nextSteps": _list(_TEXT),
    "openQuestionCount": _COUNT,
    "openQuestions": _list(_TEXT),
    "recordCount": _COUNT,
    "staleCount": _COUNT,
    "records": _list(closed(_RECORD)),
    "stale": _list(closed(_STALE)),
    "held": {"type": "array", "items": _TEXT, "description": "Other packets you hold"},
    "own": {"type": "array", "items": _TEXT, "description": "Given in this session, for another"},
    "waitingCount": {"type": "integer", "description": "Other packets that wait for you; 100 is 100 or more"},
}
MEMORY_STATS: dict[str, Schema] = {
    "file": _TEXT,
    "fileBytes": _COUNT,
    "walBytes": _COUNT,
    "agent": _TEXT,
    "session": _TEXT,
    "namespace": _TEXT,
    "durability": _TEXT,
    "journal": _TEXT,
    "schemaVersion": _COUNT,
    "sqliteVersion": _TEXT,
    "knownFaults": _list(_TEXT),
    "recordCount": _COUNT,
    "scopeCount": _COUNT,
    "agentCount": _COUNT,
    "versionCount": _COUNT,
    "commitCount": _COUNT,
    "outcomeCount": _COUNT,
    "averageConfidence": _NUMBER,
    "packets": closed(dict.fromkeys(packets.PACKET_STATES, _COUNT)),
    "verified": _FLAG,
    "checked": closed(dict.fromkeys(CHECKED, _COUNT)),
    "findingCount": _COUNT,
    "findings": _list(closed(_FINDING)),
}
