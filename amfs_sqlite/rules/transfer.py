"""The export format: a store as JSON Lines, one object a line, in the order of its commit log.

The first line names the format and the store. Then each commit, followed by the versions it wrote and the
outcomes it recorded, in the order in which they were stored. The last line counts them all.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from amfs_sqlite.modelling import Model
from amfs_sqlite.models import LISTS_TOO, Commit, MemoryEntry, OutcomeEffect, OutcomeRecord, Strings

FORMAT = "amfs-sqlite export"
FORMAT_VERSION = 1
MAX_CONFLICTS_NAMED = 100
_ASCII = json.JSONEncoder(allow_nan=False, check_circular=False, separators=(",", ":")).encode


class ExportReport(Model):
    """What an export holds: the whole log as it stood at the commit ``sequence``.

    ``left_out`` counts what stands beside the log and is not in an export, by its name.
    """

    store_id: str
    commit_count: int
    version_count: int
    outcome_count: int
    sequence: int
    digest: str
    left_out: dict[str, int] = Field(default_factory=dict)


class ImportConflict(Model):
    """A key of which nothing more was imported, from which of its versions on, and why."""

    namespace: str
    entity_path: str
    key: str
    version: int
    reason: str


class ImportReport(Model):
    """What an import did, or with ``dry_run`` would do.

    What was ``known`` was stored here before. ``conflicts`` names the first 100 of ``conflict_count`` keys
    of which something was left out. ``kept_erased_count`` versions have a value in the export and were erased
    here: they stay erased. ``erased_count`` versions had a value here and were erased by the export; of those
    ``remains`` are sentences about copies that could not be removed from the files of the store.
    """

    store_id: str
    dry_run: bool
    commit_count: int = 0
    version_count: int = 0
    outcome_count: int = 0
    erased_count: int = 0
    known_commit_count: int = 0
    known_version_count: int = 0
    left_out_commit_count: int = 0
    left_out_version_count: int = 0
    kept_erased_count: int = 0
    conflict_count: int = 0
    conflicts: Annotated[tuple[ImportConflict, ...], LISTS_TOO] = ()
    remains: Strings = ()


@dataclass(frozen=True, slots=True)
class ExportedVersion:
    """A version as it was written, on the line of this number.

    ``value`` is the text of its value, None where it was erased and in a tombstone.
    """

    line: int
    entry: MemoryEntry
    kind: str
    value: str | None
    is_erased: bool
    extra_hash: str
    record_digest: str


@dataclass(frozen=True, slots=True)
class ExportedOutcome:
    """An outcome as it was reported, with its effects in order, on the line of this number."""

    line: int
    record: OutcomeRecord
    effects: Sequence[OutcomeEffect]


@dataclass(frozen=True, slots=True)
class ExportedCommit:
    """A commit and all it holds. ``commit.entries`` are what it names without having written it.

    ``previous`` is the digest of the commit before it.
    """

    line: int
    previous: str
    commit: Commit
    describes: str | None
    changes: Sequence[ExportedVersion | ExportedOutcome]


def first_line(store_id: str) -> bytes:
    """The line an export begins with."""
    return line({"format": FORMAT, "version": FORMAT_VERSION, "storeId": store_id})


def commit_line(commit: Commit, describes: str | None) -> bytes:
    """The line of a commit, before all it holds."""
    return line(
        {
            "commit": commit.to_wire(),
            "sequence": commit.sequence,
            "kind": commit.kind,
            "describes": describes,
            "digest": commit.digest,
        }
    )


def version_line(
    entry: MemoryEntry, *, kind: str, is_erased: bool, extra_hash: str, record_digest: str
) -> bytes:
    """The line of a version as it was written."""
    return line(
        {
            "entry": entry.to_wire(),
            "kind": kind,
            "erased": is_erased,
            "successCount": entry.success_count,
            "failureCount": entry.failure_count,
            "extraHash": extra_hash,
            "recordDigest": record_digest,
        }
    )


def outcome_line(record: Mapping[str, Any], effects: Sequence[OutcomeEffect], digest: str) -> bytes:
    """The line of an outcome, given in its wire form."""
    return line({"outcome": record, "effects": [effect.to_wire() for effect in effects], "digest": digest})


def last_line(report: ExportReport) -> bytes:
    """The line without which an export was cut."""
    return line({"end": ending(report)})


def ending(report: ExportReport) -> dict[str, Any]:
    """What the last line says."""
    return {
        "commits": report.commit_count,
        "versions": report.version_count,
        "outcomes": report.outcome_count,
        "sequence": report.sequence,
        "digest": report.digest,
    }


def line(members: Mapping[str, Any]) -> bytes:
    r"""One line of ASCII, which every encoding has and no terminal obeys. Raises ValueError for no JSON.

    >>> line({"a": "\u2028\x7f"})
    b'{"a":"\\u2028\\u007f"}\n'
    """
    return _ASCII(members).replace("\x7f", "\\u007f").encode("ascii") + b"\n"
