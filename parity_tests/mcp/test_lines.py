"""Lines of bounded length, and what is found in one that is no message."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp.types import JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from bridge.mcp_server.lines import LineSplitter, OverlongLine
from bridge.mcp_server.screening import SKIMMED_BYTES, Unreadable, screened
from parity_tests.ledger import proves

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
DEEP = b"[" * 250 + b"]" * 250
HUGE = b"9" * 5000


def request(params: bytes, identifier: bytes = b"7") -> bytes:
    return b'{"jsonrpc":"2.0","id":%b,"method":"tools/call","params":{"x":%b}}' % (
        identifier,
        params,
    )


def answered(line: bytes | OverlongLine) -> list[tuple[object, int]]:
    """The id and the code of each answer to a line that is no message."""
    found = screened(line)
    assert isinstance(found, Unreadable)
    answers = [json.loads(refusal.line()) for refusal in found.refusals]
    for answer in answers:
        assert answer["jsonrpc"] == "2.0"
        assert answer["error"]["message"].startswith(("parse_error: ", "invalid_request: "))
    return [(answer["id"], answer["error"]["code"]) for answer in answers]


@UNHURRIED
@given(st.lists(st.binary(max_size=30).map(lambda text: text.replace(b"\n", b""))), st.data())
def test_a_stream_splits_into_its_lines_wherever_it_is_cut(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"\n".join(lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=5)))
    splitter = LineSplitter()
    found: list[bytes | OverlongLine] = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += splitter.feed(stream[start:end])
    assert [*found, splitter.rest()] == (lines or [b""])


@proves("mcp.bounded-lines")
@pytest.mark.parametrize("chunk_bytes", [1, 7, 1000])
def test_an_overlong_line_is_dropped_to_its_end_but_for_both_ends(chunk_bytes: int) -> None:
    stream = b"before\n" + b"head" + b"x" * 300 + b"tail\nafter\n"
    splitter = LineSplitter(limit_bytes=100, kept_bytes=4)
    found: list[bytes | OverlongLine] = []
    for start in range(0, len(stream), chunk_bytes):
        found += splitter.feed(stream[start : start + chunk_bytes])
        assert len(splitter._held) <= 100 + chunk_bytes
    assert found == [b"before", OverlongLine(b"head", b"tail", 308), b"after"]


@proves("mcp.every-id-answered")
@pytest.mark.parametrize(
    ("line", "code"),
    [
        (request(rb'"\ud83d"'), -32700),
        (request(rb'"\udc00"'), -32700),
        (request(rb'"\ud83dx"'), -32700),
        (request(rb'"\x"'), -32700),
        (request(HUGE), -32700),
        (request(DEEP), -32700),
        (request(b"[" * 200_000), -32700),
        (request(b'"\xff"'), -32700),
        (request(b'"\xed\xa0\xbd"'), -32700),
        (request(b'"a\tb"'), -32700),
        (request(b"1,"), -32700),
        (request(b'"unfinished'), -32700),
        (request(b'"x"') + b"}", -32700),
        (b"\xef\xbb\xbf" + request(b"1"), -32700),
        (b'{"id":7,"method":"ping"}', -32600),
        (b'{"jsonrpc":"1.0","id":7,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":7}', -32600),
        (b'{"jsonrpc":"2.0","id":7,"method":5}', -32600),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}', -32600),
        (b'{ "params" : {"id":1,"x":[{"id":2}]} , "method":5, "id" : 7 }', -32600),
    ],
)
def test_a_request_that_cannot_be_read_is_answered_by_its_id(line: bytes, code: int) -> None:
    assert answered(line) == [(7, code)]


@proves("mcp.every-id-answered")
@pytest.mark.parametrize(
    ("identifier", "echoed"),
    [
        (b'"seven"', "seven"),
        (b'"a\\"}b"', 'a"}b'),
        (b'"\\ud83d"', "\ud83d"),
        (b'"\xc3\xbc"', "ü"),
        (b"-3", -3),
        (b"7.0", 7.0),
        (b"1e2", 100.0),
        (b"12345678901234567890123", 12345678901234567890123),
    ],
)
def test_an_id_comes_back_just_as_it_was_sent(identifier: bytes, echoed: object) -> None:
    found = screened(request(DEEP, identifier))
    assert isinstance(found, Unreadable)
    assert found.refusals[0].id == identifier
    assert json.loads(found.refusals[0].line())["id"] == echoed


@proves("mcp.every-id-answered")
@pytest.mark.parametrize("identifier", [b"7.0", b"1.5", b"1e2"])
def test_a_request_with_an_impossible_id_is_no_notification(identifier: bytes) -> None:
    line = b'{"jsonrpc":"2.0","method":"ping","id":%b}' % identifier
    assert answered(line) == [(float(identifier), -32600)]


@proves("mcp.every-id-answered")
@pytest.mark.parametrize(
    "line",
    [
        b"garbage",
        b'"id":7',
        b"7",
        b"{",
        b"null",
        b"[]",
        b"[1,2]",
        b'{"params":{"id":7}',
        b'{"jsonrpc":"2.0","id":null,"method":5}',
        b'{"jsonrpc":"2.0","id":true,"method":5}',
        b'{"jsonrpc":"2.0","id":{"id":7},"method":5}',
        b'{"jsonrpc":"2.0","id":"\xff","method":5}',
        b'{"jsonrpc":"2.0","id":7,"result":"\\ud83d"}',
        b'{"jsonrpc":"2.0","id":7,"error":{"code":"x"}}',
    ],
)
def test_what_is_no_request_gets_no_answer(line: bytes) -> None:
    assert answered(line) == []


@proves("mcp.every-id-answered")
def test_each_request_of_a_batch_is_refused() -> None:
    batch = [{"jsonrpc": "2.0", "id": i, "method": "ping"} for i in (1, "b")]
    line = json.dumps([*batch, {"jsonrpc": "2.0", "method": "note"}, 5]).encode()
    assert answered(line) == [(1, -32600), ("b", -32600)]


@proves("mcp.every-id-answered", "mcp.bounded-lines")
@pytest.mark.parametrize("size", [SKIMMED_BYTES + 1, 3 * SKIMMED_BYTES])
@pytest.mark.parametrize("id_first", [True, False])
def test_the_id_of_a_huge_request_is_found_at_either_end(size: int, id_first: bool) -> None:
    value = b'"\\ud83d \\"id\\":8,\\"method\\":\\"x\\"}' + b"x" * size + b'"'
    members = [b'"params":{"id":9,"value":%b}' % value, b'"method":"tools/call"']
    members.insert(0 if id_first else 2, b'"id":7')
    line = b"{" + b",".join([*members, b'"jsonrpc":"2.0"']) + b"}"
    assert answered(line) == [(7, -32700)]
    assert answered(OverlongLine(line[:65536], line[-65536:], len(line))) == [(7, -32600)]


@proves("mcp.every-id-answered")
def test_no_id_is_taken_from_the_inside_of_a_huge_line() -> None:
    inner = b'{"id":8,"method":"x"}'
    tail = b'{"jsonrpc":"2.0","params":{"a":"' + b"x" * 100 + b'","b":' + inner + b"}}"
    assert answered(OverlongLine(b'{"params":{"id":1,', tail, 10**9)) == []
    assert answered(OverlongLine(b'{"result":{},', b',"id":7}', 10**9)) == []


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"}', JSONRPCRequest),
        (b'{"jsonrpc":"2.0","id":"x","method":"ping","params":{"a":"\\ud83d\\ude00"}}', JSONRPCRequest),
        (b'{"jsonrpc":"2.0","method":"notifications/initialized"}', JSONRPCNotification),
        (b'{"jsonrpc":"2.0","method":"x","params":{"id":3}}', JSONRPCNotification),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}\r', JSONRPCResponse),
    ],
)
def test_a_message_passes(line: bytes, kind: type) -> None:
    assert isinstance(screened(line), kind)


@UNHURRIED
@given(st.binary(max_size=200))
def test_no_line_of_any_bytes_raises(line: bytes) -> None:
    screened(line.replace(b"\n", b""))


@UNHURRIED
@given(st.binary(max_size=60), st.integers(0, 60))
def test_no_damaged_request_raises(damage: bytes, place: int) -> None:
    whole = request(b'{"a":[1,"\\u00e9"]}')
    found = screened(whole[:place] + damage.replace(b"\n", b"") + whole[place + len(damage) :])
    if isinstance(found, Unreadable):
        assert all(json.loads(refusal.line()) for refusal in found.refusals)
