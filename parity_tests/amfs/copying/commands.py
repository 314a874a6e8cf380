"""`copy` as a program runs it, and a memory that has something of everything."""

import io
import json
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from amfs_core.models import (
    AgentProfile,
    DecisionTrace,
    Event,
    EventType,
    GraphEdge,
    MemoryEntry,
    OutcomeRecord,
    OutcomeType,
    Provenance,
)

from amfs_sqlite.sync import SyncSqliteAdapter
from bridge.cli.main import main

KILLED = "parity_tests.amfs.copying.killed"
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
WAITS = {"most": 5, "waits": [1, 2.5]}


@dataclass(frozen=True)
class Copied:
    """How the command ended, and what it answered."""

    code: int
    report: Mapping[str, Any]

    def counts(self, name: str) -> dict[str, int]:
        """One number of the report, by kind, where it is not 0."""
        return {each["kind"]: each[name] for each in self.report["kinds"] if each[name]}

    def reason(self, kind: str) -> str | None:
        """Why a kind was not copied whole."""
        found: str | None = next(each["reason"] for each in self.report["kinds"] if each["kind"] == kind)
        return found

    def differences(self, how: str) -> set[str]:
        """The fields of entries that came to be so."""
        found = self.report["differences"]
        return {each["field"] for each in found if (each["kind"], each["how"]) == ("entries", how)}

    def left_out(self) -> dict[str, str]:
        """Why which version of an entry was left out."""
        return {
            f"{each['entityPath']}/{each['key']}@{each['version']}": each["reason"]
            for each in self.report["leftOut"]
            if each["kind"] == "entries"
        }


def copied(source: object, target: object, *more: str) -> Copied:
    """Run `copy` and read its answer."""
    out = io.StringIO()
    with redirect_stdout(out):
        code = main(["copy", str(source), "--to", str(target), "--json", *more])
    return Copied(code, json.loads(out.getvalue()))


def killed_copy(source: object, target: object, method: str, let_pass: int) -> None:
    """Run `copy` and kill it at one of its calls of an adapter's method."""
    program = [sys.executable, "-m", KILLED, method, str(let_pass), str(source), str(target)]
    ended = subprocess.run(program, capture_output=True, check=False)
    assert (ended.returncode < 0, ended.stdout) == (True, b""), ended.stderr


def entry(
    entity_path: str, key: str, value: Any, hour: int, agent: str = "scout", **more: Any
) -> MemoryEntry:
    """One that was written so many hours after the first."""
    provenance = Provenance(agent_id=agent, session_id=f"s-{agent}", written_at=FIRST + timedelta(hours=hour))
    return MemoryEntry(entity_path=entity_path, key=key, value=value, provenance=provenance, **more)


def filled(path: Path) -> Path:
    """A file with some of everything, all of which a whole database can hold."""
    with SyncSqliteAdapter(path) as memory:
        memory.write(entry("svc/api", "retry", 3, 0))
        memory.write(
            entry("svc/api", "retry", {"most": 5, "waits": [1, 2.5]}, 1, "executor", confidence=0.75)
        )
        memory.write(entry("svc/api", "limits/burst", "ten", 2))
        memory.commit_outcome(
            OutcomeRecord(
                outcome_ref="run-1",
                outcome_type=OutcomeType.SUCCESS,
                causal_entry_keys=["svc/api/retry"],
                agent_id="scout",
                committed_at=FIRST + timedelta(hours=3),
            )
        )
        memory.write(entry("svc/api", "retry", 8, 4))
        memory.save_trace(
            DecisionTrace(
                agent_id="scout",
                session_id="s-scout",
                outcome_ref="run-1",
                outcome_type="success",
                decision_summary="kept the retries",
                created_at=FIRST + timedelta(hours=3),
            )
        )
        memory.log_event(
            Event(agent_id="scout", event_type=EventType.READ, summary="looked", created_at=FIRST)
        )
        memory.ensure_agent("scout")
        memory.update_agent_profile("scout", AgentProfile(description="looks first"))
        memory.upsert_graph_edge(
            GraphEdge(
                source_entity="svc/api/retry",
                source_type="entry",
                relation="informed",
                target_entity="run-1",
                target_type="outcome",
                first_seen=FIRST,
                last_seen=FIRST,
            )
        )
    return path


def versions(path: Path) -> list[dict[str, Any]]:
    """All that a file of ours holds of entries, but for hashes and commits."""
    made = {"content_hash", "integrity_chain", "commit_id"}
    with SyncSqliteAdapter(path) as memory:
        report = memory.verify_integrity()
        assert (report["corrupted"], report["chain_breaks"]) == ([], [])
        return [each.model_dump(exclude=made) for each in memory.list(include_superseded=True)]
