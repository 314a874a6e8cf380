"""Activity: how much each agent wrote that is current, and when."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from amfs_sqlite.sqlite.predicates import Conditions
from amfs_sqlite.sqlite.rows import moment
from amfs_sqlite.sqlite.transaction import Transaction

# A path that begins with @ and goes on below is shared by several accounts, and nobody's own.
OWN = "NOT (c.entity_path >= '_system/' AND c.entity_path < '_system0') AND c.entity_path NOT GLOB '@*/*'"
ACTIVITY = """
SELECT c.agent_id, count(*) AS entries, count(DISTINCT c.entity_path), min(c.written_at), max(c.written_at)
FROM current AS c WHERE {where} GROUP BY c.agent_id ORDER BY entries DESC, c.agent_id"""


class Activity(NamedTuple):
    """What an agent has written that is current."""

    agent_id: str
    entry_count: int
    path_count: int
    first: datetime
    last: datetime


def activity(tx: Transaction, asked: Conditions) -> Iterator[Activity]:
    """Of each agent, whoever wrote most first."""
    for agent_id, entry_count, path_count, first, last in tx.each(
        ACTIVITY.format(where=f"{asked} AND {OWN}"), asked.parameters
    ):
        yield Activity(agent_id, entry_count, path_count, moment(first), moment(last))
