"""A bar on standard error for what takes long, where that is a terminal; nothing where it is not."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def bar(doing: str) -> Iterator[Callable[[int, int], None] | None]:
    """What to tell of how much is done, from any thread. The bar goes when it is over."""
    stream = sys.stderr
    if stream is None or not stream.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=stream), transient=True) as shown:
        task = shown.add_task(doing, total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)
