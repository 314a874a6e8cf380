"""Key by key: each version against its hashes and the one before it, the current row against the newest."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from amfs_sqlite.models import Finding, FindingCode, MemoryEntry
from amfs_sqlite.rules.hashing import canonical_json, content_hash, hash_of, integrity_chain, record_digest
from amfs_sqlite.rules.progress import Meter
from amfs_sqlite.rules.values import decode, encode
from amfs_sqlite.sqlite.checks.derived import Derived
from amfs_sqlite.sqlite.checks.findings import TOUCHED, Part, finding, shown
from amfs_sqlite.sqlite.rows import UNREADABLE, UnreadableRowError, entry_of
from amfs_sqlite.sqlite.transaction import Transaction

COPIED = (
    "version", "value", "amfs_version", "agent_id", "session_id", "written_at", "tags", "shared", "ttl_at",
    "artifact_refs", "extra", "content_hash", "integrity_chain", "kind", "sequence",
)  # fmt: skip
IS_COPY = (
    f"({', '.join(f'c.{column}' for column in COPIED)}) IS ({', '.join(f'v.{column}' for column in COPIED)})"
)
VERSION = f"""
SELECT v.key_id, c.namespace, c.branch, v.kind, v.record_digest, v.id, v.sequence, v.extra_hash,
       x.sequence, v.sequence >= :first,
       c.version, CASE WHEN c.version_id = v.id THEN {IS_COPY} ELSE 0 END,
       c.confidence, c.outcome_count, c.success_count, c.failure_count,
       c.version_id = v.id AND NOT EXISTS (
           SELECT 1 FROM outcome_effects AS e WHERE e.key_id = v.key_id AND e.version = v.version),
       c.entity_path, c.key, v.version, v.value, v.amfs_version, v.agent_id, v.session_id,
       v.written_at, v.tags, v.shared, v.ttl_at, v.artifact_refs, v.extra, v.content_hash,
       v.integrity_chain, m.id, v.confidence, v.outcome_count, v.success_count, v.failure_count, NULL, v.kind
FROM versions AS v LEFT JOIN current AS c ON c.id = v.key_id
LEFT JOIN commits AS m ON m.sequence = v.sequence LEFT JOIN erasures AS x ON x.version_id = v.id"""
VERSIONS = f"{VERSION} ORDER BY v.key_id, v.version"
# Behind a commit: what was written or erased there, what that follows, and what is newest.
NEW_VERSIONS = f"""
{VERSION} WHERE v.key_id IN ({TOUCHED}) AND (
    v.sequence >= :first OR x.sequence >= :first OR c.version_id = v.id OR EXISTS (
        SELECT 1 FROM versions AS n
        WHERE n.key_id = v.key_id AND n.version = v.version + 1 AND n.sequence >= :first))
ORDER BY v.key_id, v.version"""
IN_PLACE = """
SELECT confidence_before, confidence_after, success FROM outcome_effects
WHERE key_id = ? AND version = ? AND resulting_version = version AND applied = 1 ORDER BY id"""
VERSIONLESS = """
SELECT c.entity_path, c.key FROM current AS c
WHERE NOT EXISTS (SELECT 1 FROM versions AS v WHERE v.key_id = c.id) ORDER BY c.id"""
# What a key's first version on a branch was built on.
BELOW = f"""
{VERSION} WHERE v.id = (SELECT p.version_id FROM branch_points AS p WHERE p.key_id = :key_id)"""
LISTING = "SELECT kind, namespace, branch, listed FROM commits WHERE sequence = ?"
UNERASED = """
SELECT x.sequence, m.id FROM erasures AS x LEFT JOIN commits AS m ON m.sequence = x.sequence
WHERE x.sequence >= :first AND NOT EXISTS (SELECT 1 FROM versions AS v WHERE v.id = x.version_id)
ORDER BY x.version_id"""

SHA256 = re.compile(r"[0-9a-f]{64}")
LISTINGS_KEPT = 16
NOTHING_HASH = content_hash(None)
EMPTY_HASH = content_hash({})
# Columns of an entry's row that may be damaged, and what stands for them then.
VALUE = 3
BLANKS = {VALUE: "null", 7: 0, 8: "[]", 10: None, 11: None, 12: "{}"}
FACTS = 17
"""How many columns stand before those of the entry."""


class Line(NamedTuple):
    """A version as it lies in the log, and beside it what its key's current row says."""

    key_id: int
    namespace: str
    branch: str
    kind: str
    record_digest: str
    version_id: int
    sequence: int
    extra_hash: str
    erased_by: int | None
    is_new: int
    current_version: int
    is_copied: int
    confidence: float
    outcome_count: int
    success_count: int
    failure_count: int
    is_unmoved: int
    entry: MemoryEntry
    damaged: frozenset[int] = frozenset()
    """The columns that cannot be read; what stands for them in ``entry`` is not what they hold."""
    value: str | None = None
    """The value's text: other programs may read it otherwise than we do, unless it is as we wrote it."""

    @property
    def at(self) -> tuple[str, str]:
        """Path and key."""
        return self.entry.entity_path, self.entry.key

    def finding(self, code: FindingCode, message: str) -> Finding:
        """Something about this version."""
        entry = self.entry
        return finding(code, message, self.at, version=entry.version, commit_id=entry.commit_id)


