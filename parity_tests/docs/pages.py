"""The README and the documentation as tests read them: pages, code blocks, code in sentences, links."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
IS_CLONE = (ROOT / "pyproject.toml").is_file() and (ROOT / "docs").is_dir()
documents_here = pytest.mark.skipif(not IS_CLONE, reason="the documents are not part of an installed copy")

README = "README.md"
INDEX = "docs/README.md"
TRANSCRIPT = "docs/demo-transcript.md"
REFERENCE = "docs/reference"
EXPLANATION = "docs/explanation"

_FENCE = re.compile(r"^(?P<fence>`{3,})(?P<language>\S*) *$")
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_CELL_END = re.compile(r"(?<!\\)\|")
_HEADING = re.compile(r"^#+ +(.*?) *$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page. ``line`` is the number of its first line, from 1."""

    page: str
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        """Where to look for it."""
        return f"{self.page}:{self.line}"


def names() -> tuple[str, ...]:
    """All pages, by their paths in the clone. An installed copy has none: the README stands for them."""
    if not IS_CLONE:
        return (README,)
    found = sorted((ROOT / "docs").rglob("*.md"))
    return (README, *(path.relative_to(ROOT).as_posix() for path in found))


def text(page: str) -> str:
    """What a page says."""
    return (ROOT / page).read_text(encoding="utf-8")


def title(page: str) -> str:
    """The first heading of a page."""
    return headings(page)[0]


def headings(page: str) -> list[str]:
    """All headings of a page, without those in blocks."""
    return _HEADING.findall("\n".join(line for _, line in _parts(page)[1]))


def blocks(page: str) -> list[Block]:
    """All fenced blocks of a page, in order."""
    return _parts(page)[0]


def spans(page: str) -> list[str]:
    """All code in sentences and tables, in order, without blocks and headings."""
    return [span for _, line in _parts(page)[1] if not line.startswith("#") for span in _SPAN.findall(line)]


def links(page: str) -> list[str]:
    """The targets of all links of a page."""
    return [target for _, line in _parts(page)[1] for target in _LINK.findall(line)]


def tables(page: str) -> list[list[list[str]]]:
    """All tables of a page: rows of cells, the headings first."""
    found: list[list[list[str]]] = []
    within = False
    for _, line in _parts(page)[1]:
        if line.startswith("|"):
            if not within:
                found.append([])
            found[-1].append([cell.strip() for cell in _CELL_END.split(line.strip())[1:-1]])
        within = line.startswith("|")
    return [[row for row in table if set("".join(row)) != {"-"}] for table in found]


def _parts(page: str) -> tuple[list[Block], list[tuple[int, str]]]:
    """The blocks of a page, and the lines outside of them with their numbers."""
    found: list[Block] = []
    prose: list[tuple[int, str]] = []
    lines = enumerate(text(page).splitlines(), 1)
    for number, line in lines:
        if opened := _FENCE.match(line):
            inside = "".join(f"{each}\n" for each in _until(opened["fence"], lines))
            found.append(Block(page, number + 1, opened["language"], inside))
        else:
            prose.append((number, line))
    return found, prose


def _until(fence: str, lines: Iterator[tuple[int, str]]) -> Iterator[str]:
    for _, line in lines:
        if line.rstrip() == fence:
            return
        yield line
    raise AssertionError(f"the block that begins with {fence} is never closed")
