"""Several writes of one agent, buffered, then committed all or nothing."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, NamedTuple, Self

from amfs_sqlite.agent import entries
from amfs_sqlite.agent.session import AgentSession
from amfs_sqlite.models import ArtifactRef, Commit, MemoryEntry
from amfs_sqlite.rules.limits import check_entry, check_is_text
from amfs_sqlite.rules.values import decode, encode

KEY_DIGITS = 32


class _Tried(NamedTuple):
    """What a commit was tried with and not answered for: it may be stored, and under its key it is once."""

    drafts: tuple[MemoryEntry, ...]
    idempotency_key: str


class MemoryTransaction:
    """Writes that wait for their ``commit``; before it nothing is stored.

    ``async with memory.transaction() as t:`` commits at the end of the block. Where the block raises, nothing
    is stored, and what waits is forgotten. After a commit that succeeds the transaction can be used for the
    next, which says the same message unless ``set_message`` changes it. Commits of one transaction, asked for
    by several tasks, take turns.

    A commit that raises or is cancelled keeps its writes, to be tried again; whatever became of it, they are
    stored once. What is buffered in the meantime is then a commit of its own, behind theirs.
    """

    def __init__(self, session: AgentSession, message: str) -> None:
        self._session = session
        self._pending: list[MemoryEntry] = []
        self._tried: _Tried | None = None
        self._turn = asyncio.Lock()
        self.set_message(message)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            await self.commit()
        else:
            self._pending.clear()
            self._tried = None

    @property
    def pending_count(self) -> int:
        """How many writes wait for the commit."""
        return len(self._pending) + (len(self._tried.drafts) if self._tried else 0)

    def set_message(self, message: str) -> None:
        """What the commit will say. Raises InvalidArgumentError where it is no text."""
        check_is_text(message, "message")
        self._message = message

    def write(
        self,
        entity_path: str,
        key: str,
        value: Any,
        *,
        confidence: float | None = None,
        pattern_refs: Sequence[str] | None = None,
        ttl_at: datetime | str | None = None,
        shared: bool | None = None,
        artifact_refs: Sequence[ArtifactRef] | None = None,
    ) -> None:
        """Buffer a copy of a write; it is dated when it is committed. Raises InvalidArgumentError."""
        drafted = entries.draft(
            self._session,
            entity_path,
            key,
            decode(encode(value)),
            confidence=confidence,
            pattern_refs=pattern_refs,
            ttl_at=ttl_at,
            shared=shared,
            artifact_refs=artifact_refs,
        )
        check_entry(drafted)
        self._pending.append(drafted)

    async def commit(self) -> Commit | None:
        """Store what is buffered as one commit and empty the buffer; None where there is nothing.

        Where an earlier one was not answered, first what that one tried; the newest commit is returned.
        """
        async with self._turn:
            made = None if self._tried is None else await self._try(self._tried)
            if not self._pending:
                return made
            # Drawn here and not sooner: what is never committed draws no id.
            self._tried = _Tried(tuple(self._pending), self._session.ids.hex(KEY_DIGITS))
            self._pending.clear()
            return await self._try(self._tried)

    async def _try(self, tried: _Tried) -> Commit:
        result = await entries.commit(self._session, tried.drafts, self._message, tried.idempotency_key)
        self._tried = None
        return result.commit
