"""Addresses are opaque pairs: whatever they look like, none is taken for another."""

from itertools import product
from pathlib import Path

import pytest

from amfs_sqlite import AmfsAdapter, InvalidArgumentError, SearchQuery
from parity_tests.adapters import AdapterOpener
from parity_tests.contract.soundness import is_sound
from parity_tests.drafts import at, draft, outcome
from parity_tests.ledger import proves
from parity_tests.state import refused

# Names that some system or other has taken for one and the same.
ALIKE = {
    "wildcards": ["agent_a", "agentXa", "agent%a", "agent*a", "agent?a", "agent[X]a", "%", "_"],
    "patterns": ["*", "**", "?", "[a-z]", "a", "^a$", ".*", "a|b", "\\%", "\\_", "\\"],
    "case": ["Foo", "foo", "FOO", "Straße", "STRASSE", "strasse", "\u0131", "i", "I", "İ"],
    "spaces": ["foo", " foo", "foo ", "foo\t", "foo\n", "foo\r\n", "foo\u00a0", " ", "\u200b"],
    "forms": ["é", "e\u0301", "ﬁ", "fi", "Å", "\u212b", "\uff41", "a", "\ufeffa", "a\ufe0f"],
    "slashes": ["a", "a/", "/a", "//a", "a//", "a//b", "a/b", "/", "//", "a/b/", "/a/b"],
    "traversal": ["..", ".", "../..", "a/..", "a/../b", "b", "./b", "..\\..\\x", "\\", "C:\\x"],
    "devices": ["CON", "con", "nul", "/abs", "~", "~/x", "a:b", "a?b", "a#b", "a%20b", "a b"],
    "controls": ["ab", "a\0b", "a", "a\0", "\0", "a\x1bb", "a\u2028b", "a\u202eb", "a\x7fb"],
    "numbers": ["1", "01", "1.0", "1e0", "+1", "-1", "0x1", "True", "None", "null", "NaN"],
    "quotes": ["'", '"', "''", '""', "`", "x' OR 1=1 --", 'x" OR "1"="1', "a;b", "$.x", '"a".b'],
    "versions": ["k", "k@1", "k@2", "k@", "@1", "k@1@1", "k/k", "k@1/k"],
    "prototypes": ["__proto__", "constructor", "toString", "hasOwnProperty", "__class__", "self"],
    "astral": ["😀", "😁", "👩\u200d👩", "👩👩", "\U0010ffff", "\uffff", "\ue000", "𐀀"],
}


