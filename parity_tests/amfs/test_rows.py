"""Entries as a list shows them: made in another way than those that are read one by one, and the same."""

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from amfs_core.exceptions import AdapterError
from amfs_core.models import ArtifactRef, MemoryEntry
from hypothesis import given
from hypothesis import strategies as st

from amfs_sqlite.sync import SyncSqliteAdapter
from parity_tests.amfs.corpus import BEGAN, MADE_UP, entries, entry
from parity_tests.ledger import proves

RARE: list[dict[str, Any]] = [
    {},
    {"prior_confidence": 0.5, "evidence_success": 1.25, "uplift": -0.5},
    {"importance_score": 1},
    {"validators": ["scout"], "last_outcome": "failure", "last_outcome_at": BEGAN},
    {"importance_dimensions": {"novelty": 0.5}},
    {"artifact_refs": [ArtifactRef(uri="file:///a")]},
    {"ttl_at": BEGAN + timedelta(days=9_000)},
    {"embedding": [1.0, 0.5]},
]


@proves("amfs-search.rows")
@MADE_UP
@given(stored=st.lists(st.tuples(entries(), st.sampled_from(RARE)), min_size=1, max_size=6))
def test_a_list_shows_entries_as_reading_them_does(stored: list[tuple[MemoryEntry, dict[str, Any]]]) -> None:
    with SyncSqliteAdapter(":memory:") as adapter:
        for each, rare in stored:
            adapter.write(MemoryEntry.model_validate(each.model_dump() | rare))
        listed: Any = adapter.list()
        assert listed == [adapter.read(each.entity_path, each.key) for each in listed]
        assert [list(each.__dict__) for each in listed] == [list(MemoryEntry.model_fields)] * len(listed)
        assert MemoryEntry.model_validate_json(listed[0].model_dump_json()) == listed[0]


@proves("amfs-search.rows")
def test_what_is_listed_shares_nothing_with_what_is_listed_next(sdk_adapter: SyncSqliteAdapter) -> None:
    sdk_adapter.write(entry(value=["a"]))
    first: Any = sdk_adapter.list()
    for held in (
        first[0].value,
        first[0].validators,
        first[0].artifact_refs,
        first[0].provenance.pattern_refs,
    ):
        held.append("more")
    again: Any = sdk_adapter.list()
    assert again[0].value == ["a"]
    assert again[0].validators == again[0].artifact_refs == again[0].provenance.pattern_refs == []


@proves("amfs-search.rows")
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE current SET value = '{'",
        "UPDATE current SET tags = '['",
        "UPDATE current SET extra = 'x'",
        "UPDATE current SET written_at = 9000000000000000000",
    ],
)
def test_a_damaged_row_is_told_as_such(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "memory.db"
    with SyncSqliteAdapter(path) as adapter:
        adapter.write(entry())
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(damage)
    with SyncSqliteAdapter(path) as adapter, pytest.raises(AdapterError, match="cannot be read"):
        adapter.list()
