"""Activity: what a server's page of agents tells of each."""

from collections.abc import Collection
from typing import Any

from amfs_core.scope import SqlScope

from amfs_sqlite.sqlite.activity import activity
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync.statistics import conditions


def agent_summaries(
    tx: Transaction, *, agent_ids: Collection[str] | None = None, scope: SqlScope | None = None
) -> list[dict[str, Any]]:
    """Of each agent the number of its current entries and paths, and when it wrote the first and the last of
    them; whoever wrote most first. What is the system's or shared by accounts does not count.
    """
    return [
        {
            "agent_id": each.agent_id,
            "entries_written": each.entry_count,
            "entities_touched": each.path_count,
            "first_seen": each.first,
            "last_active": each.last,
        }
        for each in activity(tx, conditions(tx, agent_ids=agent_ids, scope=scope))
    ]
