"""Groups of agents, as AMFS has them."""

from amfs_sqlite.modelling import OpenModel
from amfs_sqlite.models import DEFAULT_NAMESPACE, Confidence, Instant, Strings


class AgentGroup(OpenModel):
    """Agents that someone put together. Unknown fields are kept.

    ``id``, ``namespace``, ``member_count`` and the times of a group to be made are ignored: the adapter gives
    its own. ``agent_ids`` are its members by code point.
    """

    id: str = ""
    namespace: str = DEFAULT_NAMESPACE
    account_id: str | None = None
    name: str
    description: str = ""
    color: str | None = None
    icon: str | None = None
    position: Confidence = 0.0
    auto_generated: bool = False
    source_cluster_id: str | None = None
    member_count: int = 0
    agent_ids: Strings = ()
    created_at: Instant | None = None
    updated_at: Instant | None = None
