"""Worlds: the few names, values and instants that one run is about, so that its steps meet."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from amfs_sqlite import AMFS_0_3, HANDOFF, OutcomePolicy

NAMES = [
    *[
        "p",
        "é",
        "e\u0301",
        "Straße",
        "STRASSE",
        "İ",
        "i",
        "ﬁ",
        "fi",
        "今天部署",
        "😀",
        "\U0010ffff",
        "\ufeffa",
    ],
    *["a\0b", "a\0", "\0", "\n", " ", " a", "a\t", "a\u2028b", "\x1b[2J", "\u202eb"],
    *["%", "_", "a_b", "a*", "[a-z]", "\\", "'", '"', "x' OR 1=1 --", "; drop", ":path0", "?1", "$.x"],
    *[
        "/",
        "//",
        "a/",
        "/a",
        "a//b",
        "..",
        "../..",
        "C:\\x",
        "~",
        "k@1",
        "@2",
        "0",
        "01",
        "1e0",
        "None",
        "__proto__",
    ],
]
WORDS = [
    *[
        "blue green deploy",
        "Don't re-index file_name",
        "今天讨论了部署方案",
        "Развёртывание ДВИЖЕТСЯ",
        "ﬁne Straße",
    ],
    *[
        "İstanbul \u0131ss\u0131z",
        "e\u0301té été",
        "a\0b",
        "AND NOT ( NEAR",
        "10% of x_y",
        "ไทย ภาษา",
        "한국어 문서",
        "x" * 200,
    ],
]
PIECES = [
    "blue",
    "GREEN",
    "dep*",
    '"green deploy"',
    "部署",
    "方",
    "развёр*",
    "движется",
    "strasse",
    "fine",
    "été",
    "file_name",
]
PIECES += [
    "istanbul",
    "한국",
    "ภา",
    "1",
    "1.0",
    "true",
    "a",
    "b",
    '"',
    "*",
    "AND",
    "(",
    "-",
    ":",
    "^",
    "\0",
    "x" * 128 + "*",
]
PARTS = [
    "B",
    "gre",
    '":',
    "[1",
    "{",
    "\\",
    "%",
    "_",
    "ß",
    "SS",
    "i̇",
    "İ",
    "ПОЗ",
    "ВИЖ",
    "部",
    "\0",
    "1.0",
    "e5",
    "null",
    "/",
    "",
]
VALUES: list[Any] = [
    *[
        None,
        True,
        1,
        1.0,
        0,
        -0.0,
        2**70,
        1e-7,
        1e300,
        "",
        [],
        {},
        [[[]]],
        "blue",
        {"z": [1.0, None], "a": "green"},
    ],
    *[{"Note": ["部署"], "é": {"\0": "x"}}, ["1", 1, "true", True], {"": ""}, "\u2028", "𐀀"],
]
START = datetime(2026, 1, 1, tzinfo=UTC)
INSTANTS = [
    START,
    START + timedelta(microseconds=1),
    START + timedelta(milliseconds=1),
    START - timedelta(microseconds=1),
    START + timedelta(days=31),
    datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999_998, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
]
STRANGER = "carol"

SPELLABLE = st.characters(exclude_categories=["Cs"])
NAME = st.sampled_from(NAMES) | st.text(SPELLABLE, min_size=1, max_size=5)
"""Names that can be written under, most of them such as somebody somewhere takes for others."""

_TEXT = st.sampled_from(WORDS) | st.text(SPELLABLE, max_size=8)
_SCALAR = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT
_INNER = _SCALAR | st.lists(_SCALAR, max_size=3)
VALUE = (
    st.sampled_from([*WORDS, *VALUES])
    | _SCALAR
    | st.lists(_INNER, max_size=3)
    | st.dictionaries(_TEXT, _INNER, max_size=3)
)
"""Whatever JSON holds."""


@dataclass(frozen=True)
class World:
    """What one run draws from. ``viewers`` are who looks after every step, None being the owner."""

    policy: OutcomePolicy
    paths: tuple[str, ...]
    keys: tuple[str, ...]
    agents: tuple[str, ...]
    tags: tuple[str, ...]
    values: tuple[Any, ...]
    instants: tuple[datetime, ...]

    @property
    def viewers(self) -> tuple[str | None, ...]:
        """The owner, those who write, and one who never does."""
        return (None, *self.agents, STRANGER)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """A world: paths that lie within and beside each other, few keys, two agents."""
    path, other, key = draw(NAME), draw(NAME), draw(NAME)
    paths = [path, f"{path}/{other}", f"{path}{other}", f"{path}/", other, "_system/h", "_system", "_systems"]
    agents = draw(st.sampled_from([("alice", "bob"), ("alice", ""), ("", "é"), ("bob", "Bob")]))
    return World(
        policy=draw(st.sampled_from([AMFS_0_3, HANDOFF])),
        paths=tuple(draw(st.lists(st.sampled_from(paths), min_size=2, max_size=3, unique=True))),
        keys=(key, draw(st.sampled_from(["k", f"{other}/{key}", key.upper(), f"{key} ", f"{key}@1"]))),
        agents=agents,
        tags=tuple(draw(st.lists(NAME, min_size=1, max_size=2))),
        values=tuple(draw(st.lists(VALUE, min_size=2, max_size=4))),
        instants=tuple(draw(st.lists(st.sampled_from(INSTANTS), min_size=2, max_size=4, unique=True))),
    )