def key_findings(tx: Transaction, part: Part, meter: Meter) -> Iterator[Finding]:
    """What does not hold, in the order of keys and versions."""
    if part.is_whole:
        for path, key in tx.each(VERSIONLESS):
            yield finding("gap", "no version is left", (path, key))
    erasures, derived = _Erasures(tx), Derived(tx, part)
    rows = tx.each(VERSIONS if part.is_whole else NEW_VERSIONS, part.bound)
    for key_id, versions in groupby(rows, key=lambda row: row[0]):
        before: Line | None = None
        found: list[Finding] = []
        for row in versions:
            if row[1] is None:
                lost = {"version": row[FACTS + 2], "commit_id": row[FACTS + 15]}
                yield finding("link", "a version without its key", **lost)
                continue
            line = _line(row)
            found = [*_line_findings(line, before or _below(tx, line), part, erasures)]
            yield from found
            before = line
            if line.is_new:
                meter.count()
        if before is not None:
            found += (of_current := [*_current_findings(tx, key_id, before)])
            yield from of_current
            if not found:
                yield from derived.findings(key_id, before.version_id, before.entry)
    yield from derived.list_findings()
    for sequence, commit_id in tx.each(UNERASED, part.bound):
        yield finding("erasure", f"commit {sequence} erased a version that is missing", commit_id=commit_id)


def _line(row: Sequence[Any]) -> Line:
    return Line._make((*row[:FACTS], *_readable(row[FACTS:]), row[FACTS + VALUE]))


def _below(tx: Transaction, first: Line) -> Line | None:
    """The version, of another branch, that a key goes on from; None where it began on its own."""
    row = tx.one(BELOW, {"key_id": first.key_id, "first": 1}) if first.is_new else None
    return None if row is None or row[1] is None else _line(row)


def _readable(row: Sequence[Any]) -> tuple[MemoryEntry, frozenset[int]]:
    """The entry, with blanks for the columns that cannot be read any more, and which those are."""
    try:
        return entry_of(row), frozenset()
    except UnreadableRowError:
        cells = [shown(cell) for cell in row]
    others = [place for place in range(len(cells)) if place not in BLANKS]
    damaged = {place for place in others if cells[place] != row[place]}
    repaired = [BLANKS.get(place, cell) for place, cell in enumerate(cells)]
    for place in BLANKS:
        tried = [*repaired]
        tried[place] = row[place]
        try:
            entry_of(tried)
        except UnreadableRowError:
            damaged.add(place)
        else:
            repaired = tried
    return entry_of(repaired), frozenset(damaged)


def _line_findings(line: Line, before: Line | None, part: Part, erasures: "_Erasures") -> Iterator[Finding]:
    """Of a version that was there before only what was done to it since."""
    if line.is_new:
        yield from _version_findings(line, before)
    if line.erased_by is not None and (line.is_new or line.erased_by >= part.first):
        if not line.is_new:
            yield from _record_findings(line)
        if (problem := erasures.problem(line)) is not None:
            if line.value is None:
                yield line.finding("content", "the value is gone, and no commit erased it")
            yield line.finding("erasure", problem)


def _version_findings(line: Line, before: Line | None) -> Iterator[Finding]:
    entry = line.entry
    if before is not None and (before.namespace, *before.at) != (line.namespace, *line.at):
        yield line.finding("link", "goes on from a version of another key")
    expected = 1 if before is None else before.entry.version + 1
    if entry.version != expected:
        yield line.finding("gap", f"version {expected} is missing before version {entry.version}")
    elif before is not None and (line.version_id <= before.version_id or line.sequence < before.sequence):
        yield line.finding("order", "was stored before the version it follows")
    if not SHA256.fullmatch(entry.content_hash or ""):
        yield line.finding("algorithm", "contentHash is no SHA-256")
    elif (problem := _content_problem(line)) is not None:
        yield line.finding("content", problem)
    previous = None if before is None else before.entry.integrity_chain
    if not SHA256.fullmatch(entry.integrity_chain or ""):
        yield line.finding("algorithm", "integrityChain is no SHA-256")
    elif not _follows(entry, previous):
        yield line.finding("link", "integrityChain does not follow from the version before")
    yield from _record_findings(line)
    if entry.commit_id is None:
        yield line.finding("commit", "the commit that wrote this version is missing")


