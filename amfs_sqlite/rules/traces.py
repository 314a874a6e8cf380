"""Traces: what may be saved, how it is written down, and what is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from amfs_sqlite.errors import InvalidArgumentError
from amfs_sqlite.records.traces import DecisionTrace
from amfs_sqlite.rules.commits import checked_model
from amfs_sqlite.rules.limits import (
    check_address,
    check_instant,
    check_name,
    check_optional_name,
    check_optional_text,
    is_several,
)
from amfs_sqlite.rules.references import splits
from amfs_sqlite.rules.values import decode, encode

ID_DIGITS = 32
LARGEST_NUMBER = 2**63 - 1


@dataclass(frozen=True, slots=True)
class PreparedTrace:
    """A trace that was checked and written down.

    ``trace`` is complete, but its entries have no values; ``record`` is that as text, and ``values`` are
    those of the entries, in order.
    """

    trace: DecisionTrace
    record: str
    values: tuple[str, ...]


def prepared(given: DecisionTrace, trace_id: str, namespace: str, now: datetime) -> PreparedTrace:
    """A trace to be stored under this id. Raises InvalidArgumentError."""
    trace = checked_model(given, DecisionTrace, "trace", id=trace_id, namespace=namespace)
    check_name(trace.agent_id, "agent_id")
    check_name(trace.session_id, "session_id")
    check_optional_name(trace.outcome_ref, "outcome_ref")
    check_optional_name(trace.outcome_type, "outcome_type")
    for entry in trace.causal_entries:
        check_address(entry.entity_path, entry.key)
        check_optional_name(entry.written_by, "written_by")
        if not 0 <= entry.version <= LARGEST_NUMBER:
            raise InvalidArgumentError("version", f"is no whole number from 0 to {LARGEST_NUMBER}")
    _check_loose_parts(trace)
    values = tuple(encode(entry.value, "value") for entry in trace.causal_entries)
    stored = trace.model_copy(
        update={
            "created_at": trace.created_at or now,
            "causal_entries": tuple(entry.copied(value=None) for entry in trace.causal_entries),
        }
    )
    return PreparedTrace(stored, encode(stored.to_wire(), "trace"), values)


def _check_loose_parts(trace: DecisionTrace) -> None:
    """What may be anything must be JSON: writing a model down would make text of what is none."""
    encode([call.arguments for call in trace.tool_calls], "arguments")
    encode([query.parameters for query in trace.query_events], "parameters")
    encode(trace.session_metadata, "session_metadata")
    parts = (
        trace,
        *trace.tool_calls,
        *trace.causal_entries,
        *trace.external_contexts,
        *trace.query_events,
        *trace.error_events,
        *((trace.state_diff, *trace.state_diff.confidence_changes) if trace.state_diff else ()),
    )
    encode([part.model_extra or {} for part in parts], "trace")


def shown(record: str, values: Sequence[str | None]) -> DecisionTrace:
    """A trace from its text and the values of its entries, None for what was erased."""
    trace = DecisionTrace.from_wire(decode(record))
    entries = zip(trace.causal_entries, values, strict=True)
    return trace.model_copy(
        update={
            "causal_entries": tuple(
                entry.copied(value=None if value is None else decode(value)) for entry, value in entries
            )
        }
    )


def spellings(entity_path: str, key: str) -> list[tuple[str, str]]:
    """The addresses under which a trace may have an entry: AMFS's agents put path and key together, and take
    them apart again at the last '/'.

    >>> spellings("service", "a/b")
    [('service/a', 'b'), ('service', 'a/b')]
    """
    return splits(f"{entity_path}/{key}")


@dataclass(frozen=True, slots=True)
class Filter:
    """Which traces, checked."""

    entity_path: str | None
    agent_id: str | None
    outcome_type: str | None
    since: datetime | None
    until: datetime | None


def checked_filter(
    *,
    entity_path: str | None,
    agent_id: str | None,
    outcome_type: str | None,
    since: datetime | str | None,
    until: datetime | str | None,
) -> Filter:
    """Which traces are asked for. Raises InvalidArgumentError."""
    check_optional_text(entity_path, "entity_path")
    check_optional_text(agent_id, "agent_id")
    check_optional_text(outcome_type, "outcome_type")
    since_instant, until_instant = check_instant(since, "since"), check_instant(until, "until")
    return Filter(entity_path, agent_id, outcome_type, since_instant, until_instant)


def check_agents(agent_ids: Sequence[str] | None) -> None:
    """Names of agents, or None for all."""
    if agent_ids is not None and not is_several(agent_ids, str):
        raise InvalidArgumentError("agent_ids", "is no list of names; give one, or None for all agents")
