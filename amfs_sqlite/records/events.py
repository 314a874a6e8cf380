"""Events: what happened to an agent, as AMFS's timeline has it."""

from typing import Any

from pydantic import Field

from amfs_sqlite.modelling import OpenModel
from amfs_sqlite.models import DEFAULT_NAMESPACE, MAIN_BRANCH, Instant


class Event(OpenModel):
    """One event on an agent's timeline. Unknown fields are kept.

    ``id`` and ``namespace`` of an event to be logged are ignored: the adapter gives it its own, and a
    ``created_at`` where it has none. ``event_type`` is any name, such as AMFS's ``write`` or ``outcome``.
    """

    id: str = ""
    namespace: str = DEFAULT_NAMESPACE
    agent_id: str
    branch: str = MAIN_BRANCH
    event_type: str
    summary: str | None = None
    details: dict[str, Any] = Field(default_factory=dict)
    actor_agent_id: str | None = None
    created_at: Instant | None = None
