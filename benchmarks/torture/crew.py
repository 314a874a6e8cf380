"""Processes of their own that do one job each, to be listened to, killed, and seen through to their end."""

import logging
import multiprocessing
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, SpawnContext
from multiprocessing.process import BaseProcess
from typing import Any

PATIENCE_S = 60.0
"""How long anything may take before it counts as hanging."""

JOBS = ["benchmarks.torture.clients", "benchmarks.torture.visitors", "benchmarks.torture.erasing"]
Job = Callable[..., None]


def _context() -> ForkServerContext | SpawnContext:
    """Processes that share nothing with this one; where there is a fork server it has imported all before."""
    if "forkserver" in multiprocessing.get_all_start_methods():
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(JOBS)
        return context
    return multiprocessing.get_context("spawn")


CONTEXT = _context()


class HangingError(Exception):
    """A process that neither answered nor ended in all this time."""


class CrashedError(Exception):
    """What a process raised that ended it."""


def _perform(pipe: Connection, job: Job, *arguments: Any) -> None:
    # What is refused is raised as well, and counted: nobody reads it twice.
    logging.getLogger("amfs_sqlite").setLevel(logging.ERROR)
    try:
        job(pipe, *arguments)
    except BrokenPipeError:
        sys.exit(1)  # Nobody listens any more.
    except Exception:  # noqa: BLE001 - whatever it is, it is told at the other end
        pipe.send(CrashedError(traceback.format_exc(limit=-2)))


class Worker:
    """A process at work, and our end of the pipe to it."""

    def __init__(self, job: Job, *arguments: Any) -> None:
        self._pipe, theirs = CONTEXT.Pipe()
        given = (theirs, job, *arguments)
        self._process: BaseProcess = CONTEXT.Process(target=_perform, args=given, daemon=True)
        self._process.start()
        theirs.close()

    @property
    def pid(self) -> int | None:
        """Its process id."""
        return self._process.pid

    def hear(self) -> Any:
        """What it says next. Raises HangingError, CrashedError, and EOFError once it has ended."""
        if not self._pipe.poll(PATIENCE_S):
            raise HangingError(f"no word from process {self.pid} within {PATIENCE_S:.0f} s")
        word = self._pipe.recv()
        if isinstance(word, CrashedError):
            raise word
        return word

    def hear_within(self, seconds: float) -> bool:
        """Whether it says anything, or ends, before this much time is over."""
        return self._pipe.poll(seconds)

    def tell(self, what: object) -> None:
        """Say something to it."""
        self._pipe.send(what)

    def kill(self) -> None:
        """End it at once, wherever it is."""
        self._process.kill()
        self._process.join()

    def see_through(self) -> list[Any]:
        """Everything it still says until it ends. Raises HangingError."""
        said = []
        while True:
            try:
                said.append(self.hear())
            except (EOFError, ConnectionResetError):
                self._process.join(PATIENCE_S)
                return said

    def close(self) -> None:
        """Nothing of it is left."""
        self._pipe.close()
        self.kill()


@contextmanager
def at_work(job: Job, each: Sequence[tuple[Any, ...]]) -> Iterator[list[Worker]]:
    """A process for each of these arguments; killed at the end, those that took their place included."""
    with ExitStack() as stack:
        workers = [Worker(job, *arguments) for arguments in each]
        stack.callback(_close_all, workers)
        yield workers


def _close_all(workers: Sequence[Worker]) -> None:
    for worker in workers:
        worker.close()


def seen_through(workers: Sequence[Worker]) -> list[Any]:
    """Everything that these still say until all have ended. Raises HangingError."""
    return [word for worker in workers for word in worker.see_through()]
