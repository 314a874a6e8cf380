"""What a tool of this server is."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from mcp.types import Tool, ToolAnnotations

from bridge.mcp_server.arguments import Arguments
from bridge.mcp_server.readings import closed
from bridge.mcp_server.workplace import Workplace

A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call gives: text, and for an acknowledgement or where asked for the same facts as an object."""

    text: str
    facts: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class MemoryTool(Generic[A]):
    """A tool: what clients are told about it, and the one function behind it.

    ``facts`` are the members of an acknowledgement's object, each with its JSON schema; ``reading`` those
    of a reading's, which a server gives that was asked for structured answers.
    """

    name: str
    title: str
    description: str
    arguments: type[A]
    run: Callable[[Workplace, A], Awaitable[Answer]]
    reads_only: bool = False
    is_idempotent: bool = False
    facts: dict[str, dict[str, Any]] | None = None
    reading: dict[str, dict[str, Any]] | None = None

    async def call(self, workplace: Workplace, given: dict[str, Any]) -> Answer:
        """Check the arguments and run. Raises AmfsError for what cannot be done."""
        return await self.run(workplace, self.arguments.checked(given))

    def listed(self, *, structured: bool = False) -> Tool:
        """The tool as tools/list shows it."""
        members = self.reading if structured and self.facts is None else self.facts
        return Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=self.arguments.input_schema(),
            output_schema=None if members is None else closed(members),
            annotations=ToolAnnotations(
                read_only_hint=self.reads_only,
                destructive_hint=False,
                idempotent_hint=self.is_idempotent,
                open_world_hint=False,
            ),
        )