def _follows(entry: MemoryEntry, previous: str | None) -> bool:
    try:
        return integrity_chain(entry.content_hash or "", previous) == entry.integrity_chain
    except UNREADABLE:
        return False


def _record_findings(line: Line) -> Iterator[Finding]:
    if not SHA256.fullmatch(line.record_digest):
        yield line.finding("algorithm", "the record digest is no SHA-256")
    elif line.damaged - {VALUE} or not _has_its_record(line):
        yield line.finding("record", "something written with this version differs from its digest")


def _content_problem(line: Line) -> str | None:
    if line.value is None:
        if line.kind == "tombstone":
            return None if line.entry.content_hash == NOTHING_HASH else "a tombstone with another contentHash"
        return None if line.erased_by is not None else "the value is gone, and no commit erased it"
    if line.kind == "tombstone":
        return "a tombstone has a value"
    try:
        hashed = None if VALUE in line.damaged else _hash_as_stored(line.entry.value, line.value)
        holds = hashed == line.entry.content_hash
    except UNREADABLE:
        holds = False
    return None if holds else "the value does not hash to its contentHash"


def _hash_as_stored(value: Any, stored: str) -> str | None:
    """The contentHash of a value; None where its text is not the one that we write."""
    canonical = canonical_json(value)
    # Where the text is canonical and has no escape, it is the one that we write.
    is_as_written = canonical == stored and "\\" not in stored
    return hash_of(canonical) if is_as_written or encode(value) == stored else None


def _has_its_record(line: Line) -> bool:
    extra = line.entry.model_extra
    try:
        # Unknown fields go with the value, and their hash stays.
        gone = line.value is None and line.erased_by is not None
        extra_holds = gone or (content_hash(extra) if extra else EMPTY_HASH) == line.extra_hash
        return extra_holds and line.record_digest == record_digest(
            line.entry,
            namespace=line.namespace,
            branch=line.branch,
            kind=line.kind,
            extra_hash=line.extra_hash,
        )
    except UNREADABLE:
        return False


class _Erasures:
    """What the commits of kind erase list."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._listings: dict[int, tuple[Any, ...]] = {}

    def problem(self, line: Line) -> str | None:
        """Why a version is not one that was erased as its row says; None where it is."""
        if line.value is not None:
            return "a commit erased the version, and its value is there"
        if line.entry.model_extra or line.kind == "tombstone":
            return "a commit erased the version, and more than its value was there or is left"
        kind, namespace, branch, listed = self._listing(line.erased_by or 0)
        if kind != "erase":
            return f"commit {line.erased_by} is to have erased the version, and is none that erases"
        named = (*line.at, line.entry.version, line.entry.content_hash)
        if (namespace, branch) != (line.namespace, line.branch) or named not in listed:
            return f"commit {line.erased_by} is to have erased the version, and does not list it"
        return None

    def _listing(self, sequence: int) -> tuple[Any, ...]:
        if sequence not in self._listings:
            if len(self._listings) == LISTINGS_KEPT:
                del self._listings[next(iter(self._listings))]
            row = self._tx.one(LISTING, (sequence,))
            found = (None, None, None, "[]") if row is None else row
            self._listings[sequence] = (*found[:3], named_in(found[3]))
        return self._listings[sequence]


def named_in(listed: str) -> set[tuple[str, str, int, str]]:
    """Path, key, version and contentHash of what a commit lists; nothing where that cannot be read."""
    try:
        return {
            (each["entityPath"], each["key"], each["version"], each["contentHash"]) for each in decode(listed)
        }
    except (KeyError, *UNREADABLE):
        # The commit's digest says so.
        return set()


def _current_findings(tx: Transaction, key_id: int, newest: Line) -> Iterator[Finding]:
    entry = newest.entry
    if (current := newest.current_version) > entry.version:
        missing = f"version {current} is missing: version {entry.version} is the newest left"
        yield finding("gap", missing, newest.at, version=current)
        return
    if not newest.is_copied:
        yield newest.finding("link", "what is current differs from the newest version")
    stands, successes, failures = entry.confidence, entry.success_count, entry.failure_count
    for before, after, success in () if newest.is_unmoved else tx.each(IN_PLACE, (key_id, entry.version)):
        if before != stands:
            yield newest.finding("outcome", f"an outcome moved {before}, but {stands} stood there")
        stands, successes, failures = after, successes + success, failures + 1 - success
    moved = successes + failures - entry.success_count - entry.failure_count
    opinion = (stands, entry.outcome_count + moved, successes, failures)
    if (newest.confidence, newest.outcome_count, newest.success_count, newest.failure_count) != opinion:
        yield newest.finding("outcome", "confidence and counts do not follow from the outcomes recorded")
