"""The graph: how entities, agents and entries are related, as AMFS has it."""

from typing import Any, Literal

from pydantic import Field

from amfs_sqlite.modelling import Model
from amfs_sqlite.models import Confidence, Instant

Direction = Literal["outgoing", "incoming", "both"]


class GraphEdge(Model):
    """One relation of two entities.

    ``evidence_count`` is how often it was seen, from 1. ``first_seen`` and ``last_seen`` of an edge that is
    seen first may be None: then they are the adapter's time.
    """

    source_entity: str
    source_type: str
    relation: str
    target_entity: str
    target_type: str
    confidence: Confidence = 1.0
    evidence_count: int = 1
    first_seen: Instant | None = None
    last_seen: Instant | None = None
    provenance: dict[str, Any] | None = None


class GraphNeighborQuery(Model):
    """Where to begin in the graph, and how to go on.

    ``depth`` is in edges; below 1 it is 1. ``relation``, None or empty for any, and ``min_confidence`` hold
    for every edge on the way.
    """

    entity: str
    relation: str | None = None
    direction: str = "both"
    min_confidence: float = 0.0
    depth: int = 1
    limit: int | None = 50


class GraphStats(Model):
    """The graph in numbers: ``approx_nodes`` counts entities, each once; ``relations`` counts edges."""

    total_edges: int
    approx_nodes: int
    avg_confidence: float
    avg_evidence: float
    relations: dict[str, int] = Field(default_factory=dict)
