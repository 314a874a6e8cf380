"""What the documents tell people to type works as they say."""

import importlib.util
import json
import re
from dataclasses import replace
from pathlib import Path

import click
import pytest

from bridge.cli.main import app, main
from bridge.mcp_server.server import TOOLS
from bridge.settings import SETTINGS
from parity_tests.docs import pages, samples
from parity_tests.docs.commands import (
    CLIENTS,
    HOOK,
    IN_A_CLONE,
    INSTALLERS,
    MODULES,
    OURS,
    SDK_PROGRAMS,
    SDK_SERVER,
    Command,
    UnknownCommandError,
    Workshop,
    installable,
    project_targets,
)
from parity_tests.docs.generate import MADE
from parity_tests.docs.pages import Block
from parity_tests.ledger import proves

ALL = pages.names()
# The examples of the pages that are made were run when they were made, and are again by the test
# that compares them; the demo's transcript has a test of its own.
WRITTEN = [page for page in ALL if page not in {*MADE, pages.TRANSCRIPT}]
# A page starts program after program, which takes its time where others need the machine too.
PATIENCE_S = 600
SECTION = re.compile(r"^--- .*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)


class Reader:
    """Does what a page says, block by block, in one folder."""

    def __init__(self, workshop: Workshop) -> None:
        self.workshop = workshop
        self.printed: str | None = None
        """What the last block printed and the page has not shown yet."""

    def follow(self, block: Block) -> None:
        """Do what the block says, and see that it is so."""
        before, self.printed = self.printed, None
        match block.language:
            case "sh" | "console":
                for step in samples.steps(block):
                    self.perform(step)
            case "python":
                name = samples.file_name(block)
                (self.workshop.folder / name).write_text(block.text, encoding="utf-8")
                self.printed = self.workshop.run(Command(("python", name)))
            case "text" if before is not None:
                assert block.text == before
            case "text":
                sections = SECTION.findall(pages.text(pages.TRANSCRIPT))
                assert [each for each in SECTION.findall(block.text.strip()) if each not in sections] == []
                assert SECTION.sub("", block.text).strip() == ""
            case "json" | "toml":
                servers = samples.servers(block)
                assert servers, "names no server"
                for server in servers:
                    self.serve(server)
            case "yaml" if (named := samples.configuration_name(block)) is not None:
                (self.workshop.folder / named).write_text(block.text, encoding="utf-8")
            case "markdown":
                names = {*TOOLS, *(name for tool in TOOLS.values() for name in tool.arguments.model_fields)}
                assert set(re.findall(r"`([^`]+)`", block.text)) <= names
            case _:
                raise UnknownCommandError(f"a block of {block.language or 'no language'}")

    def perform(self, step: samples.Step) -> None:
        """Run a command of ours; of a command of others see that it is one that leads to ours."""
        command = step.command
        if (server := command.server()) is not None and not command.only_asks():
            self.serve(server)
        elif (what := command.begins(*INSTALLERS)) is not None:
            assert len(what) == 1
            assert what[0] in installable()
        elif (what := command.begins(*IN_A_CLONE)) is not None:
            assert what[0] in project_targets()
            assert all((pages.ROOT / path).exists() for path in what[1:]), what
        elif (what := command.begins(HOOK)) is not None:
            assert what in ((), ("--remove",))
        elif command.words[:1] and command.words[0] in SDK_PROGRAMS:
            self.perform(
                samples.Step(replace(command, words=("amfs-sqlite", "run", *command.words)), step.shown)
            )
        elif command.words[:1] and command.words[0] in OURS:
            printed = self.workshop.run(command)
            if step.shown is not None:
                assert samples.alike(printed, step.shown), printed
        else:
            raise UnknownCommandError(samples.spelled(command))

    def serve(self, server: Command) -> None:
        """See that a server lists its tools."""
        tools = self.workshop.tools(server)
        if server.begins(SDK_SERVER) is None:
            assert tools == list(TOOLS)
        else:
            assert "amfs_write" in tools


def commands_in_sentences(page: str) -> list[Command]:
    """The commands in a page's sentences; a program that is only named is none."""
    programs = {*OURS, *CLIENTS, *(way[0] for way in (*INSTALLERS, *IN_A_CLONE))}
    found = []
    for span in pages.spans(page):
        first = re.sub(r"^([A-Z_]+=\S* )+", "", span).partition(" ")[0]
        if first in programs and span != first:
            found.append(Command.parsed(span))
    return found


@pages.documents_here
@proves("docs.blocks")
@pytest.mark.timeout(PATIENCE_S)
@pytest.mark.parametrize("page", WRITTEN)
def test_every_block_of_a_page_does_what_the_page_says(page: str, workshop: Workshop) -> None:
    reader = Reader(workshop)
    for block in pages.blocks(page):
        try:
            reader.follow(block)
        except AssertionError as wrong:
            pytest.fail(f"{block.place}: {wrong}")
    assert not reader.printed, "the page does not show what its last sample prints"


@pages.documents_here
@proves("docs.sentences")
@pytest.mark.timeout(PATIENCE_S)
@pytest.mark.parametrize("page", ALL)
def test_every_command_in_a_sentence_can_be_given(
    page: str,
    demo_file: Path,
    workshop: Workshop,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(workshop.folder)
    claimed = claimed_packet(capsys)
    for command in commands_in_sentences(page):
        in_this_process = command.words[1:2] not in (("run",), HOOK[1:])
        if command.words[0] == "amfs-sqlite" and command.server() is None and in_this_process:
            words = [claimed if word == "ID" else word for word in command.words[1:]]
            assert main(words) == 0, f"{page}: {samples.spelled(command)}"
        elif command.begins(("python", "-m")) is not None:
            # Each of these has tests of its own.
            assert command.words[2] in MODULES
            assert importlib.util.find_spec(command.words[2]) is not None
        else:
            Reader(workshop).perform(samples.Step(command, None))


@pages.documents_here
@proves("docs.sentences")
@pytest.mark.parametrize("page", ALL)
def test_every_argument_and_variable_in_a_sentence_exists(page: str) -> None:
    arguments = {option for command in every_command() for each in command.params for option in each.opts}
    arguments |= {each.flag for each in SETTINGS} | {"--version", "--help"}
    variables = {each.variable for each in SETTINGS} | {"NO_COLOR", "XDG_DATA_HOME", "PATH"}
    for span in pages.spans(page):
        if span.startswith("--"):
            assert span.split()[0] in arguments, span
        if re.fullmatch(r"(MEMORY_|AGENT_|XDG_|NO_|PATH)[A-Z_]*", span):
            assert span in variables, span


def every_command() -> list[click.Command]:
    """All subcommands, and those of subcommands."""
    found: list[click.Command] = [app]
    for command in found:
        if isinstance(command, click.Group):
            found += command.commands.values()
    return found


def claimed_packet(capsys: pytest.CaptureFixture[str]) -> str:
    """The id of the one packet that somebody holds."""
    assert main(["packets", "list", "--state", "claimed", "--json"]) == 0
    (packet,) = json.loads(capsys.readouterr().out)["packets"]
    return str(packet["id"])


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("sh", "amfs-sqlite what"),
        ("sh", "rm -r here"),
        ("sh", "make everything"),
        ("sh", "pip install something-else"),
        ("sh", "pip install amfs-sqlite"),
        ("sh", "claude mcp add memory -- amfs-sqlite-mcp --what"),
        ("sh", "uvx amfs-sqlite mcp"),
        ("console", "$ amfs-sqlite --version\nsomething else"),
        ("python", "raise SystemExit(1)"),
        ("json", '{"mcpServers": {}}'),
        ("json", '{"mcpServers": {"memory": {"command": "amfs-sqlite-mcp", "args": ["--agent", ""]}}}'),
        ("json", '{"servers": {"memory": {"type": "http", "command": "amfs-sqlite-mcp"}}}'),
        ("text", "--- 9. made up ---\n  . a line"),
        ("markdown", "call `forget`"),
        ("yaml", "a: 1"),
    ],
)
@pages.documents_here
def test_what_does_not_work_is_noticed(workshop: Workshop, language: str, text: str) -> None:
    with pytest.raises(AssertionError):
        Reader(workshop).follow(Block("made-up.md", 1, language, f"{text}\n"))


@pages.documents_here
def test_an_output_that_is_not_what_was_printed_is_noticed(workshop: Workshop) -> None:
    reader = Reader(workshop)
    reader.follow(Block("made-up.md", 1, "python", "print(1)\n"))
    with pytest.raises(AssertionError):
        reader.follow(Block("made-up.md", 5, "text", "2\n"))
