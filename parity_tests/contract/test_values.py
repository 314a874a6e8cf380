"""Values: any JSON comes back as it went in; what is no JSON is refused by name."""

import datetime as dt
import decimal
import enum
import hashlib
import json
from typing import Any

import pytest

from amfs_sqlite import AmfsAdapter, InvalidArgumentError, Write
from amfs_sqlite.rules.limits import MAX_OUTCOME_COUNT
from parity_tests.contract.soundness import is_sound
from parity_tests.drafts import draft, outcome
from parity_tests.ledger import proves
from parity_tests.state import refused, text


def nested(levels: int) -> Any:
    value: Any = "innermost"
    for level in range(levels):
        value = {"in": value} if level % 2 else [value]
    return value


NUMBERS = [0, -0.0, 0.0, 1, 1.0, True, -1, 2**53 + 1, 2**63, -(2**64), 10**4299, -(10**4300 - 1)]
FLOATS = [1e16, 1e-7, 1e22, 1e23, 5e-324, 1.7976931348623157e308, 0.1 + 0.2, 123456789012345680.0]
STRINGS = [
    *["", " ", "null", "[1]", "{}", "true", " 1", "1.0", '"quoted"', "\\u0041", "NaN"],
    *["ab\0cd", "\0", "a\r\nb\rc\n", "\ufeff", "\u2028\u2029", "\u202e", "\x1b[31m", "\x7f"],
    *["é", "e\u0301", "今天讨论了部署方案", "😀👩\u200d👩", "\U0010ffff", "\ufffe", "\ud7ff\ue000"],
]
SHAPES = [
    *[None, False, [], {}, [[]], [{}], {"": ""}, [None, [None]]],
    {"z": 1, "a": 2, "m": {"z": [1, {"b": 0, "a": 0}]}},
    {"a\0b": 1, "é": 1, "e\u0301": 1, "1": 1, "__proto__": 1, "$ref": "#", "key.with.dots": 1},
    list(range(1000)),
    {str(n): n for n in range(1000)},
    nested(128),
    "x" * 1_000_000,
]


@proves("values.round-trip")
@pytest.mark.parametrize("values", [NUMBERS, FLOATS, STRINGS, SHAPES])
async def test_any_json_comes_back_exactly(adapter: AmfsAdapter, values: list[Any]) -> None:
    written = await adapter.write_batch([draft("v", str(n), v) for n, v in enumerate(values)])
    for n, value in enumerate(values):
        read = await adapter.read("v", str(n))
        assert read is not None
        assert text(read.value) == text(written[n].value) == text(value)
    assert await is_sound(adapter)


@proves("values.content-hash")
@pytest.mark.parametrize("values", [NUMBERS[:-2], FLOATS, STRINGS, SHAPES])
async def test_the_content_hash_is_that_of_the_value_read_back(
    adapter: AmfsAdapter, values: list[Any]
) -> None:
    await adapter.write_batch([draft("v", str(n), value) for n, value in enumerate(values)])
    for entry in await adapter.list():
        canonical = json.dumps(entry.value, sort_keys=True, separators=(",", ":"))
        assert entry.content_hash == hashlib.sha256(canonical.encode()).hexdigest()


@proves("values.content-hash")
@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (1, 1.0, False),
        (1, True, False),
        (0.0, -0.0, False),
        (None, "null", False),
        ([1], "[1]", False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ((1, 2), [1, 2], True),
        (1e16, 10**16, False),
        ("é", "e\u0301", False),
    ],
)
async def test_values_hash_alike_only_when_they_are_the_same_json(
    adapter: AmfsAdapter, one: Any, other: Any, alike: bool
) -> None:
    written = [await adapter.write(draft(key=key, value=v)) for key, v in (("a", one), ("b", other))]
    assert (written[0].content_hash == written[1].content_hash) is alike


@proves("values.member-order")
async def test_members_keep_their_order(adapter: AmfsAdapter) -> None:
    await adapter.write(draft(value={"z": 1, "a": {"y": 1, "b": 1}}))
    read = await adapter.read("svc/a", "k")
    assert read is not None
    assert json.dumps(read.value) == '{"z": 1, "a": {"y": 1, "b": 1}}'


class Colour(enum.Enum):
    RED = 1


REFUSED: list[Any] = [
    float("nan"),
    float("inf"),
    {"a": [0, float("-inf")]},
    {1, 2},
    frozenset(),
    b"bytes",
    bytearray(b"bytes"),
    dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
    dt.date(2026, 1, 1),
    decimal.Decimal("1.0"),
    1j,
    object(),
    Colour.RED,
    {1: "a", "1": "b"},
    {None: 1},
    {("a", "b"): 1},
    {True: 1},
    ["fine", {"deep": {"er": {1}}}],
    "\ud83d",
    {"text": "a\udc00b"},
    {"\ud83d": 1},
    10**4300,
    [-(10**4300)],
    nested(129),
    nested(100_000),
    "x" * (16 * 1024 * 1024 - 1),
]


