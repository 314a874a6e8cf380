"""Other processes: a crew that does the same job at the same instant, and single ones to be killed."""

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, SpawnContext
from multiprocessing.process import BaseProcess
from threading import Barrier
from typing import Any, cast

ANSWER_TIMEOUT_S = 50.0
JOBS = "parity_tests.concurrency.jobs"

Job = Callable[..., Any]


def _context() -> ForkServerContext | SpawnContext:
    """Processes that share nothing with this one; the fork server has the imports done already."""
    if "forkserver" in multiprocessing.get_all_start_methods():
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["pytest.__main__", JOBS])
        return context
    return multiprocessing.get_context("spawn")


CONTEXT = _context()


class Crew:
    """Processes that wait for work. Each job is called with its worker's number and the arguments."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._barrier = CONTEXT.Barrier(size)  # kept: it goes for all when it goes here
        self._workers: list[tuple[BaseProcess, Connection]] = []
        for number in range(size):
            ours, theirs = CONTEXT.Pipe()
            worker = CONTEXT.Process(target=_work, args=(theirs, self._barrier, number), daemon=True)
            worker.start()
            theirs.close()
            self._workers.append((worker, ours))

    def together(self, job: Job, *arguments: Any) -> list[Any]:
        """Have all start this job at the same instant; what each returned, or the first error raised."""
        for _, pipe in self._workers:
            pipe.send((job, arguments))
        answers = [_received(pipe) for _, pipe in self._workers]
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        return answers

    def dismiss(self) -> None:
        """End all."""
        for worker, pipe in self._workers:
            pipe.close()
            worker.kill()
            worker.join()


@contextmanager
def started(job: Job, *arguments: Any) -> Iterator[tuple[BaseProcess, Connection]]:
    """A process of its own that does one job, called with its end of a pipe; killed at the end."""
    ours, theirs = CONTEXT.Pipe()
    process = CONTEXT.Process(target=job, args=(theirs, *arguments), daemon=True)
    process.start()
    theirs.close()
    try:
        with ours:
            yield process, ours
    finally:
        process.kill()
        process.join()


def received(pipe: Connection) -> Any:
    """What the other end sent next."""
    return _received(pipe)


def left_in(pipe: Connection) -> Iterator[Any]:
    """All that a process sent before it ended; what it was sending just then does not count."""
    while True:
        try:
            yield pipe.recv()
        except (EOFError, ConnectionResetError):
            return


def _received(pipe: Connection) -> Any:
    if not pipe.poll(ANSWER_TIMEOUT_S):
        raise TimeoutError(f"no answer from another process within {ANSWER_TIMEOUT_S} s")
    return pipe.recv()


def _work(pipe: Connection, barrier: Barrier, number: int) -> None:
    while True:
        try:
            job, arguments = pipe.recv()
        except EOFError:
            return
        barrier.wait(ANSWER_TIMEOUT_S)
        try:
            answer = cast("Job", job)(number, *arguments)
        except Exception as error:  # noqa: BLE001 - whatever it is, the test wants to see it
            answer = error
        pipe.send(answer)
