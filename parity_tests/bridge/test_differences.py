"""The line that says what changed."""

import unicodedata
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bridge.handoff.differences import (
    MAX_DIFFERENCE_CHARACTERS,
    MEMBER_CHARACTERS,
    WHOLE_CHARACTERS,
    difference,
)
from parity_tests.ledger import proves

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@proves("bridge.change-line")
@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("yes", "no", '"yes" -> "no"'),
        (1, 1.0, "1 -> 1.0"),
        (None, {"a": 1}, 'null -> {"a": 1}'),
        ([1, 2], [1, 3], "[1, 2] -> [1, 3]"),
        ({"a": 1, "b": 2}, {"b": 2, "a": 3}, "a: 1 -> 3"),
        ({"a": 1, "b": 2}, {"b": 3, "c": 4}, "removed a: 1; b: 2 -> 3; added c: 4"),
        ({"a": 1}, {"a": True}, "a: 1 -> true"),
        ({"a b": 1, "": 2}, {"a b": 2, "": 3}, '"a b": 1 -> 2; "": 2 -> 3'),
        ({"a": {"x": 1}}, {"a": {"x": 2}}, 'a: {"x": 1} -> {"x": 2}'),
        ("a\nb", "a\r\u2028\u202e\x1b[1mb", '"a\\nb" -> "a\\r\\u2028\\u202e\\u001b[1mb"'),
        ({"\u202ex": 1}, {"\u202ex": 2}, '"\\u202ex": 1 -> 2'),
        ("路径", "路经", '"路径" -> "路经"'),
    ],
)
def test_members_are_named_and_values_shown(old: Any, new: Any, line: str) -> None:
    assert difference(old, new) == line


@proves("bridge.change-line")
def test_a_difference_deep_in_a_long_text_is_seen() -> None:
    start = "x" * 1000
    assert difference(start + "apply", start + "skip it") == ('...xxxxxxxxxapply" -> ...xxxxxxxxxskip it"')
    line = difference({"note": start + "a" * 99}, {"note": start + "b" * 99})
    assert line.startswith("note: ...xxxxxxxxxaaa")
    assert line.count("...") == 4


@proves("bridge.change-line")
@pytest.mark.parametrize(("start", "shown"), [("x" * 11, '"xxxxxxxxxxx'), ("x" * 12, "...xxxxxxxxx")])
def test_of_a_long_common_beginning_its_end_is_shown(start: str, shown: str) -> None:
    line = difference(f"{start}a", f"{start}b")
    assert [each[: len(shown)] for each in line.split(" -> ")] == [shown, shown]


@proves("bridge.change-line")
@pytest.mark.parametrize(("old", "new"), [("a" * 200, "b" * 200), (10**99, 2 * 10**99)])
def test_what_is_long_is_cut_visibly_on_both_sides(old: Any, new: Any) -> None:
    before, after = difference(old, new).split(" -> ")
    assert (len(before), len(after)) == (WHOLE_CHARACTERS, WHOLE_CHARACTERS)
    assert before.endswith("...")
    assert after.endswith("...")
    at_the_limit = [each * (WHOLE_CHARACTERS - 2) for each in "ab"]
    assert "..." not in difference(*at_the_limit)


@proves("bridge.change-line")
def test_a_long_member_name_is_cut_visibly() -> None:
    name = "x" * MEMBER_CHARACTERS
    assert difference({name: 1}, {name: 2}) == f"{name}: 1 -> 2"
    cut = difference({f"{name}x": 1}, {f"{name}x": 2}).removesuffix(": 1 -> 2")
    assert (len(cut), cut[-4:]) == (MEMBER_CHARACTERS, "x...")


@proves("bridge.change-line")
@pytest.mark.parametrize("count", range(1, 12))
def test_the_line_is_as_full_as_it_can_be(count: int) -> None:
    old = {f"m{number:02}": "aaaa" for number in range(count)}
    new = dict.fromkeys(old, "bbbb")
    line = difference(old, new)
    pieces = [f'{name}: "aaaa" -> "bbbb"' for name in old]
    fitting = [
        text
        for shown in range(1, count + 1)
        if len(text := "; ".join(pieces[:shown] + [f"and {count - shown} more"] * (shown < count)))
        <= MAX_DIFFERENCE_CHARACTERS
    ]
    assert line == fitting[-1]


@proves("bridge.change-line")
def test_many_changes_are_counted() -> None:
    old = {f"member_{number}": number for number in range(100)}
    new = {name: value + 1 for name, value in old.items()}
    line = difference(old, new)
    shown = line.count(" -> ")
    assert line.startswith("member_0: 0 -> 1; member_1: 1 -> 2; ")
    assert line.endswith(f"; and {100 - shown} more")


@proves("bridge.change-line")
@UNHURRIED
@given(JSON, JSON)
def test_any_difference_is_one_short_line_of_printable_characters(old: Any, new: Any) -> None:
    line = difference(old, new)
    assert len(line) <= MAX_DIFFERENCE_CHARACTERS
    assert not any(unicodedata.category(each) in {"Cc", "Cf", "Zl", "Zp"} for each in line)
    assert line.isprintable()


@proves("bridge.change-line")
@UNHURRIED
@given(st.text(), st.text(), st.text())
def test_two_texts_that_differ_are_shown_different(start: str, one: str, other: str) -> None:
    assume(one != other)
    line = difference([start + one], [start + other])
    half = (len(line) - len(" -> ")) // 2
    assert line[:half] != line[half + len(" -> ") :]
