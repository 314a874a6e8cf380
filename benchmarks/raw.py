"""The limit: the same work by hand, on ``sqlite3`` alone, in one thread, one operation after another.

It writes the same rows into the same tables as ``SqliteAdapter``, with the same hashes, pragmas and
transactions, so that the adapter's own verification passes over them, and it reads into the same
models. It knows only what the benchmarks store: one namespace, no tags, no expiry, no unknown fields.
It checks no argument, crosses to no thread, keeps no other process waiting fairly and tells nobody.
"""

import hashlib
import json
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from amfs_sqlite import AMFS_0_3, MemoryEntry, OutcomeRecord, OutcomeType
from amfs_sqlite.rules.hashing import COMMIT_FORM, RECORD_FORM
from amfs_sqlite.rules.text import TOKENIZER_VERSION, entry_tokens
from amfs_sqlite.sqlite.database.files import APPLICATION_ID
from amfs_sqlite.sqlite.migrate import NEWEST
from amfs_sqlite.sqlite.rows import entry_of, microseconds

NAMESPACE, BRANCH = "default", "main"
HERE = f"c.namespace = '{NAMESPACE}' AND c.branch = '{BRANCH}'"

UNINDEXED_LIMIT = 200
SETTINGS = (
    "PRAGMA trusted_schema = OFF",
    "PRAGMA wal_autocheckpoint = 2000",
    "PRAGMA journal_size_limit = 16777216",
)

ENTRY = """
SELECT c.entity_path, c.key, c.version, c.value, c.amfs_version, c.agent_id, c.session_id,
       c.written_at, c.tags, c.shared, c.ttl_at, c.artifact_refs, c.extra, c.content_hash,
       c.integrity_chain, m.id, c.confidence, c.outcome_count, c.success_count, c.failure_count, NULL,
       c.kind"""
WITH_COMMIT = "LEFT JOIN commits AS m ON m.sequence = c.sequence"
ADDRESS = f"{HERE} AND c.entity_path = ? AND c.key = ?"
READ = f"{ENTRY} FROM current AS c {WITH_COMMIT} WHERE {ADDRESS}"
LIST = f"""{ENTRY} FROM current AS c {WITH_COMMIT}
WHERE {HERE} AND c.entity_path >= ?1 AND c.entity_path < ?1 || '0'
AND (c.entity_path = ?1 OR c.entity_path >= ?1 || '/') ORDER BY c.id"""
KEY_ID = f"SELECT c.id FROM current AS c WHERE {ADDRESS}"
VERSIONS = """
SELECT v.version, v.value, v.amfs_version, v.agent_id, v.session_id, v.written_at, v.tags, v.shared,
       v.ttl_at, v.artifact_refs, v.extra, v.content_hash, v.integrity_chain, m.id,
       v.confidence, v.outcome_count, v.success_count, v.failure_count
FROM versions AS v LEFT JOIN commits AS m ON m.sequence = v.sequence
WHERE v.key_id = ? ORDER BY v.version LIMIT ?"""
WRITTEN_AT, CONFIDENCE = 5, 14
MOVED_IN_PLACE = """
SELECT version, confidence_after, success FROM outcome_effects
WHERE key_id = ? AND resulting_version = version ORDER BY id"""

SEARCH = f"""{ENTRY} FROM text_index AS x CROSS JOIN current AS c ON c.id = x.rowid {WITH_COMMIT}
WHERE text_index MATCH ? AND {HERE} AND (c.ttl_at IS NULL OR c.ttl_at > ?)
ORDER BY c.version_id DESC LIMIT ?"""
EXPIRED_COUNT = f"SELECT count(*) FROM current AS c WHERE {HERE} AND c.ttl_at IS NOT NULL AND c.ttl_at <= ?"
INDEXED_THROUGH = f"SELECT indexed_version_id FROM text_state WHERE tokenizer_version = {TOKENIZER_VERSION}"
PENDING = f"""{ENTRY}, c.version_id, c.id
FROM versions AS v JOIN current AS c ON c.id = v.key_id AND c.version_id = v.id {WITH_COMMIT}
WHERE v.id > ? ORDER BY v.id"""
INDEX = "INSERT OR REPLACE INTO text_index (rowid, tokens) VALUES (?, ?)"
ADVANCE = "UPDATE text_state SET indexed_version_id = ?"

