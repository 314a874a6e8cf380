"""Decision traces: what an agent was asked, what it read and did, and how it turned out, as AMFS has them."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from amfs_sqlite.modelling import Model, OpenModel
from amfs_sqlite.models import DEFAULT_NAMESPACE, LISTS_TOO, Confidence, Instant


class _Part(OpenModel):
    """A model within a trace, checked anew with it; unknown fields are kept."""

    model_config = ConfigDict(revalidate_instances="always")


class TraceEntry(_Part):
    """A version that was read, as it stood then. ``value`` is a copy, None once the version was erased."""

    entity_path: str
    key: str
    version: int
    confidence: Confidence
    value: Any = None
    memory_type: str | None = None
    written_by: str | None = None
    read_at: Instant | None = None
    duration_ms: float | None = None
    evidence_status: str | None = None
    success_count: int = 0
    failure_count: int = 0


class ExternalContext(_Part):
    """What came from outside the memory."""

    label: str
    summary: str
    source: str | None = None
    recorded_at: Instant


class ToolCall(_Part):
    """An action that the agent took."""

    tool_name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    result_summary: str = ""
    result_hash: str = ""
    started_at: Instant
    duration_ms: int = 0
    source: str | None = None
    success: bool = True
    action_key: str | None = None


class QueryEvent(_Part):
    """A search or a listing."""

    operation: str
    parameters: dict[str, Any] = Field(default_factory=dict)
    result_count: int = 0
    duration_ms: float | None = None
    occurred_at: Instant


class ErrorEvent(_Part):
    """What went wrong on the way."""

    operation: str
    error_type: str
    message: str
    stack_trace: str | None = None
    occurred_at: Instant


class ConfidenceChange(_Part):
    """What an outcome moved."""

    entity_path: str
    key: str
    before: float
    after: float
    outcome_ref: str


class MemoryStateDiff(_Part):
    """What a session changed, in numbers."""

    entries_created: int = 0
    entries_updated: int = 0
    confidence_changes: Annotated[tuple[ConfidenceChange, ...], LISTS_TOO] = ()


class DecisionTrace(OpenModel):
    """What stood behind a decision. Unknown fields are kept, here and in all its parts.

    ``id`` and ``namespace`` of a trace to be saved are ignored: the adapter gives it its own, and a
    ``created_at`` where it has none. ``session_metadata`` is any JSON object.
    """

    id: str = ""
    agent_id: str
    session_id: str
    outcome_ref: str | None = None
    outcome_type: str | None = None
    decision_summary: str | None = None
    task_input: str | None = None
    response_text: str | None = None
    tool_calls: Annotated[tuple[ToolCall, ...], LISTS_TOO] = ()
    causal_entries: Annotated[tuple[TraceEntry, ...], LISTS_TOO] = ()
    external_contexts: Annotated[tuple[ExternalContext, ...], LISTS_TOO] = ()
    query_events: Annotated[tuple[QueryEvent, ...], LISTS_TOO] = ()
    error_events: Annotated[tuple[ErrorEvent, ...], LISTS_TOO] = ()
    state_diff: MemoryStateDiff | None = None
    session_metadata: dict[str, Any] | None = None
    session_started_at: Instant | None = None
    session_ended_at: Instant | None = None
    session_duration_ms: float | None = None
    created_at: Instant | None = None
    namespace: str = DEFAULT_NAMESPACE


class SharePair(Model):
    """How often one agent's traces read what another one wrote."""

    reader: str
    author: str
    count: int


class ShareStats(Model):
    """How often agents read what others wrote: in all, and by reader and author, the most first."""

    total: int
    pairs: Annotated[tuple[SharePair, ...], LISTS_TOO] = ()
