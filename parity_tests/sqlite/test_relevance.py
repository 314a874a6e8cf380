"""The order by relevance: our adapters agree on it to the last bit, whether an entry is indexed or not."""

import random

import pytest

from amfs_sqlite import ReferenceAdapter, SearchQuery, SqliteAdapter
from amfs_sqlite.rules import ranking
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.sqlite.internals import settled

WORDS = ["a", "ab", "abc", "b", "é", "слово", "部署", "部署方案", "b-a"]
TEXTS = ["a", "a*", "ab b", '"a a"', '"a b" a*', "é", "слово a", "部署", "部", '"b a b"', "a b ab abc é"]
ENTRY_COUNT = 120


def texts(seed: int) -> list[str]:
    """Texts of few words, so that these come often and beside each other."""
    chance = random.Random(seed)  # noqa: S311 - to be repeated, not to be secret
    return [" ".join(chance.choices(WORDS, k=chance.randrange(1, 40))) for _ in range(ENTRY_COUNT)]


@proves("text-index.relevance")
@pytest.mark.parametrize("indexed", [True, False])
async def test_the_order_by_relevance_is_the_same_on_the_reference_and_on_sqlite(
    path: str, indexed: bool
) -> None:
    async with SqliteAdapter(path) as adapter:  # what is pending is indexed at closing
        for number, text in enumerate(texts(seed=1)):
            await adapter.write(draft(key=f"k{number}", value=text))
    async with SqliteAdapter(path) as adapter, ReferenceAdapter() as reference:
        for number, text in enumerate(texts(seed=1)):
            await reference.write(draft(key=f"k{number}", value=text))
        if not indexed:
            for number, text in enumerate(texts(seed=2)):
                for each in (reference, adapter):
                    await each.write(draft(key=f"k{number}", value=text))
        await settled(adapter)
        for text in TEXTS:
            query = SearchQuery(text=text, sort_by="relevance", limit=None)
            pages = [await each.search(query) for each in (reference, adapter)]
            found, expected = [[entry.key for entry in page.entries] for page in pages]
            assert found == expected, text
            assert found


@proves("text-index.relevance")
async def test_what_too_many_hold_is_not_ranked_and_the_page_says_so(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("amfs_sqlite.sqlite.search", "amfs_sqlite.reference.search"):
        monkeypatch.setattr(f"{module}.MAX_RANKED", 3)
    for adapter in (SqliteAdapter(path), ReferenceAdapter()):
        async with adapter:
            for number, text in enumerate(["b b", "z", "z z z", "z z"]):
                await adapter.write(draft(key=f"k{number}", value=text))
            ranked = await adapter.search(SearchQuery(text="z", sort_by="relevance"))
            assert (ranked.ranked, [entry.key for entry in ranked.entries]) == (True, ["k2", "k3", "k1"])
            await adapter.write(draft(key="k4", value="z z z z"))
            query = SearchQuery(text="z", sort_by="relevance", limit=2)
            page = await adapter.search(query)
            assert (page.ranked, [entry.key for entry in page.entries]) == (False, ["k1", "k2"])
            rest = await adapter.search(query.model_copy(update={"cursor": page.next_cursor}))
            assert [entry.key for entry in rest.entries] == ["k3", "k4"]
            assert (await adapter.search(SearchQuery(text="z"))).ranked


@proves("text-index.relevance")
async def test_a_page_goes_on_as_the_one_before_was_ranked_though_more_hold_the_text_by_then(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("amfs_sqlite.sqlite.search", "amfs_sqlite.reference.search"):
        monkeypatch.setattr(f"{module}.MAX_RANKED", 3)
    for adapter in (SqliteAdapter(path), ReferenceAdapter()):
        async with adapter:
            for number, text in enumerate(["z", "z z z", "z z"]):
                await adapter.write(draft(key=f"k{number}", value=text))
            query = SearchQuery(text="z", sort_by="relevance", limit=2)
            page = await adapter.search(query)
            assert [entry.key for entry in page.entries] == ["k1", "k2"]
            await adapter.write(draft(key="k3", value="z z z z"))
            rest = await adapter.search(query.model_copy(update={"cursor": page.next_cursor}))
            assert (rest.ranked, [entry.key for entry in rest.entries]) == (True, ["k0"])


@proves("text-index.relevance")
async def test_a_text_of_many_words_is_ranked_by_the_first(path: str) -> None:
    words = [f"w{number}" for number in range(700)]
    async with SqliteAdapter(path) as adapter:
        await adapter.write(draft(value=" ".join(words)))
        page = await adapter.search(SearchQuery(text=" ".join(words), sort_by="relevance"))
    assert [entry.key for entry in page.entries] == ["k"]
    assert len(words) > ranking.MAX_RANKED_TERMS


@proves("text-index.relevance")
async def test_pages_by_relevance_repeat_nothing_when_the_index_catches_up_in_between(path: str) -> None:
    query = SearchQuery(text="a", sort_by="relevance", limit=5)
    adapter = SqliteAdapter(path)
    await adapter.open()
    for number, text in enumerate(texts(seed=3)):
        await adapter.write(draft(key=f"k{number}", value=text))
    whole = await adapter.search(query.model_copy(update={"limit": None}))
    page = await adapter.search(query)
    found = list(page.entries)
    await adapter.close()  # what is pending is indexed at closing
    async with SqliteAdapter(path) as adapter:
        while page.next_cursor:
            page = await adapter.search(query.model_copy(update={"cursor": page.next_cursor}))
            found += page.entries
    assert len(found) > 2 * 5
    assert found == list(whole.entries)
