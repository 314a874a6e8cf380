"""Hostile text, given and stored, through every tool and every command: it is shown, and does nothing."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import click
import pytest

from amfs_sqlite import HANDOFF, AmfsAdapter, FixedClock, SqliteAdapter
from bridge.cli.exits import EXIT_CODES
from bridge.cli.main import app
from bridge.mcp_server import records
from bridge.operations import entries, outcomes, packets
from bridge.session import Session
from parity_tests.cli.conftest import Run, run  # noqa: F401 - a fixture
from parity_tests.ledger import proves
from parity_tests.mcp.agents import Agents, text
from parity_tests.security.hostile import INJECTIONS, SHOWN

TEXTS = (*SHOWN, *INJECTIONS[:12])
# Commands that start another program, or whose arguments are files.
ELSEWHERE = {
    *("mcp", "demo", "run", "install-hook"),
    *("backup", "restore", "export", "import", "anchor", "verify"),
}


def scope(each: str) -> str:
    """A scope with this text in it, as far as one may have it: '/' parts scopes."""
    return f"scope {each.replace('/', '|')}"


async def filled(adapter: AmfsAdapter) -> None:
    """Hostile text wherever text can stand: names, values, tags, authors, notes, packets, messages."""
    for number, each in enumerate(TEXTS):
        session = Session(adapter, f"agent {each}", f"session {each}")
        await entries.remember(session, scope(each), f"key {each}", each, tags=[each])
        await entries.remember(session, "plain", f"k{number}", {each: [each]}, tags=["plain"])
        await packets.give(session, f"sum {each}", next_steps=[each, "x"], open_questions=[f"open {each}"])
        await outcomes.record_outcome(session, "failure", f"ref {each}", note=f"note {each}")


def is_contained(line: str) -> bool:
    """Whether a line is visible, and begins with nothing that a stored text wrote there."""
    return line.isprintable() and not line.startswith(
        ("finding damage", "verify: nothing", "# Heading", "second")
    )


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("recall", {}),
    ("recall", {"limit": 200}),
    ("recall", {"text": "first"}),
    ("recall", {"scope": "plain"}),
    ("resume", {"peek": True}),
    ("resume", {}),
    ("memory_stats", {"verify": True}),
    *(("recall", {"scope": scope(each), "key": f"key {each}"}) for each in TEXTS),
    *(("recall", {"tag": each}) for each in TEXTS),
    *(("history", {"scope": scope(each), "key": f"key {each}"}) for each in TEXTS),
    *(("remember", {"scope": "new", "key": each, "value": each, "tags": [each]}) for each in TEXTS),
    *(("handoff", {"summary": each, "to_agent": each}) for each in TEXTS),
    *(("record_outcome", {"outcome": "success", "outcome_ref": each, "note": each}) for each in TEXTS),
]


@proves("security.tools")
@pytest.mark.parametrize("structured", ["on", "off"])
async def test_whatever_is_stored_a_tool_shows_it_as_text_under_a_word_about_it(structured: str) -> None:
    async with SqliteAdapter(":memory:", outcomes=HANDOFF) as adapter, AsyncExitStack() as clients:
        await filled(adapter)
        agents = Agents(adapter, FixedClock(), "auto", clients, {"structured": structured})
        agent = await agents("scout")
        for tool, arguments in CALLS:
            said = await agent.answer(tool, **arguments)
            lines = text(said).split("\n")
            assert all(is_contained(line) for line in lines), (tool, arguments, lines)
            reads = tool in ("recall", "history") or (tool == "resume" and not lines[0].startswith("nothing"))
            if reads and not said.is_error and "0 records" not in lines[0]:
                assert lines[0] == records.STORED, (tool, arguments)
            if said.structured_content is not None:
                # As an object the text stands exactly; on the wire it is JSON on one line.
                assert "\n" not in json.dumps(said.structured_content)


def commands(
    group: click.Group, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command, with the words that name it."""
    for name, command in group.commands.items():
        if name in ELSEWHERE:
            continue
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))
        else:
            yield (*words, name), command


def given_to(words: tuple[str, ...], command: click.Command, each: str) -> Iterator[list[str]]:
    """Calls with this text as the argument, and as each option that takes a text."""
    yield [*words, "--", each]
    yield [*words, "--", each, each]
    for option in command.params:
        if isinstance(option, click.Option) and option.type is click.STRING and option.name != "db":
            yield [*words, f"{option.opts[0]}={each}"]


NAMED = [(words, command) for words, command in commands(app)]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("hostile") / "memory.db"

    async def made() -> None:
        async with SqliteAdapter(path, outcomes=HANDOFF, clock=FixedClock()) as adapter:
            await filled(adapter)

    asyncio.run(made())
    return path.read_bytes()


@pytest.fixture
def hostile_path(template: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store full of it, in an empty folder that is the current one; MEMORY_DB names it."""
    path = tmp_path / "memory.db"
    path.touch(0o600)
    path.write_bytes(template)
    monkeypatch.setenv("MEMORY_DB", str(path))
    monkeypatch.chdir(tmp_path)
    return path


@proves("security.commands")
@pytest.mark.parametrize(("words", "command"), NAMED, ids=[" ".join(words) for words, _ in NAMED])
def test_whatever_a_command_is_given_it_says_text_and_ends_with_a_code(
    hostile_path: Path,
    run: Run,  # noqa: F811 - the fixture
    words: tuple[str, ...],
    command: click.Command,
) -> None:
    for form in ([*words], [*words, "--json"]):
        ran = run(*form)
        assert ran.code in EXIT_CODES
        assert all(is_contained(line) for line in (ran.out + ran.err).splitlines())
    for each in TEXTS:
        for arguments in given_to(words, command, each):
            ran = run(*arguments)
            assert ran.code in EXIT_CODES, (arguments, ran)
            assert "Traceback" not in ran.err
            assert all(is_contained(line) for line in ran.out.splitlines()), (arguments, ran.out)
            assert all(line.isprintable() for line in ran.err.splitlines()), (arguments, ran.err)
    assert {each.name for each in hostile_path.parent.iterdir()} <= {
        f"memory.db{suffix}" for suffix in ("", "-wal", "-shm", "-lock")
    }
    assert run("verify").code == 0