HEAD = "SELECT sequence, digest FROM head"
NEWEST_COMMIT = f"""
SELECT id FROM commits WHERE namespace = '{NAMESPACE}' AND branch = '{BRANCH}' AND kind <> 'description'
ORDER BY sequence DESC LIMIT 1"""
NEWEST_VERSION = "SELECT coalesce(max(id), 0) FROM versions"
STANDING = f"SELECT c.id, c.version, c.integrity_chain FROM current AS c WHERE {ADDRESS}"
INSERT_CURRENT = f"""
INSERT INTO current (namespace, branch, tags, extra, kind, value, amfs_version, agent_id, session_id,
                     written_at, shared, content_hash, integrity_chain, version_id, version, sequence,
                     confidence, outcome_count, success_count, failure_count, entity_path, key)
VALUES ('{NAMESPACE}', '{BRANCH}', '[]', '{{}}', 'write', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?)
"""
UPDATE_CURRENT = """
UPDATE current SET tags = '[]', extra = '{}', kind = 'write', value = ?, amfs_version = ?, agent_id = ?,
       session_id = ?, written_at = ?, shared = ?, content_hash = ?, integrity_chain = ?, version_id = ?,
       version = ?, sequence = ?, confidence = ?, outcome_count = ?, success_count = 0, failure_count = 0
WHERE id = ?"""
INSERT_VERSION = """
INSERT INTO versions (tags, extra, kind, value, amfs_version, agent_id, session_id, written_at, shared,
                      content_hash, integrity_chain, id, version, sequence, confidence, outcome_count,
                      success_count, failure_count, key_id, extra_hash, record_digest)
VALUES ('[]', '{}', 'write', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?)"""
INSERT_COMMIT = f"""
INSERT INTO commits (sequence, namespace, branch, id, kind, message, author, session_id, parent_ids,
                     tree_hash, listed, created_at, digest)
VALUES (?, '{NAMESPACE}', '{BRANCH}', ?, ?, '', ?, ?, ?, ?, '[]', ?, ?)"""
MOVE_HEAD = "UPDATE head SET sequence = ?, digest = ?"

MOVE_OPINION = """
UPDATE current SET version_id = ?, version = ?, kind = 'outcome', integrity_chain = ?, sequence = ?,
       confidence = ?, outcome_count = ?, success_count = ?, failure_count = ? WHERE id = ?"""
COPY_CURRENT = """
INSERT INTO versions (tags, extra, kind, value, amfs_version, agent_id, session_id, written_at, shared,
                      ttl_at, artifact_refs, content_hash, integrity_chain, id, version, sequence,
                      confidence, outcome_count, success_count, failure_count, key_id, extra_hash,
                      record_digest)
SELECT tags, extra, kind, value, amfs_version, agent_id, session_id, written_at, shared, ttl_at,
       artifact_refs, content_hash, integrity_chain, version_id, version, sequence, confidence,
       outcome_count, success_count, failure_count, id, ?, ? FROM current WHERE id = ?"""
STANDING_ENTRY = f"{ENTRY}, c.id FROM current AS c {WITH_COMMIT} WHERE {ADDRESS}"
INSERT_OUTCOME = f"""
INSERT INTO outcomes (sequence, newest_version_id, namespace, outcome_ref, outcome_type, agent_id, record,
                      digest)
VALUES (?, ?, '{NAMESPACE}', ?, ?, ?, ?, ?)"""
INSERT_EFFECT = """
INSERT INTO outcome_effects (outcome_id, key_id, version, policy, success, confidence_before,
                             confidence_after, applied, resulting_version)
VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?)"""

