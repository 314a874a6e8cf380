"""What came in on a line: a message, or the answers that what is none must still get.

The SDK's own reader drops a line it cannot read, and whoever sent it waits for ever. Here the ids
in such a line are found and answered, without reading more of it than its top level.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    JSONRPCMessage,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from bridge.mcp_server.lines import KEPT_BYTES, MAX_LINE_BYTES, OverlongLine

# Above this size only both ends of an unreadable line are looked at.
SKIMMED_BYTES = 1024 * 1024

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_NUMBER = rb"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?"
_MARK = re.compile(_STRING + rb"|[{}\[\]]", re.DOTALL)
_VALUE = re.compile(rb"\s*+:\s*+(" + _STRING + rb"|[^\s\",:{}\[\]]++)?", re.DOTALL)
_ID = re.compile(_STRING + rb"|" + _NUMBER, re.DOTALL)
_LAST_ID = re.compile(
    rb'[,{]\s*+"id"\s*+:\s*+(' + _STRING + rb"|" + _NUMBER + rb")\s*+"
    rb'(?:,\s*+"(?:jsonrpc|method)"\s*+:\s*+' + _STRING + rb"\s*+)*+\}\s*+$",
    re.DOTALL,
)
_CONTROL = re.compile(rb"[\x00-\x1f]")

_SHAPE = (
    'a request is an object with "jsonrpc": "2.0", an "id" that is text or a whole number,'
    ' a "method" that is text and "params" that are an object'
)
_CAUSES = {
    "escape": "a broken escape or a lone surrogate; send well-formed text",
    "surrogate": "a lone surrogate; send well-formed text",
    "number out of range": "a number of more than 4300 digits; send it as text",
    "recursion limit": "too many levels of nesting; flatten it",
    "unicode code point": "bytes that are not UTF-8; send UTF-8",
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer to a request that never reached the server. ``id`` is JSON, just as it came in."""

    id: bytes
    code: int
    reason: str

    def line(self) -> bytes:
        """The answer as it goes out."""
        error = json.dumps({"code": self.code, "message": self.reason})
        return b'{"jsonrpc":"2.0","id":%b,"error":%b}\n' % (self.id, error.encode())


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line that is no message, why, and the answers due."""

    reason: str
    refusals: tuple[Refusal, ...]


def screened(line: bytes | OverlongLine) -> JSONRPCMessage | Unreadable:
    """The message on a line, or why there is none."""
    if isinstance(line, OverlongLine):
        reason = f"a message of {line.size} bytes; the limit is {MAX_LINE_BYTES}"
        return _unreadable(INVALID_REQUEST, reason, _ids(line.head, line.tail))
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as refused:
        code, reason = _why(refused)
        ends = (line, b"") if len(line) <= SKIMMED_BYTES else (line[:KEPT_BYTES], line[-KEPT_BYTES:])
        return _unreadable(code, reason, _ids(*ends) or _batched(line))
    # A request whose id is neither text nor a whole number would pass for a notification.
    if isinstance(message, JSONRPCNotification) and (ids := _ids(line, b"")):
        return _unreadable(INVALID_REQUEST, _SHAPE, ids)
    return message


def _unreadable(code: int, reason: str, ids: Iterable[bytes]) -> Unreadable:
    kind = "parse_error" if code == PARSE_ERROR else "invalid_request"
    refusals = tuple(Refusal(each, code, f"{kind}: {reason}") for each in ids)
    return Unreadable(reason, refusals)


def _why(refused: ValidationError) -> tuple[int, str]:
    first = refused.errors(include_url=False, include_input=False)[0]
    if first["type"] != "json_invalid":
        return INVALID_REQUEST, _SHAPE
    said, _, place = str(first["ctx"]["error"]).partition(" at line 1 column ")
    cause = next((text for sign, text in _CAUSES.items() if sign in said), "no JSON")
    return PARSE_ERROR, f"unreadable at byte {place}: {cause}" if place else cause


def _ids(head: bytes, tail: bytes) -> list[bytes]:
    """The id of the request that begins and ends like this; none for anything else."""
    members = _members(head)
    if b'"result"' in members or b'"error"' in members:
        return []
    found = members.get(b'"id"')
    if found is None and (last := _LAST_ID.search(tail)):
        found = last[1]
    return [found] if found is not None and _is_id(found) else []


def _members(text: bytes) -> dict[bytes, bytes]:
    """The members of the outermost object, as JSON, as far as they are no objects or arrays."""
    members = {}
    depth = 0
    for mark in _MARK.finditer(text):
        token = mark[0]
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and (value := _VALUE.match(text, mark.end())):
            members[token] = value[1] or b""
    return members


def _is_id(token: bytes) -> bool:
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return bool(_ID.fullmatch(token)) and not _CONTROL.search(token)


def _batched(line: bytes) -> list[bytes]:
    """The ids in a batch, which no protocol served here has."""
    if not line.lstrip().startswith(b"["):
        return []
    try:
        batch: Any = json.loads(line)
    except (ValueError, RecursionError):
        return []
    requests = [each for each in batch if isinstance(each, dict) and "method" in each]
    return [json.dumps(each["id"]).encode() for each in requests if _names_one(each.get("id"))]


def _names_one(identifier: object) -> bool:
    return isinstance(identifier, str | int) and not isinstance(identifier, bool)
