"""Blocks of the documents as things to do: commands with what they print, and servers to start."""

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from parity_tests.docs.commands import Command
from parity_tests.docs.pages import Block

ANYTHING = "..."
"""Stands in a document for an output that is not shown."""

# What differs from run to run, and how a document may spell it.
_DIFFERS = (
    (re.compile(r"\bh_[0-9a-f]{8}\b"), "h_00000001"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ"), "2026-01-01 09:00:00Z"),
)
# How many tests there are grows: a document says N.
_GROWING = re.compile(r"\b\d+ (?=hold\b|not run\b)")


@dataclass(frozen=True)
class Step:
    """A command of a block, and what it is said to print; None where nothing is said."""

    command: Command
    shown: str | None


def steps(block: Block) -> Iterator[Step]:
    """The commands of a block: a line each, or in a ``console`` those behind a ``$``."""
    if block.language == "sh":
        for line in block.text.splitlines():
            if line and not line.startswith("#"):
                yield Step(Command.parsed(line), None)
        return
    for part in block.text.removeprefix("$ ").split("\n$ "):
        line, _, shown = part.partition("\n")
        yield Step(Command.parsed(line), None if shown.strip() == ANYTHING else shown)


def file_name(block: Block) -> str:
    """The file that a sample is: the one its first line names in a comment, or one of its own."""
    named = re.match(r"# (\w+\.py)\n", block.text)
    return named[1] if named else "sample.py"


def configuration_name(block: Block) -> str | None:
    """The file that a configuration is, which its first line names in a comment."""
    named = re.match(r"# (\w+\.yaml)\n", block.text)
    return named[1] if named else None


def alike(printed: str, shown: str) -> bool:
    r"""Whether a document shows what was printed, but for what differs from run to run.

    >>> told = ("packet h_1f4089bf\n", "25 hold; 3 not run"), ("packet h_00000001", "N hold; N not run")
    >>> [alike(*each) for each in zip(*told)], alike("25 hold", "25 hold")
    ([True, True], False)
    """
    return _without_differences(_GROWING.sub("N ", printed)) == _without_differences(shown)


def servers(block: Block) -> list[Command]:
    """The servers that the configuration of a client names; none where the block is none."""
    document: dict[str, Any] = {"json": json.loads, "toml": tomllib.loads}[block.language](block.text)
    found = []
    for member in ("mcpServers", "servers", "mcp_servers", "mcp"):
        for server in document.get(member, {}).values():
            command, more = server["command"], server.get("args", [])
            words = [command, *more] if isinstance(command, str) else [*command, *more]
            found.append(Command(tuple(words), tuple(server.get("env", {}).items())))
            # In VS Code's form the kind of connection must be told.
            assert member != "servers" or server["type"] == "stdio", block.place
    return found


def spelled(command: Command) -> str:
    """A command as it is typed."""
    return shlex.join([*(f"{name}={value}" for name, value in command.variables), *command.words])


def _without_differences(text: str) -> str:
    for differing, spelling in _DIFFERS:
        text = differing.sub(spelling, text)
    return text.strip()