@proves("values.refused")
@pytest.mark.parametrize("value", REFUSED, ids=range(len(REFUSED)))
async def test_what_is_no_json_is_refused(adapter: AmfsAdapter, value: Any) -> None:
    error = await refused(adapter, adapter.write(draft(value=value)), InvalidArgumentError)
    assert error.argument.startswith("value")


@proves("values.refused")
async def test_a_value_that_holds_itself_is_refused(adapter: AmfsAdapter) -> None:
    circle: list[Any] = []
    circle.append(circle)
    error = await refused(adapter, adapter.write(draft(value=circle)), InvalidArgumentError)
    assert error.argument.startswith("value")


@proves("values.largest")
async def test_the_largest_value_is_stored(adapter: AmfsAdapter) -> None:
    largest = "x" * (16 * 1024 * 1024 - 2)
    await adapter.write(draft(value=largest))
    read = await adapter.read("svc/a", "k")
    assert read is not None
    assert read.value == largest
    assert (await adapter.write(draft(value="small"))).version == 2


LONE = "a\ud83db"


@proves("values.surrogates")
@pytest.mark.parametrize(
    "fields",
    [
        {"agent": LONE},
        {"session": LONE},
        {"tags": ("fine", LONE)},
        {"amfs_version": LONE},
        {"artifact_refs": [{"uri": LONE}]},
        {"artifact_refs": [{"uri": "a", "label": LONE}]},
        {"artifact_refs": [{"uri": "a", "media_type": LONE}]},
        {"custom": LONE},
        {"custom": {"deep": [LONE]}},
        {"custom": {LONE: 1}},
    ],
    ids=ascii,
)
async def test_a_lone_surrogate_anywhere_in_an_entry_is_refused(
    adapter: AmfsAdapter, fields: dict[str, Any]
) -> None:
    await refused(adapter, adapter.write(draft(**fields)), InvalidArgumentError)
    assert (await adapter.write(draft(key="next"))).version == 1


@proves("outcomes.refused", "values.surrogates")
@pytest.mark.parametrize(
    "fields",
    [
        {"outcome_ref": LONE},
        {"agent": LONE},
        {"note": LONE},
        {"session_id": LONE},
        {"causal_entry_keys": [f"p/{LONE}"]},
        {"custom": [LONE]},
    ],
    ids=ascii,
)
async def test_a_lone_surrogate_anywhere_in_an_outcome_is_refused(
    adapter: AmfsAdapter, fields: dict[str, Any]
) -> None:
    await adapter.write(draft())
    record = outcome("success", **fields)
    await refused(adapter, adapter.commit_outcome(record), InvalidArgumentError)


@proves("commits.all-or-nothing", "values.surrogates")
@pytest.mark.parametrize(
    "fields", [{"author": LONE}, {"message": LONE}, {"session_id": LONE}, {"idempotency_key": LONE}]
)
async def test_a_lone_surrogate_anywhere_around_a_commit_is_refused(
    adapter: AmfsAdapter, fields: dict[str, str]
) -> None:
    attempt = adapter.commit([Write(draft())], **{"author": "alice", **fields})
    await refused(adapter, attempt, InvalidArgumentError)


@proves("values.surrogates")
@pytest.mark.parametrize("commit_id", [LONE, "x" * 4097], ids=["surrogate", "long"])
async def test_a_commit_id_to_adopt_that_cannot_be_stored_is_refused(
    adapter: AmfsAdapter, commit_id: str
) -> None:
    attempt = adapter.write_batch([draft(commit_id=commit_id)])
    await refused(adapter, attempt, InvalidArgumentError)


NO_JSON = pytest.mark.parametrize(
    "fields",
    [{"custom": {1, 2}}, {"custom": float("nan")}, {"custom": {1: 1}}, {"custom": nested(200)}],
    ids=["set", "nan", "number-name", "deep"],
)


@proves("values.refused-extras")
@NO_JSON
async def test_an_unknown_field_that_is_no_json_is_refused(
    adapter: AmfsAdapter, fields: dict[str, Any]
) -> None:
    await refused(adapter, adapter.write(draft(**fields)), InvalidArgumentError)


@proves("outcomes.refused", "values.refused-extras")
@NO_JSON
async def test_an_unknown_field_of_an_outcome_that_is_no_json_is_refused(
    adapter: AmfsAdapter, fields: dict[str, Any]
) -> None:
    await adapter.write(draft())
    record = outcome("success", "svc/a/k", **fields)
    await refused(adapter, adapter.commit_outcome(record), InvalidArgumentError)


@proves("values.refused-names")
@pytest.mark.parametrize(
    ("fields", "argument"),
    [
        ({"agent": "x" * 4097}, "agent_id"),
        ({"session": "x" * 4097}, "session_id"),
        ({"tags": ("x" * 4097,)}, "tags"),
        ({"tags": ("x",) * 1001}, "tags"),
        ({"outcome_count": -1}, "outcome_count"),
        ({"outcome_count": MAX_OUTCOME_COUNT + 1}, "outcome_count"),
    ],
)
async def test_what_is_over_a_limit_is_refused_by_name(
    adapter: AmfsAdapter, fields: dict[str, Any], argument: str
) -> None:
    error = await refused(adapter, adapter.write(draft(**fields)), InvalidArgumentError)
    assert error.argument == argument