def files_below(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*")}


def covered(prefix: str, path: str) -> bool:
    return path == prefix or path.startswith(f"{prefix}/")


@proves("addresses.opaque", "addresses.literal")
@pytest.mark.parametrize("family", ALIKE)
async def test_names_that_look_alike_are_never_taken_for_each_other(
    adapter: AmfsAdapter, family: str
) -> None:
    names = ALIKE[family]
    value_of = {(path, key): f"{n}" for n, (path, key) in enumerate(product(names, names))}
    await adapter.write_batch([draft(*each, value) for each, value in value_of.items()])
    listed = [(each.entity_path, each.key, each.version) for each in await adapter.list()]
    assert listed == [(*each, 1) for each in value_of]
    for address, value in value_of.items():
        read = await adapter.read(*address)
        assert read is not None
        assert (read.entity_path, read.key, read.value) == (*address, value)
    for name in names:
        paths = [path for path in names if covered(name, path)]
        below = [each.entity_path for each in await adapter.list(name)]
        assert list(dict.fromkeys(below)) == paths
        exact = await adapter.list(name, descendants=False)
        assert [(each.entity_path, each.key) for each in exact] == [(name, key) for key in names]
    assert await is_sound(adapter)


@proves("statistics.scopes", "addresses.literal")
@pytest.mark.parametrize("family", ALIKE)
async def test_no_summary_takes_names_that_look_alike_for_each_other(
    adapter: AmfsAdapter, family: str
) -> None:
    names = ALIKE[family]
    await adapter.write_batch([draft(name) for name in names])
    for name in names:
        paths = [path for path in names if covered(name, path)]
        assert [each.path for each in await adapter.scopes(name)] == paths


@proves("search.filters", "addresses.literal")
@pytest.mark.parametrize("family", ALIKE)
async def test_no_search_takes_names_that_look_alike_for_each_other(
    adapter: AmfsAdapter, family: str
) -> None:
    names = ALIKE[family]
    addresses = list(product(names, names))
    await adapter.write_batch([draft(*each) for each in addresses])
    for name in names:
        below = [each for each in addresses if covered(name, each[0])]
        found = await adapter.search(SearchQuery(entity_path=name, limit=None, sort_by="oldest"))
        assert [(each.entity_path, each.key) for each in found.entries] == below
        keyed = await adapter.search(SearchQuery(key=name, limit=None, sort_by="oldest"))
        assert [(each.entity_path, each.key) for each in keyed.entries] == [(path, name) for path in names]


@proves("addresses.opaque")
@pytest.mark.parametrize("family", ALIKE)
async def test_a_write_to_one_name_leaves_those_that_look_alike(adapter: AmfsAdapter, family: str) -> None:
    names = ALIKE[family]
    await adapter.write_batch([draft("p", name) for name in names])
    for name in names:
        await adapter.write(draft("p", name, 2), expected_version=1)
    for name in names:
        assert [each.value for each in await adapter.history("p", name)] == [1, 2]


@proves("outcomes.references", "addresses.opaque")
@pytest.mark.parametrize("family", ALIKE)
async def test_an_outcome_about_one_name_leaves_those_that_look_alike(
    adapter: AmfsAdapter, family: str
) -> None:
    names = ALIKE[family]
    await adapter.write_batch([draft("p", name) for name in names])
    for name in names:
        await adapter.commit_outcome(outcome("success", at("p", name), outcome_ref=name))
    for name in names:
        assert [each.outcome_count for each in await adapter.history("p", name)] == [0, 1]
        credited = await adapter.list_outcomes(key=name)
        assert [each.record.outcome_ref for each in credited] == [name]


@proves("addresses.pairs")
async def test_a_slash_never_joins_a_path_with_a_key(adapter: AmfsAdapter) -> None:
    pairs = [("a/b", "c"), ("a", "b/c"), ("a/b", "c/d"), ("a", "b"), ("a/b/c", "d")]
    for path, key in pairs * 2:
        await adapter.write(draft(path, key, [path, key]))
    for path, key in pairs:
        history = await adapter.history(path, key)
        assert [(each.version, each.value) for each in history] == [(n, [path, key]) for n in (1, 2)]
    assert [each.key for each in await adapter.list("a/b")] == ["c", "c/d", "d"]
    assert await is_sound(adapter)


@proves("addresses.tags-literal")
@pytest.mark.parametrize(
    "tags",
    [
        ["a%b", "a_b", "aXb", "a\\b", "a*b", "a[b]", "a?b", "a,b", "a b", "A_B", "a_b "],
        ["a", "b", "a,b", '"a"', "'a'", "[a]", "a\0", "a\n", "é", "e\u0301"],
        ["x" * 1000, "x" * 999, "x" * 1001, "x"],
        ["x' OR 1=1 --", "$.x", "a;b", '"a".b', "1", "01", "1.0"],
    ],
    ids=["wildcards", "joined", "long", "injected"],
)
async def test_a_tag_is_matched_literally(adapter: AmfsAdapter, tags: list[str]) -> None:
    for tag in tags:
        await adapter.write(draft("p", f"of {tag}", tags=("shared", tag)))
    for tag in tags:
        found = await adapter.search(SearchQuery(tag=tag))
        assert [each.key for each in found.entries] == [f"of {tag}"]
    assert len((await adapter.search(SearchQuery(tag="shared"))).entries) == len(tags)


@proves("addresses.refused")
@pytest.mark.parametrize(
    ("path", "key", "argument"),
    [
        ("", "k", "entity_path"),
        ("p", "", "key"),
        ("p" * 4097, "k", "entity_path"),
        ("p", "k" * 4097, "key"),
        ("p\ud800", "k", "entity_path"),
        ("p", "\udfffk", "key"),
    ],
    ids=["no-path", "no-key", "long-path", "long-key", "surrogate-path", "surrogate-key"],
)
async def test_an_address_that_cannot_be_stored_is_refused_by_name(
    adapter: AmfsAdapter, path: str, key: str, argument: str
) -> None:
    error = await refused(adapter, adapter.write(draft(path, key)), InvalidArgumentError)
    assert error.argument == argument


@proves("addresses.refused")
@pytest.mark.parametrize("character", ["p", "é", "😀", "/", "\0"], ids=ascii)
async def test_the_longest_address_is_stored(adapter: AmfsAdapter, character: str) -> None:
    longest = character * 4096
    await adapter.write(draft(longest, longest))
    read = await adapter.read(longest, longest)
    assert read is not None
    assert (read.entity_path, read.key) == (longest, longest)


@proves("addresses.never-file-names")
async def test_no_name_reaches_the_file_system(open_adapter: AdapterOpener, tmp_path: Path) -> None:
    adapter = await open_adapter()
    names = ["../../x", "..\\..\\x", "C:\\x", str(tmp_path / "x"), "..", ".", "CON", "a\nb", "x.db"]
    for name in names:
        await adapter.write(draft(name, name, name, agent=name, session=name, tags=(name,)))
    assert not files_below(tmp_path) & {*names, "x"}
    assert "x" not in files_below(tmp_path.parent)
    assert len(await adapter.list()) == len(names)


@proves("outcomes.recorded-whole", "addresses.never-file-names")
async def test_no_outcome_reaches_the_file_system(open_adapter: AdapterOpener, tmp_path: Path) -> None:
    adapter = await open_adapter()
    names = ["../../x", str(tmp_path / "x"), "..", "x.db"]
    for name in names:
        await adapter.commit_outcome(outcome("success", agent=name, session_id=name, outcome_ref=name))
    assert not files_below(tmp_path) & {*names, "x"}
    assert "x" not in files_below(tmp_path.parent)
    assert len(await adapter.list_outcomes()) == len(names)
