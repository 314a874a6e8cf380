"""Free text: no input can break it, and what is typed is what is found."""

import pytest

from amfs_sqlite import AmfsAdapter, InvalidArgumentError, SearchQuery
from parity_tests.drafts import draft, private
from parity_tests.ledger import proves

# What some query language or other would take for syntax.
SYNTAX = [
    *['"', 'a"b', '"a', "don't", "foo:bar", "x:", "*", "**", "a*b", "*a", "AND", "NOT x", "a AND"],
    *["OR", "NEAR(", "NEAR(a b, 5)", "(", ")", "()", "38.101", "c++", "-x", "--x", "+x", "^", "^a"],
    *["{x}", "{a b}:c", "", " ", "\t\n", "\0", "a\0b", "%", "_", "100%", "file_name", "'", "''"],
    *["\\", "a\\b", "[a]", "key:k", "-", "--", "/* */", ";", "a;b", "$.x", "\u2019", "…", "\ufeff"],
    *["--error-on-warnings", '"--error-on-warnings"', "\u202e", "\U0010ffff", "\ue000", "👩\u200d👩"],
]


async def found(adapter: AmfsAdapter, text: str) -> list[str]:
    query = SearchQuery(text=text, sort_by="oldest", limit=None)
    return [each.key for each in (await adapter.search(query)).entries]


@proves("text.never-breaks")
async def test_nothing_that_can_be_typed_breaks_a_search(adapter: AmfsAdapter) -> None:
    await adapter.write(draft("p", "k", "something else"))
    for typed in SYNTAX:
        assert await found(adapter, typed) in ([], ["k"])
        assert await found(adapter, f"{typed} zzz") == []


@proves("text.literal")
@pytest.mark.parametrize(
    ("stored", "typed"),
    [
        ("run with --error-on-warnings now", '"--error-on-warnings"'),
        ("run with --error-on-warnings now", "--error-on-warnings"),
        ("don't panic", "don't"),
        ("see foo:bar", "foo:bar"),
        ("TS 38.101 says", "38.101"),
        ("is NOT x", "NOT x"),
        ("cats AND dogs", "AND"),
        ("NEAR(the end", "NEAR("),
        ("costs 100% more", "100%"),
        ("in file_name.txt", "file_name"),
        ("the -x flag", "-x"),
        ("a {x} in braces", "{x}"),
        ("written in c++", "c++"),
        ("path C:\\temp\\x", "C:\\temp\\x"),
        ("ab\0cd", "cd"),
        ("mail me@example.org", "me@example.org"),
        ("e\u0301te\u0301", "été"),
        ("Straße", "STRASSE"),
        ("\uff26\uff35\uff2c\uff2c width", "full"),
        ("ПРИВЕТ мир", "привет"),
        ("ﬁnd", "find"),
        ("\u03b2 and Ω", "ω"),
        ("naïve 42 café", "42"),
        ("हिन्दी भाषा", "हिन्दी"),
        ("اللغة العربية", "العربية"),
        ("שלום עולם", "עולם"),
    ],
)
async def test_what_is_typed_is_found_where_it_stands(adapter: AmfsAdapter, stored: str, typed: str) -> None:
    await adapter.write(draft("p", "before", "nothing of it"))
    await adapter.write(draft("p", "k", stored))
    assert await found(adapter, typed) == ["k"]


@proves("text.literal")
@pytest.mark.parametrize(
    ("stored", "typed"),
    [
        ("costs 1000 more", "100%"),
        ("in filename", "file_name"),
        ("file and later name", "file_name"),
        ("x", "-y"),
        ("word", "wor"),
        ("word", "ord"),
        ("red green", '"green red"'),
        ("red and green", '"red green"'),
        ("apples", "apple"),
        ("foo", "foo OR bar"),
        ("foo", "foo NOT"),
        ("anything", "any*thing"),
    ],
)
async def test_what_is_not_there_is_not_found(adapter: AmfsAdapter, stored: str, typed: str) -> None:
    await adapter.write(draft("p", "k", stored))
    assert await found(adapter, typed) == []


