"""A report: a table for people, JSON for programs, and what it was measured on."""

import json
import os
import platform
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

FILE_WIDTH = 120
"""Columns of a table that goes to no terminal."""
LIBRARIES = ("amfs-sqlite", "aiosqlite", "pydantic", "mcp")

json_option = click.option(
    "--json", "json_path", type=click.Path(path_type=Path), help="Write all figures there."
)
quick_option = click.option("--quick", is_flag=True, help="Fewer operations: under a minute, and coarser.")
plots_option = click.option(
    "--plots",
    "plots_path",
    type=click.Path(path_type=Path, file_okay=False),
    help="Draw plots into this folder.",
)


def run(command: click.Command) -> None:
    """Run a benchmark as a program: what is wrong with its arguments is one line, and ends it with 2."""
    try:
        command.main(standalone_mode=False)
    except click.ClickException as wrong:
        click.echo(f"error: {wrong.format_message()}", err=True)
        sys.exit(wrong.exit_code)
    except click.Abort:
        sys.exit(130)


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "libraries": {name: version(name) for name in LIBRARIES},
        "load": [round(each, 2) for each in os.getloadavg()] if hasattr(os, "getloadavg") else None,
    }


class Report:
    """Figures by operation and callers: ``{"op": {"callers": {"ratio": …, "p50_us": …, "p99_us": …}}}``."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.figures: dict[str, dict[str, dict[str, Any]]] = {}

    def add(self, operation: str, column: object, figures: Mapping[str, Any]) -> None:
        """Figures of an operation in a column: so many callers, versions or processes, or a peer."""
        self.figures.setdefault(operation, {})[str(column)] = dict(figures)

    def write_json(self, path: Path | None) -> None:
        """Everything, and the machine, where a path was asked for."""
        if path is not None:
            whole = {**self.figures, "machine": machine()}
            path.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")

    def show(self, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """A table on the standard output; the first column is a name, the others are figures."""
        table = Table(title=self.title, caption=_caption(), title_justify="left", caption_justify="left")
        for number, heading in enumerate(headings):
            table.add_column(heading, justify="right" if number else "left", no_wrap=bool(number))
        for row in rows:
            table.add_row(*row)
        Console(file=sys.stdout, width=None if sys.stdout.isatty() else FILE_WIDTH).print(table)


@contextmanager
def progress(title: str, steps: int) -> Iterator["Steps"]:
    """A bar on the standard error while something long goes on."""
    with Progress(console=Console(file=sys.stderr), transient=True) as bar:
        yield Steps(bar, title, steps)


class Steps:
    """So many steps, counted as they are done."""

    def __init__(self, bar: Progress, title: str, steps: int) -> None:
        self._bar = bar
        self._title = title
        self._task = bar.add_task(title, total=steps)

    def next(self, what: str = "") -> None:
        """One more is done, and this is next."""
        self._bar.update(self._task, advance=1, description=f"{self._title} {what}".rstrip())


def microseconds(us: float) -> str:
    """A duration with the unit that suits it.

    >>> microseconds(8.25), microseconds(1234), microseconds(2_500_000)
    ('8.2 µs', '1.23 ms', '2.50 s')
    """
    if us < 1000:
        return f"{us:.1f} µs"
    return f"{us / 1000:.2f} ms" if us < 1_000_000 else f"{us / 1_000_000:.2f} s"


def _caption() -> str:
    on = machine()
    versions = f"Python {on['python']}, SQLite {on['sqlite']}"
    return f"{on['system']} {on['architecture']}, {on['cores']} cores, {versions}"
