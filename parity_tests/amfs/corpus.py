"""Entries of the SDK, made up: one by its fields, many by chance."""

import os
from datetime import UTC, datetime, timedelta
from typing import Any

from amfs_core.models import MemoryEntry, MemoryType, Provenance
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from amfs_sqlite.sync import SyncSqliteAdapter

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
MADE_UP = settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
# What str and JSON spell differently, what is another thing in lower case, and what escapes.
TRICKY = "aAnN1.- \"'\\,:{}[]/_%\n\t\x00\x1f\x7f\xa0éÉ\u0130\u212a\u03a3\u03c3\u2028😀"
WORDS = ("None", "null", "True", "retry", "Pool-size", "one", "1e5", "İ", "ΟΔΟΣ")


def entry(path: str = "service", key: str = "a", value: object = 1, **fields: Any) -> MemoryEntry:
    """An entry; what says who wrote it when is named as in Provenance, ``minute`` counts from BEGAN."""
    written_at = BEGAN + timedelta(minutes=fields.pop("minute", 0))
    signed = Provenance(
        agent_id=fields.pop("agent_id", "scout"),
        session_id="s",
        written_at=written_at,
        pattern_refs=fields.pop("pattern_refs", []),
    )
    return MemoryEntry(entity_path=path, key=key, value=value, provenance=signed, **fields)


def opened(path: "str | os.PathLike[str]", **options: Any) -> Any:
    """An adapter on this file. Typed as anything, since in the SDK's interface ``list`` is its own method."""
    return SyncSqliteAdapter(path, **options)


texts = st.text(alphabet=TRICKY, max_size=6) | st.sampled_from(WORDS)
values = st.recursive(
    texts | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
paths = st.sampled_from(
    ["svc", "svc/api", "svc/apis", "SVC", "@x/shared", "_system/a", "bench-1", "_BENCH/x", "benchmark", "é/İ"]
)
agents = st.sampled_from(["scout", "amfs", "bench-7", "System", "smith"])


@st.composite
def entries(draw: st.DrawFn) -> MemoryEntry:
    """One entry by chance; few paths, keys and instants, so that there are equals."""
    return entry(
        draw(paths),
        draw(st.sampled_from(["a", "b", "Retry", "ΟΔΟΣ", "%_"])),
        draw(values),
        minute=draw(st.integers(0, 3)),
        agent_id=draw(agents),
        pattern_refs=draw(st.lists(st.sampled_from(["p", "q"]), max_size=2, unique=True)),
        confidence=draw(st.sampled_from([0.0, 0.35, 0.7, 0.9, 1.0])),
        outcome_count=draw(st.integers(0, 1)),
        recall_count=draw(st.integers(0, 3)),
        is_artifact=draw(st.booleans()),
        shared=draw(st.booleans()),
        memory_type=draw(st.sampled_from(MemoryType)),
        importance_score=draw(st.none() | st.sampled_from([0.0, 0.2, 1.0])),
    )
