"""Between the SDK's spelling and ours: names, arguments, and answers as JSON types."""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic.alias_generators import to_snake

from amfs_sqlite import (
    AgentMemory,
    ArtifactRef,
    CausalEntry,
    Explanation,
    MemoryEntry,
    MemoryScope,
    MemoryTransaction,
    OutcomeRecord,
    RecallConfig,
    ScoreBreakdown,
    ScoredEntry,
)
from amfs_sqlite.modelling import Model


def ours(name: str) -> str:
    """An SDK's name as ours: `causalEntryKeys` is `causal_entry_keys`."""
    return to_snake(name)


def flat(args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with the options among them."""
    named = {name: value for name, value in args.items() if name != "options"}
    return named | dict(args.get("options") or {})


def arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as ours take them: models for what the SDK takes as plain objects."""
    return {ours(name): _argument(name, value) for name, value in given.items()}


def answer(result: Any) -> Any:
    """An answer of ours as the SDK would spell it."""
    for kinds, spell in _SPELLINGS:
        if isinstance(result, kinds):
            return spell(result)
    return {"cancelled": result.cancelled} if hasattr(result, "cancelled") else result


def _memory(memory: AgentMemory) -> Any:
    return {"agentId": memory.agent_id, "sessionId": memory.session_id, "namespace": memory.namespace}


def _scored(scored: ScoredEntry) -> Any:
    breakdown = {name: getattr(scored.breakdown, name) for name in ScoreBreakdown.model_fields}
    return {"entry": answer(scored.entry), "score": scored.score, "breakdown": breakdown}


def _entry(entry: MemoryEntry) -> Any:
    return entry.to_wire() | {"value": entry.value, "confidence": entry.confidence}


_SPELLINGS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (AgentMemory, _memory),
    (MemoryScope, lambda scope: {"entityPath": scope.entity_path, "isReadonly": scope.is_readonly}),
    (MemoryTransaction, lambda transaction: {"pendingCount": transaction.pending_count}),
    (ScoredEntry, _scored),
    (CausalEntry, lambda read: answer(read.entry) | {"readVersion": read.read_version}),
    (Explanation, lambda told: told.to_wire() | {"causalEntries": answer(told.causal_entries)}),
    (MemoryEntry, _entry),
    (Model, lambda model: model.to_wire()),
    (Mapping, lambda named: {str(name): answer(value) for name, value in named.items()}),
    (list | tuple, lambda listed: [answer(each) for each in listed]),
)
"""How answers of each kind are spelled; of several that fit, the first."""


def _argument(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name == "entry":
        return MemoryEntry.from_wire(value)
    if name == "record":
        return OutcomeRecord.from_wire(value)
    if name == "records":
        return [OutcomeRecord.from_wire(each) for each in value]
    if name == "artifactRefs":
        return [ArtifactRef.from_wire(each) for each in value]
    if name == "recallConfig":
        return RecallConfig.from_wire(value)
    return value
