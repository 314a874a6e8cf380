"""Outcomes: reports of how things turned out, which move the confidence of what they relied on."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from amfs_sqlite.models import MemoryEntry, OutcomeRecord, RecordedOutcome


@runtime_checkable
class Outcomes(Protocol):
    """Recording and listing outcomes. Which arithmetic applies is the adapter's outcome policy."""

    async def commit_outcome(self, record: OutcomeRecord) -> Sequence[MemoryEntry]:
        """Record the outcome and move what it names, as one commit; return the entries it moved.

        A string in ``causal_entry_keys`` is tried at every '/': where one stored entry fits it is
        that one, where several do, the split at the last '/'; where none does it is passed over, as
        AMFS does. An address in ``refs`` that is not stored raises EntryNotFoundError. The record
        is stored whole, applied or not. To other agents' private versions nothing happens: they do
        not exist for ``agent_id``.

        Under ``amfs-0.3`` each naming makes the next version of the current entry, dated and signed
        as the one before it, as often as it is named or reported. Under ``handoff`` it moves the
        current version in place, once per ``outcome_ref`` and entry: a repetition changes nothing
        (``already_applied``), another outcome for the same pair raises OutcomeConflictError, and a
        ref to a version whose value is no longer the current one is recorded and moves nothing
        (``stale``).

        Raises InvalidArgumentError for an unknown ``outcome_type``, a ``causal_confidence`` that is
        not finite (under ``handoff``: outside 0 to 1), a lone surrogate anywhere, a name of more than
        4,096 characters, a note of more than 65,536, or more than 1,000 references. Nothing is
        stored then.
        """
        ...

    async def list_outcomes(
        self,
        *,
        outcome_ref: str | None = None,
        entity_path: str | None = None,
        key: str | None = None,
        limit: int | None = None,
        before: int | None = None,
        viewer: str | None = None,
    ) -> Sequence[RecordedOutcome]:
        """Recorded outcomes, newest first, whether they moved anything or not.

        ``entity_path`` and ``key`` (each optional, exact) keep those with an effect on such an
        entry. An empty filter is none. ``before`` continues behind a commit's ``sequence``; so that
        nothing is lost there, ``limit`` lets the last commit's outcomes finish. For a viewer,
        effects on versions hidden from it are left out, and outcomes by others of which nothing
        remains are too.
        """
        ...
