"""docs/reference/schema.md, from the schema and the comments in it."""

import re
from collections.abc import Iterator
from importlib import resources

from parity_tests.docs.reference import markdown

TITLE = "Schema"

INTRODUCTION = """
The tables of the file, with the comments of `amfs_sqlite/sqlite/schema.sql`. Read them with any SQLite
client, and write through the adapter alone: [what the hashes can and cannot
prove](../explanation/integrity.md).
"""

_COMMENT = re.compile(r"-- ?(.*)")
_CREATED = re.compile(r"CREATE (?P<kind>TABLE|VIRTUAL TABLE|INDEX) (?P<name>\w+) ?(?P<rest>.*)")
_COLUMN = re.compile(r"    (?P<name>[a-z_]+) +(?P<kind>[A-Z]+)(?P<rest>.*?),? *(?:-- (?P<comment>.*))?")
_CONSTRAINT = re.compile(
    r"    (?P<text>(?:UNIQUE|PRIMARY KEY) \(.*?\)|FOREIGN KEY \(.*?\) REFERENCES \w+ \(.*?\)),?"
)


def page() -> str:
    """The page."""
    return markdown.page(TITLE, INTRODUCTION, *parts(source().splitlines()))


def source() -> str:
    """The schema as it ships."""
    return resources.files("amfs_sqlite.sqlite").joinpath("schema.sql").read_text(encoding="utf-8")


def parts(lines: list[str]) -> Iterator[str]:
    """The parts of the page. Raises ValueError for a line of no known form."""
    remarks: list[str] = []
    waiting = iter(lines)
    for line in waiting:
        if comment := _COMMENT.fullmatch(line):
            remarks.append(comment[1])
        elif not line:
            # Remarks that an empty line follows are about everything below.
            yield from _remarks(remarks)
        elif created := _CREATED.fullmatch(line):
            yield from _object(created, remarks, waiting)
        else:
            raise ValueError(f"the schema has a line of no known form: {line}")


def _object(created: re.Match[str], remarks: list[str], waiting: Iterator[str]) -> Iterator[str]:
    name, rest = created["name"], created["rest"]
    if created["kind"] == "INDEX":
        while not rest.endswith(";"):
            rest = f"{rest} {next(waiting).strip()}"
        yield f"Index `{name}` {rest.rstrip(';').replace('ON ', 'on `', 1)}`"
        return
    yield f"## `{name}`"
    yield from _remarks(remarks)
    if created["kind"] == "VIRTUAL TABLE":
        yield f"Virtual: `{rest.rstrip(';')}`"
        return
    columns, constraints = [], []
    for line in waiting:
        if line.startswith(")"):
            break
        if column := _COLUMN.fullmatch(line):
            columns.append(_column(column))
        elif constraint := _CONSTRAINT.fullmatch(line):
            constraints.append(f"`{constraint['text']}`")
        else:
            raise ValueError(f"the table {name} has a line of no known form: {line}")
    yield markdown.table(["column", "type", "rule", "meaning"], columns)
    if constraints:
        yield ", ".join(constraints)


def _column(column: re.Match[str]) -> list[str]:
    rest = column["rest"].strip()
    nullable = "" if "NOT NULL" in rest or "PRIMARY KEY" in rest else "may be NULL"
    rules = rest.replace("NOT NULL", "").strip()
    said = "; ".join(each for each in (markdown.code(rules), nullable) if each)
    return [markdown.code(column["name"]), column["kind"], said, column["comment"] or ""]


def _remarks(remarks: list[str]) -> Iterator[str]:
    """The paragraphs of remarks, which are then done with."""
    text = "\n".join(remarks).strip()
    remarks.clear()
    if text:
        yield markdown.prose(text)
