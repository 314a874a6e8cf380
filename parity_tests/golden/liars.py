"""Adapters that answer as they are asked, and keep something else; and some that show something else."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from amfs_sqlite import (
    Change,
    Commit,
    CommitResult,
    MemoryEntry,
    Outcome,
    OutcomeRecord,
    OutcomeType,
    ReferenceAdapter,
    Write,
)

Listed = TypeVar("Listed")
Lie = Callable[[Sequence[Change]], Sequence[Change]]
"""What is stored, of what was asked to be stored as one commit."""


def _as_they_are(listed: Sequence[Listed]) -> Sequence[Listed]:
    return listed


class Liar(ReferenceAdapter):
    """Stores what a lie makes of each commit, and returns entries as they were asked for."""

    def __init__(self, lie: Lie, **options: Any) -> None:
        super().__init__(**options)
        self.has_lied = False
        self._lie = lie

    async def commit(
        self,
        changes: Sequence[Change],
        *,
        author: str,
        message: str = "",
        session_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> CommitResult:
        told = self._lie(changes)
        result = await super().commit(
            told, author=author, message=message, session_id=session_id, idempotency_key=idempotency_key
        )
        self.has_lied |= [*told] != [*changes]
        if any(isinstance(change, Outcome) for change in changes):
            return result
        return result.model_copy(update={"entries": tuple(map(_as_asked, changes, result.entries))})

    async def write(
        self, entry: MemoryEntry, *, expected_version: int | None = None, idempotency_key: str | None = None
    ) -> MemoryEntry:
        result = await self.commit(
            [Write(entry, expected_version)],
            author=entry.agent_id,
            session_id=entry.provenance.session_id or None,
            idempotency_key=idempotency_key,
        )
        return result.entries[0]

    async def commit_outcome(self, record: OutcomeRecord) -> Sequence[MemoryEntry]:
        change = Outcome(record)
        return (await self.commit([change], author=record.agent_id, session_id=record.session_id)).entries


class Deceiver(ReferenceAdapter):
    """Stores what it is asked to, and lists something else."""

    def __init__(
        self,
        entries: Callable[[Sequence[MemoryEntry]], Sequence[MemoryEntry]] = _as_they_are,
        commits: Callable[[Sequence[Commit]], Sequence[Commit]] = _as_they_are,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._shown = entries
        self._told = commits

    async def list(
        self,
        entity_path: str | None = None,
        *,
        include_superseded: bool = False,
        descendants: bool = True,
        include_system: bool = True,
        viewer: str | None = None,
    ) -> Sequence[MemoryEntry]:
        return self._shown(
            await super().list(
                entity_path,
                include_superseded=include_superseded,
                descendants=descendants,
                include_system=include_system,
                viewer=viewer,
            )
        )

    async def list_commits(
        self, *, limit: int | None = None, before: int | None = None, viewer: str | None = None
    ) -> Sequence[Commit]:
        return self._told(await super().list_commits(limit=limit, before=before, viewer=viewer))


def _as_asked(change: Change, stored: MemoryEntry) -> MemoryEntry:
    assert isinstance(change, Write)
    asked = ("entity_path", "key", "value", "confidence", "ttl_at", "artifact_refs", "shared")
    signed = change.entry.provenance.model_copy(update={"written_at": stored.provenance.written_at})
    return stored.model_copy(
        update={name: getattr(change.entry, name) for name in asked} | {"provenance": signed}
    )


def _writing(**members: Callable[[MemoryEntry], Any]) -> Lie:
    def lie(changes: Sequence[Change]) -> Sequence[Change]:
        return [_otherwise(change, members) if isinstance(change, Write) else change for change in changes]

    return lie


def _otherwise(change: Write, members: Mapping[str, Callable[[MemoryEntry], Any]]) -> Write:
    entry = change.entry
    update = {name: member(entry) for name, member in members.items()}
    signed = {name: update.pop(name) for name in [*update] if name in type(entry.provenance).model_fields}
    provenance = entry.provenance.model_copy(update=signed)
    carries = change.carries_outcome_count and "outcome_count" not in members
    changed = entry.model_copy(update=update | {"provenance": provenance})
    return replace(change, entry=changed, carries_outcome_count=carries)


def _reporting(**members: Any) -> Lie:
    def lie(changes: Sequence[Change]) -> Sequence[Change]:
        return [
            Outcome(change.record.model_copy(update=members)) if isinstance(change, Outcome) else change
            for change in changes
        ]

    return lie


def _beside(changes: Sequence[Change]) -> Sequence[Change]:
    """What is stored besides: under another key what is written, once more what is reported."""
    others = _writing(key=lambda entry: f"{entry.key}-too")
    return [*changes, *others(changes)]


STORED: Mapping[str, Lie] = {
    "half the confidence": _writing(confidence=lambda entry: entry.confidence / 2),
    "one and the same for everything": _writing(
        value=lambda _: None, confidence=lambda _: 0.25, outcome_count=lambda _: 17
    ),
    "a value in a list": _writing(value=lambda entry: [entry.value]),
    "under another path": _writing(entity_path=lambda entry: f"{entry.entity_path}-other"),
    "under another key": _writing(key=lambda entry: f"{entry.key}-other"),
    "without a ttl": _writing(ttl_at=lambda _: None),
    "with a ttl": _writing(ttl_at=lambda _: datetime(2999, 1, 1, tzinfo=UTC)),
    "for everybody": _writing(shared=lambda _: True),
    "for nobody else": _writing(shared=lambda _: False),
    "by somebody else": _writing(agent_id=lambda _: "somebody-else"),
    "in another session": _writing(session_id=lambda _: "another-session"),
    "at another time": _writing(written_at=lambda _: datetime(1999, 1, 1, tzinfo=UTC)),
    "without tags": _writing(pattern_refs=lambda _: ()),
    "with a tag more": _writing(pattern_refs=lambda entry: (*entry.provenance.pattern_refs, "more")),
    "without artifacts": _writing(artifact_refs=lambda _: None),
    "without the last of several": lambda changes: changes[:-1] or changes,
    "without the first of several": lambda changes: changes[1:] or changes,
    "in another order": lambda changes: changes[::-1],
    "with something beside": _beside,
    "twice": lambda changes: [*changes, *changes],
    "outcomes of another type": _reporting(outcome_type=OutcomeType.MINOR_FAILURE),
    "outcomes half relied on": _reporting(causal_confidence=0.5),
    "outcomes of nothing": _reporting(causal_entry_keys=(), refs=()),
}
"""What is stored of what was asked to be stored."""


def _listed(**members: Callable[[MemoryEntry], Any]) -> Callable[[Sequence[MemoryEntry]], Any]:
    return lambda entries: [
        entry.model_copy(update={name: member(entry) for name, member in members.items()})
        for entry in entries
    ]


LISTED: Mapping[str, Callable[[Sequence[MemoryEntry]], Sequence[MemoryEntry]]] = {
    "a version more": _listed(version=lambda entry: entry.version + 1),
    "another outcome count": _listed(outcome_count=lambda entry: entry.outcome_count + 1),
    "the last lost": lambda entries: entries[:-1],
    "the first twice": lambda entries: [*entries[:1], *entries],
    "the other way round": lambda entries: entries[::-1],
    "a made-up hash": _listed(content_hash=lambda _: "0" * 64),
    "a broken chain": _listed(integrity_chain=lambda entry: entry.content_hash),
    "another commit": _listed(commit_id=lambda _: "0" * 16),
}
"""What is shown of the entries that are stored."""

LOGGED: Mapping[str, Callable[[Sequence[Commit]], Sequence[Commit]]] = {
    "the last lost": lambda commits: commits[1:],
    "the last twice": lambda commits: [*commits[:1], *commits],
    "the other way round": lambda commits: commits[::-1],
    "another author": lambda commits: [
        each.model_copy(update={"author_agent_id": "somebody-else"}) for each in commits
    ],
    "no messages": lambda commits: [each.model_copy(update={"message": ""}) for each in commits],
    "no sessions": lambda commits: [each.model_copy(update={"session_id": None}) for each in commits],
    "fewer entries": lambda commits: [
        each.model_copy(update={"entries": each.entries[:1]}) for each in commits
    ],
}
"""What is shown of the commits that were made."""
