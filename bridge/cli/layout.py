"""Rows behind a gutter: aligned where they fit, and wrapped behind their gutter where they do not."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions
from rich.text import Text

LEAST_WIDTH = 16
GAP = "  "
LABEL_WIDTH = 13


@dataclass(frozen=True, slots=True)
class Row:
    """One row of cells.

    ``gutter`` stands before its first line, ``rail`` before each that it is wrapped to. Rows of
    equally many cells share their columns, unless they are not ``aligned``; a ``heading`` is shown
    only over columns.
    """

    cells: tuple[Text, ...]
    gutter: str = ""
    rail: str = ""
    heading: bool = False
    aligned: bool = True


class Listing:
    """Rows one below the other."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = list(rows)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        width = options.max_width
        columns = {count: self._columns(count, width) for count in {len(row.cells) for row in self._rows}}
        for row in self._rows:
            widths = columns[len(row.cells)]
            if widths or not row.heading:
                cells = _padded(row.cells, widths) if row.aligned else row.cells
                yield from _lines(console, row, cells, width)

    def _columns(self, count: int, width: int) -> list[int]:
        """How wide the columns of the rows with this many cells are; none where they do not fit.

        Rows that are too long even by themselves do not count, as long as they are the fewer.
        """
        rows = [row for row in self._rows if row.aligned and len(row.cells) == count]
        fitting = [row for row in rows if _length(row, _widths(row.cells)) <= width]
        if 2 * len(fitting) <= len(rows):
            return []
        widths = [max(each) for each in zip(*(_widths(row.cells) for row in fitting), strict=True)]
        return widths if all(_length(row, widths) <= width for row in fitting) else []


def fact(label: str, *cells: Text) -> Row:
    """A labelled row."""
    return Row(cells, f"{label:<{LABEL_WIDTH}}", " " * LABEL_WIDTH, aligned=False)


def blank(gutter: str = "") -> Row:
    """An empty row."""
    return Row((Text(),), gutter, gutter)


def _widths(cells: Sequence[Text]) -> list[int]:
    return [cell.cell_len for cell in cells]


def _length(row: Row, widths: Sequence[int]) -> int:
    return _margin(row) + sum(widths) + len(GAP) * (len(widths) - 1)


def _margin(row: Row) -> int:
    return max(len(row.gutter), len(row.rail))


def _padded(cells: tuple[Text, ...], widths: Sequence[int]) -> tuple[Text, ...]:
    """Cells as wide as their columns, if all have room in them."""
    if not widths or any(cell.cell_len > width for cell, width in zip(cells, widths, strict=True)):
        return cells
    padded = [cell.copy() for cell in cells]
    for cell, width in zip(padded, widths, strict=True):
        cell.pad_right(width - cell.cell_len)
    return tuple(padded)


def _lines(console: Console, row: Row, cells: Sequence[Text], width: int) -> Iterator[Text]:
    room = max(width - _margin(row), LEAST_WIDTH)
    gutter = row.gutter
    for line in _filled(console, cells, room):
        line.rstrip()
        yield Text.assemble((gutter, "dim"), line, no_wrap=True, overflow="ignore")
        gutter = row.rail


def _filled(console: Console, cells: Iterable[Text], room: int) -> Iterator[Text]:
    """Lines of whole cells, as many as there is room for; a cell that needs more is folded."""
    line: Text | None = None
    for cell in cells:
        if line is None:
            line = cell.copy()
        elif line.cell_len + len(GAP) + cell.cell_len <= room:
            line = Text.assemble(line, GAP, cell)
        else:
            yield from _folded(console, line, room)
            line = cell.copy()
    if line is not None:
        yield from _folded(console, line, room)


def _folded(console: Console, line: Text, room: int) -> Iterable[Text]:
    return [line] if line.cell_len <= room else line.wrap(console, room, overflow="fold")
