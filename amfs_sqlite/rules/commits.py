"""Commits: what may be asked for, and what becomes of a commit that comes from outside."""

from collections.abc import Callable, Sequence

from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.models import Change, Commit, CommitEntry, MemoryEntry, Write
from amfs_sqlite.rules.confidence import OutcomePolicy
from amfs_sqlite.rules.limits import (
    MAX_ADDRESS_CHARACTERS,
    MAX_CHANGES,
    MAX_NOTE_CHARACTERS,
    check_count,
    check_entry,
    check_name,
)
from amfs_sqlite.rules.outcomes import check_record
from amfs_sqlite.rules.values import encode


def check_commit(
    changes: Sequence[Change],
    policy: OutcomePolicy,
    *,
    author: str,
    message: str = "",
    session_id: str | None = None,
    idempotency_key: str | None = None,
) -> None:
    """Refuse a commit that cannot be made, whatever is stored."""
    if not changes:
        raise InvalidArgumentError("changes", "are none; a commit makes at least one")
    if len(changes) > MAX_CHANGES:
        raise InvalidArgumentError("changes", f"are {len(changes)}; the limit is {MAX_CHANGES}")
    for change in changes:
        if isinstance(change, Write):
            check_write(change, policy)
        else:
            check_record(change.record, policy)
    check_name(author, "author")
    check_name(message, "message", MAX_NOTE_CHARACTERS)
    check_name(session_id or "", "session_id")
    check_name(idempotency_key or "", "idempotency_key")


def check_write(write: Write, policy: OutcomePolicy) -> None:
    """Refuse an entry that cannot be stored, whatever is stored already."""
    check_entry(write.entry)
    policy.check_confidence(write.entry.confidence)
    encode(write.entry.value)
    encode(write.entry.model_extra or {}, "extra")


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


def check_saved(commit: Commit) -> None:
    """Refuse a commit from outside that cannot be stored."""
    if not commit.id:
        raise InvalidArgumentError("id", "is empty; name the commit")
    check_name(commit.id, "id")
    check_name(commit.message, "message", MAX_NOTE_CHARACTERS)
    check_name(commit.author_agent_id, "author_agent_id")
    check_name(commit.session_id or "", "session_id")
    check_name(commit.branch, "branch")
    check_name(commit.tree_hash or "", "tree_hash")
    if len(commit.entries) > MAX_CHANGES:
        raise InvalidArgumentError("entries", f"are {len(commit.entries)}; the limit is {MAX_CHANGES}")
    for parent in commit.parent_ids:
        check_name(parent, "parent_ids")
    for entry in commit.entries:
        _check_listed(entry)


def check_free(commit_id: str, is_taken: bool) -> None:
    """Refuse to add a commit under the id of a description, which no log lists, as no commit of its own."""
    if is_taken:
        raise InvalidArgumentError("id", f"{quoted(commit_id)} is taken by a description; choose another")


def _check_listed(entry: CommitEntry) -> None:
    check_name(entry.entity_path, "entity_path", MAX_ADDRESS_CHARACTERS)
    check_name(entry.key, "key", MAX_ADDRESS_CHARACTERS)
    check_name(entry.content_hash or "", "content_hash")
    check_count(entry.version, "version")


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
