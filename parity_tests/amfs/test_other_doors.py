"""What the SDK wrote, as the command and the MCP server show it."""

import json
from pathlib import Path
from typing import Any

import pytest
from amfs import AgentMemory
from amfs_core.models import OutcomeType

from amfs_sqlite import HANDOFF, FixedClock, SqliteAdapter
from bridge.cli.main import main
from parity_tests.amfs.corpus import opened
from parity_tests.ledger import proves
from parity_tests.mcp.agents import Agents


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A file with what an agent does in a session."""
    path = tmp_path / "memory.db"
    with opened(path) as adapter, AgentMemory("scout", adapter=adapter) as memory:
        memory.write("svc/api", "limits/retry", {"most": 3}, confidence=0.7, pattern_refs=["retry"])
        with memory.transaction("two keys") as transaction:
            transaction.write("svc/api", "a", 1)
            transaction.write("svc/api", "b", 2)
        memory.read("svc/api", "limits/retry")
        memory.commit_outcome("t-1", OutcomeType.SUCCESS, causal_entry_keys=["svc/api/limits/retry"])
    return path


@proves("amfs.other-doors")
def test_the_command_shows_what_the_sdk_wrote(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def ran(*arguments: str) -> Any:
        assert main([*arguments, "--db", str(written), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    shown = ran("show", "svc/api", "limits/retry")
    assert (shown["entry"]["version"], shown["entry"]["value"], shown["successCount"]) == (2, {"most": 3}, 1)
    (told,) = ran("outcomes")["outcomes"]
    assert told["record"]["outcomeRef"] == "t-1"
    assert [effect["policy"] for effect in told["effects"]] == ["amfs-evidence"]
    commits = ran("log")["commits"]
    assert "two keys" in [commit["message"] for commit in commits]
    assert ran("verify")["findings"] == []
    assert len(ran("history", "svc/api", "limits/retry")["records"]) == 2
    assert main(["log", "--db", str(written)]) == main(["outcomes", "--db", str(written)]) == 0


@proves("amfs.other-doors")
async def test_the_mcp_server_recalls_what_the_sdk_wrote(written: Path, clock: FixedClock) -> None:
    async with SqliteAdapter(written, outcomes=HANDOFF) as adapter:
        agents = Agents(adapter, clock, "legacy")
        async with agents.clients:
            scout = await agents("scout")
            recalled = await scout.call("recall", scope="svc/api", key="limits/retry")
            assert '{"most":3}' in recalled.replace(" ", "")
            found = await scout.call("recall", scope="svc/api")
            assert "limits/retry" in found
        assert (await adapter.verify()).ok