@proves("text.unspaced-scripts")
@pytest.mark.parametrize(
    ("stored", "typed"),
    [
        ("今天讨论了部署方案", "部署"),
        ("今天讨论了部署方案", "方案"),
        ("今天讨论了部署方案", "今天"),
        ("今天讨论了部署方案", "讨论了部署"),
        ("今天讨论了部署方案", "案"),
        ("今天讨论了部署方案", "今"),
        ("今天讨论了部署方案", "论"),
        ("画面の設定を変更", "設定"),
        ("カタカナとひらがな", "ひら"),
        ("설정을변경했다", "변경"),
        ("ภาษาไทยไม่มีช่องว่าง", "ไทย"),
        ("重跑gen-itgc后", "itgc"),
        ("重跑gen-itgc后", "gen"),
        ("重跑gen-itgc后", "重跑"),
        ("重跑gen-itgc后", "后"),
        ("版本v2发布", "v2"),
        ("𠀀𠀁𠀂", "𠀁𠀂"),
        ("ພາສາລາວ", "ລາວ"),
        ("မြန်မာဘာသာ", "ဘာသာ"),
        ("ភាសាខ្មែរ", "ខ្មែរ"),
        ("ㄅㄆㄇㄈ", "ㄆㄇ"),
    ],
)
async def test_scripts_without_spaces_are_found_by_neighbouring_characters(
    adapter: AmfsAdapter, stored: str, typed: str
) -> None:
    await adapter.write(draft("p", "k", stored))
    assert await found(adapter, typed) == ["k"]
    assert await found(adapter, "署部") == await found(adapter, "案今") == []


@proves("text.terms")
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("blue", ["a", "b"]),
        ("BLUE", ["a", "b"]),
        ("blue green", ["a", "b"]),
        ("green blue", ["a", "b"]),
        ('"blue green"', ["a"]),
        ('"Blue Green" deploy', ["a"]),
        ("blue red", []),
        ("depl*", ["a", "c"]),
        ("deploy*", ["a", "c"]),
        ("deploy", ["a"]),
        ('"depl*"', []),
        ("blue depl*", ["a"]),
        ("blue-gre*", ["a"]),
        ("green-bl*", []),
        ("then-bl*", ["b"]),
        ("*", []),
        ('""', []),
        ("!!! ???", []),
        ("   ", []),
        ("", ["a", "b", "c"]),
    ],
)
async def test_all_words_and_phrases_must_occur(
    adapter: AmfsAdapter, typed: str, expected: list[str]
) -> None:
    await adapter.write(draft("p", "a", "deploy blue green"))
    await adapter.write(draft("p", "b", "green then blue"))
    await adapter.write(draft("p", "c", "deployment"))
    assert await found(adapter, typed) == expected


@proves("text.searched-parts")
@pytest.mark.parametrize(
    ("typed", "is_found"),
    [
        ("pathword", True),
        ("keyword", True),
        ("tagword", True),
        ("textword", True),
        ("itemword", True),
        ("memberword", True),
        ("deepword", True),
        ("42", True),
        ("2.5", True),
        ("true", True),
        ("agentword", False),
        ("sessionword", False),
        ("extraword", False),
        ("artifactword", False),
    ],
)
async def test_path_key_tags_and_the_whole_value_are_searched(
    adapter: AmfsAdapter, typed: str, is_found: bool
) -> None:
    value = {
        "a": "textword",
        "b": ["itemword", 42, 2.5, True, None],
        "c": {"memberword": [[{"d": "deepword"}]]},
    }
    entry = draft(
        "pathword/x",
        "the-keyword",
        value,
        agent="agentword",
        session="sessionword",
        tags=("tagword",),
        artifact_refs=[{"uri": "artifactword"}],
        custom="extraword",
    )
    await adapter.write(entry)
    assert await found(adapter, typed) == (["the-keyword"] if is_found else [])


@proves("text.searched-parts")
async def test_a_word_is_found_at_the_end_of_a_long_value(adapter: AmfsAdapter) -> None:
    await adapter.write(draft("p", "k", [f"filler{n}" for n in range(20_000)] + ["needle"]))
    assert await found(adapter, "needle") == ["k"]


@proves("text.limit")
async def test_a_text_over_the_limit_is_refused(adapter: AmfsAdapter) -> None:
    await adapter.write(draft("p", "k", "word"))
    assert await found(adapter, "word " * 819) == ["k"]
    with pytest.raises(InvalidArgumentError) as caught:
        await found(adapter, "x" * 4097)
    assert caught.value.argument == "text"
    with pytest.raises(InvalidArgumentError):
        await found(adapter, "\ud83d")


@proves("text.literal", "privacy.search")
async def test_a_text_finds_nothing_hidden(adapter: AmfsAdapter) -> None:
    await adapter.write(private("p", "k", "secret", agent="bob"))
    for viewer, expected in ((None, 1), ("bob", 1), ("alice", 0)):
        page = await adapter.search(SearchQuery(text="secret"), viewer=viewer)
        assert len(page.entries) == expected