_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_canonical = json.JSONEncoder(sort_keys=True, allow_nan=False, separators=(",", ":")).encode


class RawStore(AbstractContextManager["RawStore"]):
    """A file that ``SqliteAdapter`` made, opened by hand. ``durability`` is ``full`` or ``normal``."""

    def __init__(self, path: Path, durability: str) -> None:
        self._unindexed = 0
        self._connection = sqlite3.connect(path, isolation_level=None, cached_statements=256)
        self._run: Callable[..., sqlite3.Cursor] = self._connection.execute
        self._run(f"PRAGMA synchronous = {durability}")
        for setting in SETTINGS:
            self._run(setting)
        schema = self._run("PRAGMA user_version").fetchone()
        application = self._run("PRAGMA application_id").fetchone()
        mode = self._run("PRAGMA journal_mode").fetchone()
        if (schema, application, mode) != ((NEWEST,), (APPLICATION_ID,), ("wal",)):
            raise ValueError(f"{path} is no store of this release")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def read(self, path: str, key: str) -> MemoryEntry | None:
        """The current entry."""
        row = self._run(READ, (path, key)).fetchone()
        return None if row is None else entry_of(row)

    def list(self, path: str) -> Sequence[MemoryEntry]:
        """All current entries at or below the path."""
        return [entry_of(row) for row in self._run(LIST, (path,))]

    def history(self, path: str, key: str, limit: int) -> Sequence[MemoryEntry]:
        """The first versions of an entry, as each of them last stood."""
        (key_id,) = self._run(KEY_ID, (path, key)).fetchone()
        rows: list[Any] = self._run(VERSIONS, (key_id, limit + 1)).fetchall()
        for version, after, success in self._run(MOVED_IN_PLACE, (key_id,)):
            if version <= len(rows):
                row = rows[version - 1]
                _, outcomes, successes, failures = row[CONFIDENCE:]
                opinion = (after, outcomes + 1, successes + success, failures + 1 - success)
                rows[version - 1] = (*row[:CONFIDENCE], *opinion)
        superseded = [*(row[WRITTEN_AT] for row in rows[1:]), None]
        shown = zip(rows[:limit], superseded, strict=False)
        return [entry_of((path, key, *row, at, "write")) for row, at in shown]

    def search(self, match: str, limit: int) -> tuple[Sequence[MemoryEntry], bool, int]:
        """The newest entries that match, whether there are more, and how many of all have expired."""
        self.index_pending()
        now = microseconds(datetime.now(UTC))
        rows = self._run(SEARCH, (match, now, limit + 1)).fetchall()
        (expired,) = self._run(EXPIRED_COUNT, (now,)).fetchone()
        return [entry_of(row) for row in rows[:limit]], len(rows) > limit, expired

    def index_pending(self) -> None:
        """Bring the text index up to date."""
        (through,) = self._run(INDEXED_THROUGH).fetchone()
        pending = self._run(PENDING, (through,)).fetchall()
        if not pending:
            return
        rows = [(row[-1], " ".join(entry_tokens(entry_of(row[:-2])))) for row in pending]
        with _Transaction(self._run):
            self._connection.executemany(INDEX, rows)
            self._run(ADVANCE, (pending[-1][-2],))
        self._unindexed = 0

    def _written(self, version_count: int) -> None:
        """Index when many versions are pending, as the adapter does; a search indexes what is left."""
        self._unindexed += version_count
        if self._unindexed >= UNINDEXED_LIMIT:
            self.index_pending()

    def write(self, entry: MemoryEntry) -> MemoryEntry:
        """Write the next version of an entry."""
        return self.write_batch((entry,))[0]

    def write_batch(self, entries: Sequence[MemoryEntry]) -> Sequence[MemoryEntry]:
        """Write several entries in one commit."""
        now = datetime.now(UTC)
        with _Transaction(self._run):
            commit = _Commit(self._run, now)
            written = [self._append(entry, commit) for entry in entries]
            commit.append("write", entries[0].agent_id, entries[0].provenance.session_id or None)
        self._written(len(written))
        return written

    def _append(self, entry: MemoryEntry, commit: "_Commit") -> MemoryEntry:
        run, by = self._run, entry.provenance
        path, key, confidence, outcomes = entry.entity_path, entry.key, entry.confidence, entry.outcome_count
        written_at = by.written_at or commit.now
        content = _sha256(_canonical(entry.value))
        before = run(STANDING, (path, key)).fetchone()
        key_id, version, chain = (None, 0, "") if before is None else before
        version, chain = version + 1, _sha256(content + chain)
        columns = (
            _text(entry.value), entry.amfs_version, by.agent_id, by.session_id, microseconds(written_at),
            entry.shared, content, chain, commit.next_version_id(), version, commit.sequence,
            confidence, outcomes,
        )  # fmt: skip
        record = _record_digest(
            path, key, str(version), "write", content, entry.amfs_version, by.agent_id, by.session_id,
            _spelled(written_at), NO_TAGS, "shared" if entry.shared else "private", None,
            repr(confidence), str(outcomes), "0", "0",
        )  # fmt: skip
        if key_id is None:
            key_id = run(INSERT_CURRENT, (*columns, path, key)).lastrowid
        else:
            run(UPDATE_CURRENT, (*columns, key_id))
        run(INSERT_VERSION, (*columns, key_id, NO_EXTRA, record))
        commit.add(content, record)
        return entry.model_copy(
            update={
                "version": version,
                "content_hash": content,
                "integrity_chain": chain,
                "commit_id": commit.id,
                "provenance": by.model_copy(update={"written_at": written_at}),
            }
        )

    def commit_outcome(self, record: OutcomeRecord) -> Sequence[MemoryEntry]:
        """Record an outcome by the policy AMFS_0_3, which makes a version of every entry it names."""
        now = datetime.now(UTC)
        wire = record.model_copy(update={"committed_at": record.committed_at or now}).to_wire()
        with _Transaction(self._run):
            commit = _Commit(self._run, now)
            newest = commit.newest_version_id
            moved = [self._move(ref.entity_path, ref.key, record, commit) for ref in record.refs]
            effects = [effect for _, effect, _ in moved]
            digest = _digest((_canonical(wire), *map(_canonical, effects)))
            named = (record.outcome_ref, record.outcome_type, record.agent_id)
            outcome = (commit.sequence, newest, *named, _text(wire), digest)
            outcome_id = self._run(INSERT_OUTCOME, outcome).lastrowid
            success = record.outcome_type == OutcomeType.SUCCESS
            rows = [
                (
                    outcome_id, key_id, effect["version"], AMFS_0_3.name, success,
                    effect["confidenceBefore"], effect["confidenceAfter"], effect["resultingVersion"],
                )
                for key_id, effect, _ in moved
            ]  # fmt: skip
            self._connection.executemany(INSERT_EFFECT, rows)
            commit.append("outcome", record.agent_id, record.session_id, (digest,))
        self._written(len(moved))
        return [entry for _, _, entry in moved]

    def _move(
        self, path: str, key: str, record: OutcomeRecord, commit: "_Commit"
    ) -> tuple[int, dict[str, Any], MemoryEntry]:
        """The key moved, what the outcome did to it in its wire form, and the entry after it."""
        row = self._run(STANDING_ENTRY, (path, key)).fetchone()
        (
            _, _, named, _, amfs_version, agent_id, session_id, _, _, shared, _, _, _, content, chain, _,
            before, outcomes, successes, failures, _, _, key_id,
        ) = row  # fmt: skip
        outcome = OutcomeType(record.outcome_type)
        success = int(outcome is OutcomeType.SUCCESS)
        after = AMFS_0_3.after(before, outcome, record.causal_confidence)
        version, chain = named + 1, _sha256(content + chain)
        opinion = (after, outcomes + 1, successes + success, failures + 1 - success)
        entry = entry_of((*row[:2], version, *row[3:14], chain, commit.id, *opinion, None, "outcome"))
        digest = _record_digest(
            path, key, str(version), "outcome", content, amfs_version, agent_id, session_id,
            _spelled(entry.written_at), NO_TAGS, "shared" if shared else "private", None,
            *(repr(number) for number in opinion),
        )  # fmt: skip
        moving = (commit.next_version_id(), version, chain, commit.sequence, *opinion, key_id)
        self._run(MOVE_OPINION, moving)
        self._run(COPY_CURRENT, (NO_EXTRA, digest, key_id))
        commit.add(content, digest)
        effect = {
            "entityPath": path,
            "key": key,
            "version": named,
            "policy": AMFS_0_3.name,
            "confidenceBefore": before,
            "confidenceAfter": after,
            "applied": True,
            "reason": None,
            "resultingVersion": version,
        }
        return key_id, effect, entry


