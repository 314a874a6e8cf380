"""Who may see what, and which paths are the system's own."""

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from amfs_sqlite.models import Commit, CommitEntry, OutcomeEffect, RecordedOutcome

SYSTEM_PATH = "_system"

_About = TypeVar("_About", CommitEntry, OutcomeEffect)


def is_visible(shared: bool, agent_id: str, viewer: str | None) -> bool:
    """A private version exists for its author and for the owner of the file (viewer None) alone.

    >>> [is_visible(False, "alice", viewer) for viewer in ("bob", "alice", None)]
    [False, True, True]
    """
    return shared or viewer is None or agent_id == viewer


def is_expired(ttl_at: datetime | None, now: datetime) -> bool:
    """An entry expires at its instant, inclusive."""
    return ttl_at is not None and ttl_at <= now


def covers(prefix: str | None, entity_path: str) -> bool:
    """The prefix rule: a path covers itself and everything below it; none covers everything.

    >>> covers("a", "a/b"), covers("a", "ab"), covers("a", "a"), covers("", "x")
    (True, False, True, True)
    """
    return not prefix or entity_path == prefix or entity_path.startswith(prefix + "/")


def is_watched(watched: str | None, entity_path: str) -> bool:
    """Whether a watch hears of a path: it is taken as it is, and only None is everywhere.

    >>> is_watched("a", "a/b"), is_watched("", "a"), is_watched("", "/a"), is_watched(None, "a")
    (True, False, True, True)
    """
    return watched is None or entity_path == watched or entity_path.startswith(watched + "/")


def is_system(entity_path: str) -> bool:
    """Paths at or below ``_system`` hold what agents do not write themselves: packets, for one."""
    return covers(SYSTEM_PATH, entity_path)


def commit_for(
    commit: Commit, viewer: str | None, is_hidden: Callable[[str, str, int], bool]
) -> Commit | None:
    """The commit as the viewer may see it, or None where there is nothing for it to see.

    ``is_hidden`` tells whether a stored version (path, key, version) is hidden from the viewer.
    A commit that never had entries or effects hides nothing; one's own commits always remain.
    The tree hash goes with the first thing left out, for it would tell its value.

    >>> entries = [CommitEntry(entity_path="p", key=key, version=1) for key in ("mine", "theirs")]
    >>> commit = Commit(id="c", author_agent_id="a", entries=entries, created_at="2026-01-01")
    >>> [entry.key for entry in commit_for(commit, "b", lambda path, key, n: key == "mine").entries]
    ['theirs']
    >>> commit_for(commit, "b", lambda path, key, n: True) is None
    True
    """
    if viewer is None:
        return commit
    entries, effects = _shown(commit.entries, is_hidden), _shown(commit.effects, is_hidden)
    if (entries, effects) == (commit.entries, commit.effects):
        return commit
    if commit.author_agent_id != viewer and not entries and not effects:
        return None
    return commit.model_copy(update={"entries": entries, "effects": effects, "tree_hash": None})


def outcome_for(
    outcome: RecordedOutcome, viewer: str | None, is_hidden: Callable[[str, str, int], bool]
) -> RecordedOutcome | None:
    """The outcome as the viewer may see it, or None where there is nothing for it to see.

    Its reporter and the owner of the file see it whole. Others see the effects on versions that are
    not hidden from them, and of what the record names only the entries of those effects.

    >>> from amfs_sqlite.models import OutcomeRecord
    >>> record = OutcomeRecord(outcome_ref="r", outcome_type="success", agent_id="a")
    >>> outcome = RecordedOutcome(record=record, effects=(), commit_id="c", sequence=1)
    >>> outcome_for(outcome, "a", lambda path, key, n: True) is outcome
    True
    >>> outcome_for(outcome, "b", lambda path, key, n: True) is None
    True
    """
    if viewer is None or outcome.record.agent_id == viewer:
        return outcome
    effects = _shown(outcome.effects, is_hidden)
    if not effects:
        return None
    seen = {(effect.entity_path, effect.key) for effect in effects}
    spelled = {f"{path}/{key}" for path, key in seen}
    record = outcome.record.model_copy(
        update={
            "causal_entry_keys": tuple(text for text in outcome.record.causal_entry_keys if text in spelled),
            "refs": tuple(ref for ref in outcome.record.refs if (ref.entity_path, ref.key) in seen),
        }
    )
    return outcome.model_copy(update={"record": record, "effects": effects})


def _shown(things: tuple[_About, ...], is_hidden: Callable[[str, str, int], bool]) -> tuple[_About, ...]:
    return tuple(thing for thing in things if not is_hidden(thing.entity_path, thing.key, thing.version))
