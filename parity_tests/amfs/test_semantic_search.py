"""Search by meaning through the SDK's door: exact, and the same by either way of comparing."""

import math
import sqlite3
from array import array
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from amfs_core.abc import AdapterABC
from amfs_core.embedder import EmbedderABC, cosine_similarity
from amfs_core.exceptions import AdapterError
from amfs_core.models import MemoryEntry, SemanticQuery
from hypothesis import given
from hypothesis import strategies as st

from amfs_sqlite import EntryRef, SqliteAdapter
from amfs_sqlite.sqlite import functions, vectors
from amfs_sqlite.sqlite.recalls import packed, unpacked
from amfs_sqlite.sync import SyncSqliteAdapter, similarity
from parity_tests.amfs.corpus import MADE_UP, entry
from parity_tests.ledger import proves

CAN_LOAD = hasattr(sqlite3.Connection, "enable_load_extension")
NO_EXTENSION = (
    "Python's sqlite3 was built without loading extensions"
    if not CAN_LOAD
    else "sqlite-vec is not installed: pip install sqlite-vec"
)
needs_sqlite_vec = pytest.mark.skipif(
    not (CAN_LOAD and find_spec(vectors.EXTENSION)), reason=f"it cannot load sqlite-vec: {NO_EXTENSION}"
)
numbers = st.floats(-2, 2, width=32).filter(lambda number: number == 0 or abs(number) > 1e-3)
directions = st.sampled_from([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]) | st.lists(
    numbers, min_size=3, max_size=3
)


class Embedder(EmbedderABC):
    """The first letters of a text as numbers; counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def embed(self, text: str) -> list[float]:
        self.asked += 1
        return [float(ord(letter)) for letter in text[:3]]

    @property
    def dimension(self) -> int:
        return 3


def single_precision_distance(one: bytes, other: bytes) -> float | None:
    """The cosine distance as sqlite-vec has it: in single precision, none where there is no direction."""
    first, second = unpacked(one), unpacked(other)
    lengths = math.hypot(*first) * math.hypot(*second)
    if lengths == 0:
        return None
    return array("f", [1 - math.fsum(map(float.__mul__, first, second)) / lengths])[0]


@pytest.fixture(params=["compared here", "found near by a function of the database"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways; the second by a function named and behaving as that of sqlite-vec."""
    registered: Callable[[sqlite3.Connection], None] = functions.register

    def register(connection: sqlite3.Connection) -> None:
        registered(connection)
        connection.create_function("vec_distance_cosine", 2, single_precision_distance, deterministic=True)

    if request.param != "compared here":
        monkeypatch.setattr(functions, "register", register)
    return str(request.param)


def filled(adapter: SyncSqliteAdapter, stored: Sequence[MemoryEntry]) -> None:
    for each in stored:
        adapter.write(each)


def asked(vector: Sequence[float], **fields: Any) -> SemanticQuery:
    return SemanticQuery(text="", embedding=list(vector), **{"min_similarity": -1.0} | fields)


def bytes_of(folder: Path) -> bytes:
    return b"".join(each.read_bytes() for each in sorted(folder.iterdir()))


def keys(found: Sequence[tuple[MemoryEntry, float]]) -> list[str]:
    return [each.key for each, _ in found]


questions = st.builds(
    asked,
    directions,
    limit=st.integers(0, 5),
    min_similarity=st.sampled_from([-1.0, 0.0, 0.5]),
    entity_path=st.sampled_from([None, "a"]),
    min_confidence=st.just(0.5),
    max_confidence=st.sampled_from([None, 0.9]),
)


