"""The wire: every request is answered, nothing else goes out, and no line can stop the server."""

from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters

from amfs_sqlite import HANDOFF, SqliteAdapter
from bridge.mcp_server.lines import MAX_LINE_BYTES
from parity_tests.ledger import proves
from parity_tests.mcp.agents import ERAS, after, text
from parity_tests.mcp.processes import COMMAND, environment, server

RECORD = {"scope": "listing/482", "key": "assessment"}


def tool_call(identifier: int, arguments: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"remember","arguments":%b}}' % (
        identifier,
        arguments,
    )


@proves("mcp.eras", "mcp.handoff", "mcp.resume")
async def test_an_agent_of_each_era_hands_over_to_the_other_through_one_file(
    tmp_path: Path,
) -> None:
    db = tmp_path / "folder" / "memory.db"

    def client(agent: str, mode: str) -> Client:
        arguments = [*COMMAND[1:], "--db", str(db), "--agent", agent]
        command = StdioServerParameters(command=COMMAND[0], args=arguments, env=environment(), cwd=Path.cwd())
        return Client(command, mode=mode)

    async with client("scout", "legacy") as scout, client("executor", "auto") as executor:
        assert scout.protocol_version < "2026" <= executor.protocol_version
        assert len((await executor.list_tools()).tools) == 7
        await scout.call_tool("remember", {**RECORD, "value": "apply"})
        given = await scout.call_tool("handoff", {"summary": "One listing"})
        await scout.call_tool("remember", {**RECORD, "value": "maybe"})
        taken = text(await executor.call_tool("resume", {})).split("\n")
        facts = given.structured_content
        assert isinstance(facts, dict)
        assert taken[1].startswith(f"{facts['handoffId']}  from scout to whoever comes")
        assert any(line.startswith("listing/482/assessment@1  80%") for line in taken)
        assert any(line.startswith("stale: listing/482/assessment was pinned at 1") for line in taken)
        outcome = {"outcome": "success", "outcome_ref": "run-1", "handoff_id": facts["handoffId"]}
        closed = await executor.call_tool("record_outcome", outcome)
        assert closed.structured_content is not None
        assert closed.structured_content["packetState"] == "closed"
        stats = text(await scout.call_tool("memory_stats", {"verify": True})).split("\n")
        assert after(stats, "file:") == str(db.resolve())
        assert after(stats, "agent:") == "scout"
        assert after(stats, "packets:") == "0 open, 0 claimed, 1 closed, 0 cancelled"
        assert after(stats, "verify:").endswith("nothing found")


@proves("mcp.every-id-answered", "mcp.invalid-utf8", "mcp.bounded-lines")
@pytest.mark.parametrize("era", ERAS)
async def test_every_request_is_answered_whatever_comes_in_between(tmp_path: Path, era: str) -> None:
    unreadable = {
        1: tool_call(1, rb'{"scope":"a","key":"k","value":"\ud83d"}'),
        2: tool_call(2, b'{"scope":"a","key":"k","confidence":' + b"9" * 5000 + b"}"),
        3: tool_call(3, b'{"scope":"a","key":"k","value":' + b"[" * 250 + b"]" * 250 + b"}"),
        4: tool_call(4, b'{"scope":"a","key":"\xff","value":"v"}'),
        5: tool_call(5, b'{"scope":"a","key":"\xfe","value":"v"}'),
        6: b'{"jsonrpc":"2.0","id":6}',
        7: b'{"jsonrpc":"2.0","method":"tools/call","params":[],"id":7}',
        8: b'{"jsonrpc":"2.0","id":8,"method":"x","params":{"v":"' + b"x" * MAX_LINE_BYTES + b'"}}',
    }
    async with server(tmp_path / "m.db", era=era) as served:
        for line in unreadable.values():
            await served.send(b"garbage \xff\x00 {")
            await served.send(line)
        await served.send(b"\n" * 10 + b"garbage\n" * 1000)
        for identifier in unreadable:
            error = (await served.answer(identifier))["error"]
            assert error["code"] in (-32700, -32600)
            assert error["message"].isascii()
        unknown = served.request(20, "tools/call", {"name": "nope", "arguments": {}})
        await served.send(unknown)
        assert (await served.answer(20))["error"]["code"] == -32602
        await served.call("remember", scope="a", key="k", value="v")
        assert "a/k@1" in await served.call("recall")
        assert await served.leave() == 0
        assert served.answers() == {}
    assert "(1000 so far)" not in served.complaints
    assert "(512 so far)" in served.complaints
    assert 0 < served.complaints.count("\n") < 50
    assert "Traceback" not in served.complaints


