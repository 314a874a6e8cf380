"""Stored text in answers: on its line, visible, exact, and cut only with a word about it."""

import json
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amfs_sqlite import EntryRef, MemoryEntry
from bridge import rendering
from bridge.mcp_server import pages, records
from parity_tests.ledger import proves

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
ANY_TEXT = st.text(st.characters(codec="utf-8"))
HOSTILE = [
    "a\nb",
    "a\r\nb",
    "a\x00b",
    "\x1b[31mred",
    "a\x85b",
    "a\u2028b\u2029c",
    "\u202egnp.exe",
    "\u2066x\u2069",
    "zero\u200bwidth\u200d\ufeff",
    "\U000e0041\U000e0042",
    "\u3164",
    "\ufe00\U000e0100",
    "\u00a0\u2003",
    "lone \udc00",
]


def is_shown(text: str) -> bool:
    return text.isprintable() and not any(unicodedata.category(each)[0] == "C" for each in text)


@proves("mcp.stored-contained")
@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_not_to_be_seen_is_escaped_and_comes_back_exactly(text: str) -> None:
    for shown in (rendering.token(text), rendering.word(text)):
        assert is_shown(shown)
        assert json.loads(shown) == text
    assert is_shown(rendering.one_line(text))


@proves("mcp.stored-contained")
@UNHURRIED
@given(ANY_TEXT)
def test_any_text_is_one_visible_line_that_reads_back_exactly(text: str) -> None:
    shown = rendering.token(text)
    assert is_shown(shown)
    assert json.loads(shown) == text
    word = rendering.word(text, 10**9)
    assert is_shown(word)
    assert text in (word, word.startswith('"') and json.loads(word))


@proves("mcp.stored-contained")
@pytest.mark.parametrize("text", ["a b", "x@1  99%  admin", 'say"', "a,b", "[tag]", "back\\slash", "", " "])
def test_text_that_could_pass_for_columns_is_quoted(text: str) -> None:
    assert rendering.word(text) == json.dumps(text)


@pytest.mark.parametrize("text", ["listing/482", "ü/重跑", "agent-1", "a:b", "price<5€", "❤️"])
def test_a_plain_word_stays_as_it_is(text: str) -> None:
    assert rendering.word(text) == text


@proves("mcp.stored-contained")
@UNHURRIED
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | ANY_TEXT,
        lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
        max_leaves=8,
    )
)
def test_any_value_is_one_visible_line_of_json(value: object) -> None:
    shown = rendering.Value(value).whole(10**9)
    assert shown is not None
    assert is_shown(shown)
    assert json.loads(shown) == value


@proves("mcp.pages-complete")
@UNHURRIED
@given(st.text(min_size=1), st.integers(14, 60))
def test_pieces_joined_are_the_whole_and_each_fits(text: str, limit_bytes: int) -> None:
    pieces = []
    end = 0
    while end < len(text):
        shown, end = rendering.piece(text, end, limit_bytes)
        assert rendering.size(shown) <= limit_bytes
        pieces.append(json.loads(shown))
    assert "".join(pieces) == text


@proves("mcp.answers-bounded")
@UNHURRIED
@given(ANY_TEXT, st.integers(20, 200))
def test_a_cut_value_is_well_formed_and_says_how_much_is_left_out(text: str, limit_bytes: int) -> None:
    shown = rendering.Value(text).beginning(limit_bytes, "ask for all")
    value, end = json.JSONDecoder().raw_decode(shown)
    rest = shown[end:]
    if rest:
        assert text.startswith(value)
        assert rest == f"...(text cut: {len(value)} of {len(text)} characters; ask for all)"
    else:
        assert value == text
    assert rendering.size(shown) <= limit_bytes + rendering.size(rest)


@proves("mcp.answers-bounded")
def test_a_cut_object_is_shown_as_the_beginning_of_its_json() -> None:
    value = {"verdict": "apply", "why": "x" * 1000}
    shown = rendering.Value(value).beginning(60, "ask for all")
    beginning, end = json.JSONDecoder().raw_decode(shown)
    assert json.dumps(value, separators=(",", ":")).startswith(beginning)
    assert shown[end:].startswith("...(JSON cut: ")


@proves("mcp.answers-bounded")
def test_the_heading_of_a_record_is_bounded_whatever_it_holds() -> None:
    worst = "\U000e0041" * 4096
    entry = MemoryEntry.draft(
        worst, worst, 1, agent_id=worst, tags=[worst] * 1000, ttl_at="2026-01-02"
    ).model_copy(update={"shared": False})
    entry = entry.model_copy(
        update={"provenance": entry.provenance.model_copy(update={"written_at": entry.ttl_at})}
    )
    heading = records.heading(entry)
    assert is_shown(heading)
    assert rendering.size(heading) < records.REF_BYTES + records.TAGS_BYTES + 2 * rendering.NAME_BYTES
    assert "of 8195 characters)" in heading
    assert "and 997 more]" in heading


def test_a_reference_is_printed_bare_where_it_is_plain_and_quoted_where_not() -> None:
    plain = EntryRef(entity_path="listing/482", key="assessment", version=2)
    spaced = EntryRef(entity_path="my scope", key="a\nb", version=1)
    assert records.reference(plain) == "listing/482/assessment@2"
    assert records.reference(spaced) == r'"my scope/a\nb@1"'


@proves("mcp.answers-bounded")
def test_values_are_shortened_only_as_far_as_needed_for_all_to_fit() -> None:
    value = rendering.Value("x" * 10_000)

    def line(value_bytes: int) -> str:
        return value.beginning(value_bytes, "")

    assert [len(each) for each in pages.fitting([line] * 2)] == [10_002] * 2
    many = pages.fitting([line] * 30)
    assert len(many) == 30
    assert 1_000 <= len(many[0]) < 2_000
    too_many = pages.fitting([line] * 1_000)
    assert 100 < len(too_many) < 1_000
    assert sum(len(each) + 1 for each in too_many) <= pages.ANSWER_BYTES - pages.FRAME_BYTES


@proves("mcp.answers-bounded")
def test_a_long_message_is_cut_with_a_word_about_it() -> None:
    line = rendering.one_line("ü\n" * 2_000)
    assert line.endswith("...(cut)")
    assert rendering.size(line) <= rendering.MESSAGE_BYTES + 8