@proves("amfs-search.nearest")
@MADE_UP
@given(
    stored=st.lists(st.tuples(st.sampled_from(["a", "b"]), st.none() | directions), max_size=8),
    question=questions,
)
def test_the_nearest_are_those_of_the_sdk(way: str, stored: list[Any], question: SemanticQuery) -> None:
    with SyncSqliteAdapter(":memory:") as adapter:
        for number, (at, vector) in enumerate(stored):
            confidence = (number % 3) / 2
            adapter.write(entry(at, f"k{number}", embedding=vector, confidence=confidence))
        found = adapter.semantic_search(question, Embedder())
        expected: Any = AdapterABC.semantic_search(adapter, question, Embedder())
        assert [similar for _, similar in found] == pytest.approx([similar for _, similar in expected])
        equally = {round(similar, 9) for _, similar in expected}
        if len(equally) == len(expected):
            assert keys(found) == keys(expected)


@proves("amfs-search.nearest")
def test_equally_near_ones_come_by_path_and_key(way: str, sdk_adapter: SyncSqliteAdapter) -> None:
    for path, key in [("b", "a"), ("a", "b"), ("a", "a")]:
        sdk_adapter.write(entry(path, key, embedding=[0.6, 0.3, 0.1]))
    found = sdk_adapter.semantic_search(asked([0.5, 0.2, 0.2], limit=2), Embedder())
    assert [(each.entity_path, each.key) for each, _ in found] == [("a", "a"), ("a", "b")]
    assert found[0][1] == found[1][1]


