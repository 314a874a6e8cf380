"""Changes: all there were, put in order each time somebody asks."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import TypeVar

from amfs_sqlite.delivery import Asked, Batch, Feed, Placed
from amfs_sqlite.delivery.log import BATCH_LIMIT
from amfs_sqlite.errors import AdapterClosedError, InvalidCursorError
from amfs_sqlite.models import ChangeEvent, ChangeKind, MemoryEntry, OutcomeEffect
from amfs_sqlite.reference.store import Opinion, State, Store, StoredVersion
from amfs_sqlite.rules.confidence import is_success, outcome_type
from amfs_sqlite.rules.cursors import ChangePosition, change_cursor, change_position
from amfs_sqlite.rules.visibility import covers, is_system, is_visible

Result = TypeVar("Result")


class StoreLog:
    """The changes of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def position(self, cursor: str) -> ChangePosition:
        state = self._store.state
        position = change_position(cursor, state.store_id)
        if all(change.position != position for change in _all(state)):
            raise InvalidCursorError("stands behind a change that is not in the store")
        return position

    async def end(self) -> ChangePosition:
        return _end(self._store.state)

    async def read(self, after: ChangePosition, asked: Asked, until: int | None) -> Batch:
        state = self._store.state
        found = [
            change
            for change in sorted(_all(state), key=lambda change: change.position)
            if change.position > after
            and (until is None or change.position.sequence <= until)
            and _is_asked_for(change.event.entry, asked)
        ]
        page = found[:BATCH_LIMIT]
        is_last = len(page) == len(found)
        return Batch(page, _end(state) if is_last else page[-1].position, is_last)


async def told(store: Store, feed: Feed, result: Result) -> Result:
    """The result of what was just committed, once the watches have heard of it."""
    sequence = store.state.head[0]
    feed.announce()
    await feed.delivered(sequence)
    return result


async def close(store: Store, feed: Feed) -> None:
    """Deliver what is due, and let go of everything."""
    if store.is_open:
        await feed.close()
    store.close()


def follow_changes(
    store: Store, feed: Feed, asked: Asked, after: str | None, *, follow: bool
) -> AsyncIterator[ChangeEvent]:
    """An iterator over what is behind the cursor. Raises AdapterClosedError unless the adapter is open."""
    if not store.is_open:
        raise AdapterClosedError(store.problem)
    return feed.changes(asked, after, follow=follow)


def _is_asked_for(entry: MemoryEntry, asked: Asked) -> bool:
    return (
        covers(asked.entity_path, entry.entity_path)
        and (asked.include_system or not is_system(entry.entity_path))
        and is_visible(entry.shared, entry.agent_id, asked.viewer)
    )


def _end(state: State) -> ChangePosition:
    effects = sum(len(outcome.effects) for outcome in state.outcomes)
    return ChangePosition(state.head[0], len(state.versions), effects)


def _all(state: State) -> Iterator[Placed]:
    """Each version written, and each effect in place, with the opinion as it left it."""
    opinions: dict[tuple[str, str, int], Opinion] = {}
    for version in (version for key in state.keys.values() for version in key.versions):
        opinion = Opinion.of(version.written)
        opinions[version.written.entity_path, version.written.key, version.written.version] = opinion
        position = ChangePosition(version.sequence, version.number, 0)
        kind: ChangeKind = "outcome" if version.kind == "outcome" else "write"
        yield _placed(state, position, kind, version, opinion)
    number = 0
    for outcome in state.outcomes:
        success = is_success(outcome_type(outcome.record.outcome_type))
        for effect in outcome.effects:
            number += 1
            if not effect.applied or effect.resulting_version != effect.version:
                continue
            address = (effect.entity_path, effect.key, effect.version)
            opinions[address] = _moved(opinions[address], effect, success=success)
            position = ChangePosition(outcome.sequence, outcome.newest_version, number)
            version = state.stored(*address)
            yield _placed(state, position, "outcome", version, opinions[address])


def _moved(opinion: Opinion, effect: OutcomeEffect, *, success: bool) -> Opinion:
    return replace(
        opinion,
        confidence=effect.confidence_after,
        outcome_count=opinion.outcome_count + 1,
        success_count=opinion.success_count + int(success),
        failure_count=opinion.failure_count + int(not success),
    )


def _placed(
    state: State, position: ChangePosition, kind: ChangeKind, version: StoredVersion, opinion: Opinion
) -> Placed:
    entry = version.as_written().model_copy(
        update={
            "commit_id": state.commits[version.sequence].commit.id,
            "confidence": opinion.confidence,
            "outcome_count": opinion.outcome_count,
            "success_count": opinion.success_count,
            "failure_count": opinion.failure_count,
        }
    )
    event = ChangeEvent(
        cursor=change_cursor(state.store_id, position),
        kind=kind,
        commit_id=state.commits[position.sequence].commit.id,
        sequence=position.sequence,
        entry=entry,
    )
    return Placed(position, event)