@proves("mcp.stdout-clean", "mcp.stats")
@pytest.mark.parametrize("era", ERAS)
async def test_nothing_but_messages_goes_out_and_all_that_was_asked_is_answered_at_the_end(
    tmp_path: Path, era: str
) -> None:
    noisy = {
        "PYTHONWARNINGS": "always",
        "PYTHONIOENCODING": "ascii:strict",
        "LC_ALL": "C",
        "PYTHONDEVMODE": "1",
        "AGENT_ID": "agent-\u00fc",
        "MEMORY_NAMESPACE": "team",
        "MEMORY_LEASE_S": "60",
        "MEMORY_DURABILITY": "normal",
    }
    async with server(tmp_path / "m.db", "--session", "s-1", era=era, variables=noisy) as served:
        stats = (await served.call("memory_stats")).split("\n")
        settings = ("agent:", "session:", "namespace:", "durability:")
        assert [after(stats, label) for label in settings] == [
            "agent-\u00fc",
            "s-1",
            "team",
            "normal",
        ]
        asked = [
            await served.ask("remember", scope="\u91cd\u8dd1", key="k", value="\U0001f600"),
            await served.ask("recall"),
            await served.ask("history", scope="no", key="such"),
            await served.ask("handoff", summary="\u00fc"),
            await served.ask("resume"),
            await served.ask("record_outcome", outcome="success", outcome_ref="r"),
            await served.ask("memory_stats", verify=True),
        ]
        # The input ends with all of it still open, and each is answered before the end.
        assert await served.leave() == 0
        assert set(asked) <= served.answers().keys()
        assert all("result" in served.answers()[each] for each in asked)
    assert "Traceback" not in served.complaints


@proves("mcp.stdout-clean")
@pytest.mark.parametrize("trouble", ["foreign", "folder-is-a-file"])
async def test_a_file_that_cannot_be_used_ends_the_server_with_one_line(tmp_path: Path, trouble: str) -> None:
    foreign = tmp_path / "notes.txt"
    foreign.write_bytes(b"not a database, " * 500)
    db = foreign if trouble == "foreign" else foreign / "m.db"
    async with server(db, greet=False) as served:
        assert await served.ended() == 1
    assert served.answers() == {}
    assert served.complaints.startswith("amfs-sqlite-mcp: ")
    assert served.complaints.count("\n") == 1
    assert str(db) in served.complaints
    assert foreign.read_bytes() == b"not a database, " * 500


@proves("mcp.many-servers")
async def test_eight_servers_started_at_once_serve_one_file_and_lose_nothing(
    tmp_path: Path,
) -> None:
    db = tmp_path / "m.db"
    servers, writes = 8, 10

    async def work(number: int) -> None:
        era = ERAS[number % 2]
        async with server(db, "--agent", f"agent-{number}", era=era) as served:
            await served.send(served.request(1, "tools/list", {}))
            assert len((await served.answer(1))["result"]["tools"]) == 7
            asked = [
                await served.ask("remember", scope="shared", key="k", value=f"{number}.{i}")
                for i in range(writes)
            ]
            for each in asked:
                assert not (await served.answer(each))["result"].get("isError")
            assert await served.leave() == 0

    async with anyio.create_task_group() as working:
        for number in range(servers):
            working.start_soon(work, number)
    async with SqliteAdapter(db, outcomes=HANDOFF) as adapter:
        values = {entry.value for entry in await adapter.history("shared", "k")}
        assert values == {f"{n}.{i}" for n in range(servers) for i in range(writes)}
        assert (await adapter.verify()).ok