class _Transaction(AbstractContextManager[None]):
    """One transaction that writes."""

    __slots__ = ("_run",)

    def __init__(self, run: Callable[..., sqlite3.Cursor]) -> None:
        self._run = run

    def __enter__(self) -> None:
        self._run("BEGIN IMMEDIATE")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._run("COMMIT" if kind is None else "ROLLBACK")


class _Commit:
    """A line of the commit log in the making."""

    __slots__ = ("_contents", "_previous", "_records", "_run", "id", "newest_version_id", "now", "sequence")

    def __init__(self, run: Callable[..., sqlite3.Cursor], now: datetime) -> None:
        self._run = run
        self.now = now
        self.id = secrets.token_hex(8)
        sequence, self._previous = run(HEAD).fetchone()
        self.sequence: int = sequence + 1
        self.newest_version_id: int = run(NEWEST_VERSION).fetchone()[0]
        self._contents: list[str] = []
        self._records: list[str] = []

    def next_version_id(self) -> int:
        """The id of the version that is written next."""
        self.newest_version_id += 1
        return self.newest_version_id

    def add(self, content_hash: str, record_digest: str) -> None:
        """A version was written."""
        self._contents.append(content_hash)
        self._records.append(record_digest)

    def append(self, kind: str, author: str, session_id: str | None, outcomes: Sequence[str] = ()) -> None:
        """Append it to the log."""
        newest = self._run(NEWEST_COMMIT).fetchone()
        parents = () if newest is None else newest
        tree = _sha256("\n".join(sorted(self._contents)))
        digest = _digest(
            (
                COMMIT_FORM, self._previous, str(self.sequence), self.id, NAMESPACE, BRANCH, kind, "", author,
                session_id, _digest(parents), _spelled(self.now), tree, "[]", None,
                _digest(self._records), _digest(outcomes),
            )
        )  # fmt: skip
        at = microseconds(self.now)
        row = (self.sequence, self.id, kind, author, session_id, _text(parents), tree, at, digest)
        self._run(INSERT_COMMIT, row)
        self._run(MOVE_HEAD, (self.sequence, digest))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _digest(fields: Iterable[str | None]) -> str:
    parts = [b"-;" if field is None else b"%d:%b;" % (len(e := field.encode()), e) for field in fields]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def _record_digest(*fields: str | None) -> str:
    return _digest((RECORD_FORM, NAMESPACE, BRANCH, *fields, None, NO_EXTRA))


def _spelled(moment: datetime) -> str:
    """As the rules spell an instant, for one that is in UTC already."""
    precision = "microseconds" if moment.microsecond % 1000 else "milliseconds"
    return moment.isoformat(timespec=precision).removesuffix("+00:00") + "Z"


NO_TAGS = _digest(())
NO_EXTRA = _sha256("{}")
