"""Lines by chance: requests that are in order, and what becomes of them when they are damaged."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

TOOLS = ("remember", "recall", "history", "handoff", "resume", "record_outcome", "memory_stats")
TEXTS = (
    "listing/482",
    "assessment",
    "a",
    "",
    " ",
    "/",
    "a//b",
    "../../etc/passwd",
    "'; DROP TABLE versions; --",
    '" OR 1=1 --',
    "100% _ \\",
    'word AND (NEAR "x"*',
    "\x00",
    "\x1b[31m\u202e\u2028",
    "\ud800",
    "\U0001f600" * 20,
    "x" * 5_000,
    "_system/handoff",
    "h_00000000",
    "listing/482/assessment@1",
)
PLAIN = 3
"""So many of these are in order wherever a text may stand."""
JSON = (
    "{}",
    "[]",
    "null",
    "1e400",
    '{"a": {"a": 1}}',
    "[" * 200 + "]" * 200,
    "{",
    '"\\ud800"',
    "-0",
    "9" * 5_000,
)
METHODS = (
    "tools/list",
    "ping",
    "resources/list",
    "prompts/list",
    "logging/setLevel",
    "initialize",
    "nothing",
    "",
)
OUTCOMES = ("success", "failure", "minor_failure", "critical_failure", "no such")
NAMES = {
    "remember": (
        "scope",
        "key",
        "value",
        "value_json",
        "confidence",
        "tags",
        "expected_version",
        "idempotency_key",
    ),
    "recall": ("scope", "key", "text", "tag", "min_confidence", "limit", "cursor"),
    "history": ("scope", "key", "limit", "cursor"),
    "handoff": ("summary", "next_steps", "open_questions", "refs", "to_agent", "idempotency_key"),
    "resume": ("handoff_id", "peek"),
    "record_outcome": ("outcome", "outcome_ref", "refs", "handoff_id", "note"),
    "memory_stats": ("verify",),
}


@dataclass(frozen=True)
class Line:
    """One line without its end; ``answered`` is the id that an answer must come for, or None."""

    content: bytes
    answered: int | None = None


class Lines:
    """Lines drawn from one source of chance: the same seed gives the same lines."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._next_id = 0
        self._ways: Sequence[Callable[[bytes], bytes]] = (
            self._flipped,
            self._cut,
            self._doubled,
            self._inserted,
            self._swapped,
            self._nested,
            self._retyped,
        )

    def next(self) -> Line:
        """A request that is in order, a notification, a damaged request, or no message at all."""
        kind = self._chance.random()
        if kind < 0.35:
            message = self._request()
            return Line(_encoded(message), message["id"])
        if kind < 0.42:
            return Line(_encoded(self._notification()))
        if kind < 0.5:
            return Line(self._noise())
        line = _encoded(self._request())
        for _ in range(self._chance.randint(1, 3)):
            line = self._chance.choice(self._ways)(line)
        return Line(line.replace(b"\n", b" "))

    def _request(self) -> dict[str, Any]:
        self._next_id += 1
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": self._next_id}
        if self._chance.random() < 0.15:
            return message | {"method": self._chance.choice(METHODS), "params": {}}
        tool = self._chance.choice(TOOLS)
        names = [name for name in NAMES[tool] if self._chance.random() < 0.8]
        # A value is given in one of two ways.
        if "value" in names and "value_json" in names:
            names.remove(self._chance.choice(("value", "value_json")))
        if self._chance.random() < 0.05:
            names.append(self._text())
        return message | {
            "method": "tools/call",
            "params": {"name": tool, "arguments": {name: self._argument(name) for name in names}},
        }

    def _argument(self, name: str) -> Any:
        if self._chance.random() < 0.1:
            return self._value()
        match name:
            case "value_json":
                return self._chance.choice(JSON)
            case "confidence" | "min_confidence":
                return self._chance.choice((0, 0.5, 0.8, 1, 2, -1, 1e308))
            case "limit" | "expected_version":
                return self._chance.choice((-1, -1, -1, 0, 1, 5, 200, 2**63, 10**30))
            case "tags" | "next_steps" | "open_questions" | "refs":
                return [self._text() for _ in range(self._chance.randint(0, 4))]
            case "outcome":
                return self._chance.choice(OUTCOMES)
            case "peek" | "verify":
                return self._chance.random() < 0.5
        return self._text()

    def _text(self) -> str:
        return self._chance.choice(TEXTS[:PLAIN] if self._chance.random() < 0.5 else TEXTS)

    def _value(self) -> Any:
        return self._chance.choice((None, True, 7, 1.5, "", [], {}, [[]], {"a": None}, "text", 10**400))

    def _notification(self) -> dict[str, Any]:
        method = self._chance.choice(("cancelled", "initialized", "progress", "no/such"))
        params = {"requestId": self._chance.randint(0, self._next_id + 1), "progressToken": 1, "progress": 2}
        # A request may be cancelled before it is answered: of one that is long answered it means nothing.
        if method == "cancelled":
            params["requestId"] = self._chance.choice((-1, "x", 10**30))  # type: ignore[assignment]  # any
        return {"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params}

    def _noise(self) -> bytes:
        size = self._chance.choice((0, 1, 3, 50, 4_000))
        noise = self._chance.randbytes(size) if self._chance.random() < 0.5 else b"[{" * size
        return noise.replace(b"\n", b" ")

    def _place(self, line: bytes) -> int:
        return self._chance.randrange(len(line) + 1)

    def _flipped(self, line: bytes) -> bytes:
        at = self._place(line)
        return line[:at] + bytes([self._chance.randrange(256)]) + line[at + 1 :]

    def _cut(self, line: bytes) -> bytes:
        return line[: self._place(line)] if self._chance.random() < 0.5 else line[self._place(line) :]

    def _doubled(self, line: bytes) -> bytes:
        start, end = sorted((self._place(line), self._place(line)))
        return line[:end] + line[start:end] * self._chance.choice((1, 2, 50)) + line[end:]

    def _inserted(self, line: bytes) -> bytes:
        pieces = (
            b"\x00",
            b"\r",
            b"\xff\xfe",
            b"\xed\xa0\x80",
            b'"',
            b"{",
            b"}",
            b"[",
            b"\\u0000",
            b"1e999",
            b"NaN",
        )
        at = self._place(line)
        return line[:at] + self._chance.choice(pieces) + line[at:]

    def _swapped(self, line: bytes) -> bytes:
        first, second = sorted((self._place(line), self._place(line)))
        return line[second:] + line[first:second] + line[:first]

    def _nested(self, line: bytes) -> bytes:
        depth = self._chance.choice((1, 100, 5_000))
        return b"[" * depth + line + b"]" * depth

    def _retyped(self, line: bytes) -> bytes:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return line + b"}"
        if not isinstance(message, dict) or not message:
            return b"[" + line + b"]"
        message[self._chance.choice([*message, "id", "method", "params", "extra"])] = self._value()
        return _encoded(message)


def _encoded(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode()
