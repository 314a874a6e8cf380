"""What an adapter must do. One module per noun; the only home of operation docstrings."""

from typing import Protocol, runtime_checkable

from amfs_sqlite.protocol.access import Access
from amfs_sqlite.protocol.agents import Agents
from amfs_sqlite.protocol.branches import Branches
from amfs_sqlite.protocol.changes import Changes
from amfs_sqlite.protocol.commits import Commits
from amfs_sqlite.protocol.entries import Entries
from amfs_sqlite.protocol.events import Events
from amfs_sqlite.protocol.graph import Graph
from amfs_sqlite.protocol.groups import Groups
from amfs_sqlite.protocol.integrity import Integrity
from amfs_sqlite.protocol.lifecycle import Lifecycle
from amfs_sqlite.protocol.outcomes import Outcomes
from amfs_sqlite.protocol.pulls import Pulls
from amfs_sqlite.protocol.retention import Retention
from amfs_sqlite.protocol.search import Search
from amfs_sqlite.protocol.statistics import Statistics
from amfs_sqlite.protocol.tags import Tags
from amfs_sqlite.protocol.traces import Traces


@runtime_checkable
class AmfsAdapter(
    Entries, Changes, Outcomes, Commits, Search, Statistics, Integrity, Retention, Lifecycle, Protocol
):
    """The whole adapter: the union of the nouns.

    What is given to an operation is of the type that its signature says, fields of models included, and None
    only where the signature has it: anything else raises InvalidArgumentError, which names the argument, and
    nothing is stored. Nothing is taken for something else: 1 is not "1", nor True. What is of the right type
    and names nothing, such as an address that cannot be written, finds nothing.
    """


__all__ = [
    "Access",
    "Agents",
    "AmfsAdapter",
    "Branches",
    "Changes",
    "Commits",
    "Entries",
    "Events",
    "Graph",
    "Groups",
    "Integrity",
    "Lifecycle",
    "Outcomes",
    "Pulls",
    "Retention",
    "Search",
    "Statistics",
    "Tags",
    "Traces",
]
