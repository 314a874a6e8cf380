"""Commits: what may be asked for, and what becomes of a commit that comes from outside."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from amfs_sqlite.clock import spelled
from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.modelling import Model
from amfs_sqlite.models import (
    MAIN_BRANCH,
    Change,
    Commit,
    CommitEntry,
    MemoryEntry,
    Outcome,
    OutcomeRecord,
    Write,
)
from amfs_sqlite.rules.confidence import OutcomePolicy
from amfs_sqlite.rules.hashing import canonical_json, content_hash, digest
from amfs_sqlite.rules.limits import (
    MAX_ADDRESS_CHARACTERS,
    MAX_CHANGES,
    MAX_NOTE_CHARACTERS,
    check_count,
    check_entry,
    check_flag,
    check_name,
    check_optional_name,
    check_several,
    check_whole_number,
    unacceptable,
)
from amfs_sqlite.rules.outcomes import check_record
from amfs_sqlite.rules.values import decode, encode, encoded

M = TypeVar("M", bound=Model)


@dataclass(frozen=True, slots=True)
class PreparedWrite:
    """A write that was checked and written down when it was asked for: nothing done to the caller's
    objects afterwards changes it.

    ``entry`` has no value; ``value`` is its compact JSON text, ``content_hash`` its hash.
    """

    entry: MemoryEntry
    value: str
    content_hash: str
    expected_version: int | None
    carries_outcome_count: bool


@dataclass(frozen=True, slots=True)
class PreparedOutcome:
    """An outcome that was checked and copied when it was asked for."""

    record: OutcomeRecord


PreparedChange = PreparedWrite | PreparedOutcome


def prepare_commit(
    changes: Sequence[Change],
    policy: OutcomePolicy,
    *,
    author: str,
    message: str = "",
    session_id: str | None = None,
    idempotency_key: str | None = None,
) -> tuple[PreparedChange, ...]:
    """The changes of a commit, ready to be applied. Refuses what cannot be, whatever is stored."""
    check_several(changes, "changes")
    if not changes:
        raise InvalidArgumentError("changes", "are none; a commit makes at least one")
    check_change_count(len(changes))
    prepared = tuple(_prepared(change, policy) for change in changes)
    check_signature(author, message, session_id, idempotency_key)
    return prepared


def check_change_count(count: int) -> None:
    """Refuse more changes than one commit may hold."""
    if count > MAX_CHANGES:
        raise InvalidArgumentError("changes", f"are {count}; the limit is {MAX_CHANGES}")


def check_signature(author: str, message: str, session_id: str | None, idempotency_key: str | None) -> None:
    """Refuse what a commit cannot be signed, described or asked for with."""
    check_name(author, "author")
    check_name(message, "message", MAX_NOTE_CHARACTERS)
    check_optional_name(session_id, "session_id")
    check_optional_name(idempotency_key, "idempotency_key")


def check_batch(batch: Sequence[MemoryEntry], idempotency_key: str | None) -> None:
    """Refuse what is no batch. What its entries are is looked at one by one."""
    check_several(batch, "entries")
    if not batch:
        check_optional_name(idempotency_key, "idempotency_key")


def _prepared(change: Change, policy: OutcomePolicy) -> PreparedChange:
    if isinstance(change, Write):
        return prepare_write(change, policy)
    if isinstance(change, Outcome):
        return prepare_outcome(checked_model(change.record, OutcomeRecord, "record"), policy)
    raise InvalidArgumentError("changes", f"hold a {type(change).__name__}; use Write and Outcome")


def checked_model(given: object, kind: type[M], argument: str, /, **changes: Any) -> M:
    """The model with these changes, whose fields were checked anew. Raises InvalidArgumentError."""
    if not isinstance(given, kind):
        raise InvalidArgumentError(argument, f"is a {type(given).__name__}; make a {kind.__name__}")
    try:
        return given.revalidated(**changes)
    except ValidationError as refused:
        raise unacceptable(refused, argument) from refused


def prepare_write(write: Write, policy: OutcomePolicy) -> PreparedWrite:
    """One write, ready to be applied."""
    return prepare_entry(
        checked_entry(write.entry, "entry", value=None),
        write.entry.value,
        policy,
        write.expected_version,
        carries_outcome_count=write.carries_outcome_count,
    )


def checked_entry(given: object, argument: str, **changes: Any) -> MemoryEntry:
    """An entry to be written with these changes, its fields checked anew, without what is ours."""
    return checked_model(
        given,
        MemoryEntry,
        argument,
        superseded_at=None,
        success_count=0,
        failure_count=0,
        withdrawn=None,
        **changes,
    )


def prepare_entry(
    entry: MemoryEntry,
    value: Any,
    policy: OutcomePolicy,
    expected_version: int | None = None,
    *,
    carries_outcome_count: bool = False,
) -> PreparedWrite:
    """A checked entry and its value, ready to be written."""
    check_entry(entry)
    policy.check_confidence(entry.confidence)
    text, plain = encoded(value)
    if entry.model_extra:
        entry = entry.model_copy(update=decode(encode(entry.model_extra, "extra")))
    check_count(expected_version, "expected_version")
    check_flag(carries_outcome_count, "carries_outcome_count")
    return PreparedWrite(
        entry=entry,
        value=text,
        content_hash=content_hash(value if plain else decode(text)),
        expected_version=expected_version,
        carries_outcome_count=carries_outcome_count,
    )


def prepare_outcome(record: OutcomeRecord, policy: OutcomePolicy) -> PreparedOutcome:
    """A checked record, ready to be recorded."""
    check_record(record, policy)
    if record.model_extra:
        record = record.model_copy(update=decode(encode(record.model_extra, "extra")))
    return PreparedOutcome(record)


def payload_digest(changes: Sequence[PreparedChange], branch: str = MAIN_BRANCH) -> str:
    """What an idempotency key stands for: the request and its branch, without its time and session."""
    payloads = [] if branch == MAIN_BRANCH else [{"branch": branch}]
    return digest(*map(canonical_json, [*payloads, *(_payload(change) for change in changes)]))


def _payload(change: PreparedChange) -> Mapping[str, Any]:
    if isinstance(change, PreparedWrite):
        entry = change.entry
        return {
            "write": [entry.entity_path, entry.key],
            "value": change.content_hash,
            "confidence": entry.confidence,
            "tags": list(entry.provenance.pattern_refs),
            "shared": entry.shared,
            "ttl": None if entry.ttl_at is None else spelled(entry.ttl_at),
            "expected_version": change.expected_version,
        }
    wire = change.record.to_wire()
    return {"outcome": {name: wire[name] for name in wire if name not in ("committedAt", "sessionId")}}


def adopted_id(entries: Sequence[MemoryEntry], is_taken: Callable[[str], bool]) -> str | None:
    """The id that a batch's commit takes over: the one that all its entries name, unless taken.

    >>> batch = [MemoryEntry.draft("p", "k", 1, agent_id="a").model_copy(update={"commit_id": "c"})]
    >>> adopted_id(batch, lambda commit_id: False), adopted_id(batch, lambda commit_id: True)
    ('c', None)
    """
    named = {entry.commit_id for entry in entries}
    only = named.pop() if len(named) == 1 else None
    if not only:
        return None
    check_name(only, "commit_id")
    return None if is_taken(only) else only


def checked_commit(given: object) -> Commit:
    """A commit from outside, its fields checked anew, without what is ours. Refuses what cannot be stored."""
    commit = checked_model(given, Commit, "commit", sequence=0, kind="write", digest=None, effects=())
    listed = [checked_model(entry, CommitEntry, "commit.entries") for entry in commit.entries]
    _check_saved(commit)
    return commit.model_copy(update={"entries": tuple(listed)})


def _check_saved(commit: Commit) -> None:
    if not commit.id:
        raise InvalidArgumentError("id", "is empty; name the commit")
    check_name(commit.id, "id")
    check_name(commit.message, "message", MAX_NOTE_CHARACTERS)
    check_name(commit.author_agent_id, "author_agent_id")
    check_optional_name(commit.session_id, "session_id")
    check_name(commit.branch, "branch")
    check_optional_name(commit.tree_hash, "tree_hash")
    if len(commit.entries) > MAX_CHANGES:
        raise InvalidArgumentError("entries", f"are {len(commit.entries)}; the limit is {MAX_CHANGES}")
    for parent in commit.parent_ids:
        check_name(parent, "parent_ids")
    for entry in commit.entries:
        _check_listed(entry)


def check_may_describe(given: Commit, known: Commit | None, seen: Commit | None) -> None:
    """Refuse a description of what its author cannot see all of: it would show it, and sign it."""
    if known is not None and seen != known:
        raise InvalidArgumentError("id", f"{quoted(given.id)} is taken; choose another")


def check_free(commit_id: str, is_taken: bool) -> None:
    """Refuse to add a commit under the id of a description, which no log lists, as no commit of its own."""
    if is_taken:
        raise InvalidArgumentError("id", f"{quoted(commit_id)} is taken by a description; choose another")


def _check_listed(entry: CommitEntry) -> None:
    check_name(entry.entity_path, "entity_path", MAX_ADDRESS_CHARACTERS)
    check_name(entry.key, "key", MAX_ADDRESS_CHARACTERS)
    check_optional_name(entry.content_hash, "content_hash")
    check_whole_number(entry.version, "version")


def saved(given: Commit, namespace: str, newest_id: str | None) -> Commit:
    """A commit from outside as it is stored, given the newest commit of its branch.

    >>> given = Commit(id="c", author_agent_id="a", parent_ids=("c",), created_at="2026-01-01")
    >>> saved(given, "default", "b").parent_ids
    ('b',)
    """
    named = tuple(parent for parent in given.parent_ids if parent != given.id)
    return given.model_copy(
        update={
            "namespace": namespace,
            "parent_ids": named or (() if newest_id is None else (newest_id,)),
            "kind": "write",
            "effects": (),
            "digest": None,
        }
    )


def described(commit: Commit, description: Commit) -> Commit:
    """A commit as the log shows it with a description."""
    return commit.model_copy(
        update={
            "message": description.message,
            "author_agent_id": description.author_agent_id,
            "session_id": description.session_id,
        }
    )