@proves("amfs-search.nearest")
def test_a_great_many_are_compared_block_by_block(
    sdk_adapter: SyncSqliteAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    sdk_adapter.write_batch([entry(key=f"k{n:03}", embedding=[1.0, n / 100, 0.0]) for n in range(100)])
    whole = sdk_adapter.semantic_search(asked([1.0, 0.0, 0.0], limit=100), Embedder())
    monkeypatch.setattr("amfs_sqlite.sync.similarity.NUMBERS_AT_ONCE", 21)
    assert sdk_adapter.semantic_search(asked([1.0, 0.0, 0.0], limit=100), Embedder()) == whole
    assert keys(whole) == [f"k{n:03}" for n in range(100)]


@proves("amfs-search.nearest")
def test_what_is_below_a_path_is_found_where_asked_for(way: str, sdk_adapter: SyncSqliteAdapter) -> None:
    filled(sdk_adapter, [entry(path, path, embedding=[1.0, 0.0, 0.0]) for path in ("a", "a/b", "ab")])
    question = asked([1.0, 0.0, 0.0], entity_path="a")
    assert keys(sdk_adapter.semantic_search(question, Embedder())) == ["a"]
    below = question.model_copy(update={"include_descendants": True})
    assert keys(sdk_adapter.semantic_search(below, Embedder())) == ["a", "a/b"]


@proves("amfs-search.nearest")
def test_a_version_without_a_vector_of_its_own_is_not_found(way: str, sdk_adapter: SyncSqliteAdapter) -> None:
    sdk_adapter.write(entry(value="old", embedding=[1.0, 0.0, 0.0]))
    sdk_adapter.write(entry(value="new"))
    assert sdk_adapter.semantic_search(asked([1.0, 0.0, 0.0]), Embedder()) == []


@proves("amfs-search.embedded")
def test_a_vector_that_comes_with_the_query_is_not_made_again(sdk_adapter: SyncSqliteAdapter) -> None:
    sdk_adapter.write(entry(embedding=[97.0, 98.0, 99.0]))
    embedder = Embedder()
    (_, similar), *_ = sdk_adapter.semantic_search(SemanticQuery(text="abc"), embedder)
    assert embedder.asked == 1
    assert similar == pytest.approx(1.0)
    sdk_adapter.semantic_search(asked([1.0, 0.0, 0.0]), embedder)
    assert embedder.asked == 1


@proves("amfs-search.embedded")
def test_an_embedder_may_use_the_adapter_that_asks_it() -> None:
    with SyncSqliteAdapter(":memory:") as adapter:
        adapter.write(entry(embedding=[1.0, 0.0, 0.0]))

        class Reading(Embedder):
            def embed(self, text: str) -> list[float]:
                adapter.list()
                return super().embed(text)

        assert len(adapter.semantic_search(SemanticQuery(text="abc"), Reading())) == 1


@proves("amfs-search.dimensions")
def test_a_vector_of_another_dimension_is_refused_as_the_sdk_refuses_it(
    sdk_adapter: SyncSqliteAdapter,
) -> None:
    filled(sdk_adapter, [entry("a", embedding=[1.0, 0.0]), entry("b", embedding=[1.0, 0.0, 0.0])])
    with pytest.raises(ValueError, match="mismatch"):
        AdapterABC.semantic_search(sdk_adapter, asked([1.0, 0.0, 0.0]), Embedder())
    with pytest.raises(AdapterError, match="3 numbers and a stored embedding 2") as refused:
        sdk_adapter.semantic_search(asked([1.0, 0.0, 0.0]), Embedder())
    assert isinstance(refused.value, ValueError)
    assert len(sdk_adapter.semantic_search(asked([1.0, 0.0, 0.0], entity_path="b"), Embedder())) == 1


@proves("amfs-search.dimensions")
@pytest.mark.parametrize("number", [math.nan, math.inf, 1e39])
def test_a_number_that_no_vector_can_have_is_refused(sdk_adapter: SyncSqliteAdapter, number: float) -> None:
    with pytest.raises(AdapterError, match="embedding"):
        sdk_adapter.write(entry(embedding=[number, 1.0]))
    assert sdk_adapter.list() == []
    if not math.isfinite(number):
        with pytest.raises(AdapterError, match="query"):
            sdk_adapter.semantic_search(asked([number, 1.0]), Embedder())


@proves("amfs-search.erased-vectors")
async def test_an_erased_version_leaves_no_vector_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    old, new = [0.12345, -0.54321] * 40, [0.6789, -0.9876] * 40
    with SyncSqliteAdapter(path) as adapter:
        adapter.write(entry(value="old", embedding=old))
        adapter.write(entry(value="new", embedding=new))
    async with SqliteAdapter(path) as ours:
        await ours.erase([EntryRef(entity_path="service", key="a", version=1)], author="owner")
    assert packed(old) not in bytes_of(tmp_path)
    assert packed(new) in bytes_of(tmp_path)
    async with SqliteAdapter(path) as ours:
        await ours.erase([EntryRef(entity_path="service", key="a")], author="owner")
    assert packed(new) not in bytes_of(tmp_path)
    with SyncSqliteAdapter(path) as adapter:
        assert adapter.semantic_search(asked(new), Embedder()) == []


@proves("amfs-search.sqlite-vec")
@needs_sqlite_vec
def test_sqlite_vec_finds_the_same_as_comparing_all(sdk_adapter: SyncSqliteAdapter) -> None:
    directions = [[math.sin(n * step) for step in (1.0, 1.7, 2.9)] for n in range(200)]
    sdk_adapter.write_batch([entry(key=f"k{n:03}", embedding=each) for n, each in enumerate(directions)])
    found = sdk_adapter.semantic_search(asked([0.3, -0.2, 0.9], limit=20), Embedder())
    with sqlite3.connect(":memory:") as connection:
        assert vectors.has_distance(connection)
    stored = [(n, packed(each)) for n, each in enumerate(directions)]
    expected = similarity.nearest([stored], [0.3, -0.2, 0.9], min_similarity=-1.0, limit=20)
    assert [(int(each.key[1:]), similar) for each, similar in found] == expected


@proves("amfs-search.sqlite-vec")
def test_what_is_near_the_edge_is_not_lost_to_rounding(way: str, sdk_adapter: SyncSqliteAdapter) -> None:
    near = [[1.0, n * 1e-9, 0.1] for n in range(8)]
    sdk_adapter.write_batch([entry(key=f"k{n}", embedding=each) for n, each in enumerate(near)])
    wanted = [1.0, 1.0, 0.0]
    found = sdk_adapter.semantic_search(asked(wanted, limit=2), Embedder())
    best = sorted(
        ((-cosine_similarity(wanted, unpacked(packed(each))), n) for n, each in enumerate(near)),
    )
    assert keys(found) == [f"k{n}" for _, n in best[:2]]
