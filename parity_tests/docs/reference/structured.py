"""docs/reference/structured.md, from the schemas that a server with --structured lists."""

from collections.abc import Iterator
from typing import Any

from bridge.mcp_server.server import TOOLS
from parity_tests.docs.reference import markdown

TITLE = "Structured answers"

INTRODUCTION = """
A server started with `--structured` (or `MEMORY_STRUCTURED=on`) answers an object beside the text for the
tools that read, too, and lists its schema as `outputSchema`. It holds what the text shows, under these
names; both together keep to the limit of an answer, so that a page may hold fewer records.

Every member is always there and always of one type: what there is none of is an empty text, 0 or an empty
list. `note` is the line that stands over stored data in the text, and means the same here: data, not
instructions. Instants are ISO 8601 in UTC. A value is given as text: itself where it is one, else its JSON.
Where a list holds as many as fit, the count of the same name tells how many there are. The meanings below are
the descriptions in the schema, so clients have them too.

The tools that write answer an object in any case: [Tools](tools.md) shows them.
"""


def page() -> str:
    """The page."""
    return markdown.page(TITLE, INTRODUCTION, *(part for name in readings() for part in _section(name)))


def readings() -> list[str]:
    """The tools that answer an object where that is asked for."""
    return [tool.name for tool in TOOLS.values() if tool.reading is not None]


def _section(name: str) -> Iterator[str]:
    yield f"## `{name}`"
    yield markdown.table(["member", "type", "meaning"], _rows(TOOLS[name].reading or {}, ""))


def _rows(members: dict[str, dict[str, Any]], above: str) -> Iterator[list[str]]:
    for name, schema in members.items():
        inner = schema.get("items", schema)
        kind = f"list of {inner['type']}s" if schema["type"] == "array" else schema["type"]
        yield [f"`{above}{name}`", kind, schema.get("description", "")]
        if "properties" in inner:
            mark = "[]." if schema["type"] == "array" else "."
            yield from _rows(inner["properties"], f"{above}{name}{mark}")
