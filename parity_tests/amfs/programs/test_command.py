"""The SDK's command `amfs` on a file of ours."""

import json
import sys

import pytest

from parity_tests.amfs.programs.processes import RUN, TEST_PATIENCE_S, Place, needs
from parity_tests.ledger import proves

pytestmark = pytest.mark.timeout(TEST_PATIENCE_S)

AMFS = (*RUN, "amfs")
TRANSACTION = """
import amfs_sqlite.sync
from amfs import AgentMemory

amfs_sqlite.sync.register()
with AgentMemory("scout") as memory, memory.transaction("two limits") as change:
    change.write("svc/api", "limit", 10)
    change.write("svc/api", "a/b", 20)
"""
"""What the command shows of a commit, it cannot make."""


@needs("amfs_cli", "amfs-cli")
@proves("programs.command")
def test_what_the_command_writes_it_reads_finds_and_verifies(place: Place) -> None:
    place.said(*AMFS, "write", "svc/api", "retries", "3", "--agent", "scout")
    assert "svc/api/retries v2" in place.said(*AMFS, "write", "svc/api", "retries", '{"most": 5}')
    read = place.said(*AMFS, "inspect", "read", "svc/api", "retries")
    assert "svc/api/retries v2" in read
    assert '"most": 5' in read
    assert "retries" in place.said(*AMFS, "search", "most")
    assert "No " in place.said(*AMFS, "search", "absent")
    history = place.said(*AMFS, "inspect", "diff", "svc/api", "retries")
    assert "scout" in history
    assert "cli" in history
    assert "Checked 2 entries: 2 valid" in place.said(*AMFS, "verify")


@needs("amfs_cli", "amfs-cli")
@proves("programs.command")
def test_the_command_shows_the_commits_of_transactions(place: Place) -> None:
    place.said(sys.executable, "-c", TRANSACTION)
    (commit,) = json.loads(place.said(*AMFS, "log", "--json"))
    assert (commit["message"], commit["author_agent_id"]) == ("two limits", "scout")
    assert [(each["entity_path"], each["key"]) for each in commit["entries"]] == [
        ("svc/api", "limit"),
        ("svc/api", "a/b"),
    ]


@needs("amfs_cli", "amfs-cli")
@proves("programs.command")
def test_a_snapshot_of_the_command_becomes_an_equal_memory(place: Place) -> None:
    place.said(*AMFS, "write", "svc/api", "retries", "3")
    place.said(*AMFS, "write", "svc", "api/limit", "10")
    place.said(*AMFS, "snapshot", "export", "all.json")
    place.db.rename(place.folder / "before.db")
    assert "No " in place.said(*AMFS, "inspect", "list")
    assert "Restored 2 entries" in place.said(*AMFS, "snapshot", "restore", "all.json")
    assert place.said(*AMFS, "inspect", "read", "svc", "api/limit").splitlines()[-1] == "10"
