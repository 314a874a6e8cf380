"""Learning: what the SDK's curve of an agent's successes is drawn from, and the tasks an entity has seen."""

from collections.abc import Collection, Iterator
from datetime import datetime
from itertools import islice
from typing import Any

from amfs_core import evidence
from amfs_core.actions import entity_paths_of
from amfs_core.models import OutcomeRecord

from amfs_sqlite.rules.limits import check_is_text, check_optional_text, check_texts, check_whole_number
from amfs_sqlite.rules.references import splits
from amfs_sqlite.sqlite import learning, outcome_log
from amfs_sqlite.sqlite.outcome_log import Asked
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync.priors import TASK_CHARACTERS
from amfs_sqlite.sync.reuse import asked_since
from amfs_sqlite.sync.translation import their_outcome


def recent_task_texts(tx: Transaction, entity_path: str, *, limit: int = 200) -> list[str]:
    """The beginnings of the latest tasks whose outcomes are about the path, newest first."""
    check_is_text(entity_path, "entity_path")
    check_whole_number(limit, "limit")
    tasks = (record.task_input for record in _about(tx, entity_path, None) if record.task_input)
    return [task[:TASK_CHARACTERS] for task in islice(tasks, limit)]


def learning_series(
    tx: Transaction,
    *,
    since: datetime,
    agent: str | None = None,
    entity_path: str | None = None,
    limit: int = 5000,
    visible_agents: Collection[str] | None = None,
) -> dict[str, Any]:
    """The latest outcomes, oldest first, and when entries that they cite were discredited.

    With more than ``limit`` it is ``truncated``, and tells of nothing before the oldest that is left.
    ``visible_agents`` are those that the caller may see; ``agent`` narrows to one of them.
    """
    check_optional_text(agent, "agent")
    check_optional_text(entity_path, "entity_path")
    check_whole_number(limit, "limit")
    check_texts([] if visible_agents is None else visible_agents, "visible_agents")
    since = asked_since(since)
    cap = max(1, limit)
    wanted = (
        record
        for record in _about(tx, entity_path or None, since)
        if (visible_agents is None or record.agent_id in visible_agents)
        and (not agent or record.agent_id == agent)
    )
    records = [*islice(wanted, cap + 1)]
    window, is_truncated = records[:cap][::-1], len(records) > cap
    if is_truncated:
        since = max(since, window[0].committed_at)
    return {
        "sessions": [_session(record) for record in window],
        "shifts": _shifts(tx, window, since, entity_path or None),
        "truncated": is_truncated,
    }


def _about(tx: Transaction, entity_path: str | None, since: datetime | None) -> Iterator[OutcomeRecord]:
    """Outcomes about exactly this path, newest first."""
    for report in outcome_log.reports(tx, Asked(about=entity_path, since=since)):
        record = their_outcome(report.record)
        if record is None:
            continue
        paths = record.entity_paths or entity_paths_of(sorted(evidence.outcome_read_keys(record)))
        if entity_path is None or entity_path in paths:
            yield record


def _session(record: OutcomeRecord) -> dict[str, Any]:
    return {
        "at": record.committed_at,
        "outcome_type": record.outcome_type.value,
        "agent_id": record.agent_id,
        "verified_by": evidence.outcome_verified_by(record),
    }


def _shifts(
    tx: Transaction, records: Collection[OutcomeRecord], since: datetime, entity_path: str | None
) -> list[dict[str, Any]]:
    """When entries that any step of these records cites were discredited, in order."""
    cited = {text for record in records for _, texts in evidence.outcome_steps(record) for text in texts}
    addresses = {address for text in cited for address in splits(text)}
    found = {
        shift
        for shift in learning.shifts(tx, addresses)
        if shift.at >= since and entity_path in (None, shift.entity_path)
    }
    return [{"entity_path": each.entity_path, "key": each.key, "at": each.at} for each in sorted(found)]
