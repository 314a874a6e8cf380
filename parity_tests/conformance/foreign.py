"""An adapter that keeps every promise, and does all that the protocol leaves open otherwise than ours.

`python -m parity_tests --adapter parity_tests.conformance.foreign:factory`
"""

import functools
import hashlib
import inspect
import logging
from asyncio import CancelledError
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from amfs_sqlite import (
    AmfsAdapter,
    Clock,
    Commit,
    CommitResult,
    IdSource,
    InvalidArgumentError,
    InvalidCursorError,
    MemoryEntry,
    OutcomePolicy,
    ReferenceAdapter,
    SearchPage,
    SearchQuery,
)
from amfs_sqlite.models import Change, ChangeEvent
from amfs_sqlite.protocol.changes import Callback, WatchHandle
from parity_tests.nouns import NOUNS, operations

_log = logging.getLogger("elsewhere.watching")


def in_other_words(operation: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
    """An operation with messages of its own, and no coroutine function to be seen."""

    async def answered(*arguments: Any, **options: Any) -> Any:
        try:
            return await operation(*arguments, **options)
        except InvalidArgumentError as refused:
            raise InvalidArgumentError(refused.argument, "will not do") from refused
        except InvalidCursorError as refused:
            raise InvalidCursorError("will not do") from refused

    @functools.wraps(operation)
    def asked(*arguments: Any, **options: Any) -> Any:
        return answered(*arguments, **options)

    return asked


def without_annotations(operation: Callable[..., Any]) -> Callable[..., Any]:
    """An operation of whose parameters nothing but names, kinds and defaults is to be seen."""

    @functools.wraps(operation)
    def asked(*arguments: Any, **options: Any) -> Any:
        return operation(*arguments, **options)

    parameters = inspect.signature(operation).parameters.values()
    bare = [each.replace(annotation=inspect.Parameter.empty) for each in parameters]
    vars(asked)["__signature__"] = inspect.Signature(bare)
    return asked


def outer(cursor: str) -> str:
    """A cursor as it is handed out."""
    return cursor.encode().hex()


def inner(cursor: str) -> str:
    """The cursor within one that was handed out; '', which is none, within anything else."""
    try:
        return bytes.fromhex(cursor).decode()
    except ValueError:
        return ""


def told_elsewhere(callback: Callback) -> Callback:
    """A callback whose errors go to a logger of our own."""

    async def tell(entry: MemoryEntry) -> None:
        try:
            result = callback(entry)
            if inspect.isawaitable(result):
                await result
        except (Exception, CancelledError):  # noqa: BLE001 - whatever it is, it is logged
            _log.exception("somebody who listens has failed")

    return tell


async def handed_out(changes: AsyncIterator[ChangeEvent]) -> AsyncIterator[ChangeEvent]:
    """Changes with our cursors, from a generator: one consumer at a time, and none after a cancelled one."""
    async for event in changes:
        yield event.model_copy(update={"cursor": outer(event.cursor)})


def sealed(commit: Commit) -> Commit:
    """A commit with a digest of another form."""
    digest = f"blake2:{hashlib.blake2b(str(commit.digest).encode()).hexdigest()}"
    return commit.model_copy(update={"digest": digest})


def sealed_result(result: CommitResult) -> CommitResult:
    """The result of a commit, sealed."""
    return result.model_copy(update={"commit": sealed(result.commit)})


class ForeignAdapter(ReferenceAdapter):
    """Cursors, iterators, logger, digests, messages and types are its own."""

    async def watch(
        self, entity_path: str | None, callback: Callback, *, viewer: str | None = None
    ) -> WatchHandle:
        known = told_elsewhere(callback) if callable(callback) else callback
        return await super().watch(entity_path, known, viewer=viewer)

    def changes(
        self,
        *,
        after: str | None = None,
        entity_path: str | None = None,
        follow: bool = True,
        include_system: bool = True,
        viewer: str | None = None,
    ) -> AsyncIterator[ChangeEvent]:
        behind = inner(after) if isinstance(after, str) else after
        asked: dict[str, Any] = {"follow": follow, "include_system": include_system, "viewer": viewer}
        return handed_out(super().changes(after=behind, entity_path=entity_path, **asked))

    async def search(self, query: SearchQuery, *, viewer: str | None = None) -> SearchPage:
        cursor = inner(query.cursor) if query.cursor else None
        if cursor == "":
            raise InvalidCursorError("was never handed out")
        page = await super().search(query.model_copy(update={"cursor": cursor}), viewer=viewer)
        return page.model_copy(update={"next_cursor": page.next_cursor and outer(page.next_cursor)})

    async def write_batch(
        self, entries: Sequence[MemoryEntry], *, idempotency_key: str | None = None
    ) -> tuple[MemoryEntry, ...]:
        return tuple(await super().write_batch(entries, idempotency_key=idempotency_key))

    async def commit(
        self,
        changes: Sequence[Change],
        *,
        author: str,
        message: str = "",
        session_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> CommitResult:
        told: dict[str, Any] = {"message": message, "session_id": session_id}
        return sealed_result(
            await super().commit(changes, author=author, idempotency_key=idempotency_key, **told)
        )

    async def recorded_result(self, idempotency_key: str, *, author: str) -> CommitResult | None:
        result = await super().recorded_result(idempotency_key, author=author)
        return result and sealed_result(result)

    async def list_commits(
        self, *, limit: int | None = None, before: int | None = None, viewer: str | None = None
    ) -> tuple[Commit, ...]:
        log = await super().list_commits(limit=limit, before=before, viewer=viewer)
        return tuple(sealed(commit) for commit in log)

    async def get_commit(self, commit_id: str, *, viewer: str | None = None) -> Commit | None:
        commit = await super().get_commit(commit_id, viewer=viewer)
        return commit and sealed(commit)

    async def save_commit(self, commit: Commit) -> Commit:
        return sealed(await super().save_commit(commit))


for _name in (name for noun in NOUNS for name in operations(noun)):
    _operation = getattr(ForeignAdapter, _name)
    if inspect.iscoroutinefunction(_operation):
        _told = in_other_words(_operation)
        setattr(ForeignAdapter, _name, _told if _name in vars(ForeignAdapter) else without_annotations(_told))


def factory(
    path: Path, *, namespace: str, outcomes: OutcomePolicy, clock: Clock, ids: IdSource
) -> AmfsAdapter:
    """What makes them."""
    return ForeignAdapter(namespace=namespace, outcomes=outcomes, clock=clock, ids=ids)
