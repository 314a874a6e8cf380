"""The child: imports an adapter of somebody else's, runs the tests on it, and tells what comes of them.

Whatever the adapter does to its process, closing what it prints to or ending it, the parent has been told
of every test that went before.
"""

import asyncio
import faulthandler
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, NoReturn

from amfs_sqlite import AMFS_0_3, CountedIds, FixedClock
from parity_tests import listeners
from parity_tests.conformance.candidates import Candidate, CandidateError, found
from parity_tests.conformance.messages import (
    Begun,
    Collected,
    Doing,
    Ended,
    Finished,
    Lacking,
    Message,
    Refused,
)
from parity_tests.conformance.plugin import Choice, Listener, Suite
from parity_tests.conformance.problems import one_line
from parity_tests.conformance.results import Result
from parity_tests.conformance.run import claims, lacks, run

_exit = os._exit

STARTING_S = 60.0
"""For what is not the adapter's to hurry: importing, and collecting the tests."""
DUMP_AFTER_S = 1.0
"""How long after its time a test that cannot be stopped is looked at, to tell where it hangs."""


@dataclass(frozen=True)
class Order:
    """What a child is to do: which adapter to try, with which tests, and where to leave what hangs."""

    adapter: str
    shares: bool
    timeout_s: float
    nouns: frozenset[str]
    done: frozenset[str]
    without: frozenset[str]
    dump: str


def work(connection: "Connection[Message, None]", order: Order) -> None:
    """Run the tests, and tell of them over the connection."""
    _keep_quiet()
    # The parent alone decides what an interrupt from the keyboard means; without it nobody listens.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # What never comes is to be missed within the time of a test.
    listeners.WITHIN_S = min(listeners.WITHIN_S, order.timeout_s / 2)
    with Path(order.dump).open("w", encoding="utf-8") as dump:
        _leave_traces(dump)
        try:
            candidate, claimed = _candidate(connection, order)
        except CandidateError as wrong:
            connection.send(Refused(str(wrong), 2))
            return
        wrong_with_opening = _opened(connection, candidate, order.timeout_s)
        if wrong_with_opening:
            connection.send(Refused(wrong_with_opening, 1))
            return
        connection.send(Doing("collecting the tests", STARTING_S))
        telling = Telling(connection, order.timeout_s + DUMP_AFTER_S, dump)
        choice = Choice(order.nouns, order.done, order.timeout_s)
        suite = Suite([candidate], {candidate.name: claimed}, choice, telling)
        run(suite)
    not_run = [each for each in suite.results if each.state == "not run"]
    connection.send(Finished(not_run, suite.broken))


@dataclass
class Telling(Listener):
    """Tells the parent of every test, and has it looked at where it hangs."""

    connection: "Connection[Message, None]"
    dump_after_s: float
    dump: IO[str]

    def collected(self, count: int) -> None:
        self.connection.send(Collected(count))

    def begins(self, result: Result) -> None:
        self.dump.seek(0)
        self.dump.truncate()
        faulthandler.dump_traceback_later(self.dump_after_s, file=self.dump)
        self.connection.send(Begun(result))

    def ends(self, result: Result) -> None:
        faulthandler.cancel_dump_traceback_later()
        self.connection.send(Ended(result))

    def breaks_off(self, result: Result) -> None:
        self.connection.send(Ended(result, breaks_off=True))
        _exit(1)


def _candidate(connection: "Connection[Message, None]", order: Order) -> tuple[Candidate, Sequence[str]]:
    """The candidate, and what it claims. Raises CandidateError."""
    connection.send(Doing(f"importing {order.adapter}", STARTING_S))
    factory = found(order.adapter)
    connection.send(Doing(f"calling {order.adapter}", order.timeout_s))
    candidate = Candidate(order.adapter, factory, order.shares, without=order.without)
    missing = lacks(candidate)
    connection.send(Lacking(missing))
    return candidate, claims(candidate, missing)


def _opened(connection: "Connection[Message, None]", candidate: Candidate, timeout_s: float) -> str:
    """Why an adapter cannot be opened and closed, without which no test says anything; '' if it can."""
    if "Lifecycle" in candidate.without:
        return ""
    step = "called twice"

    async def opened(folder: Path) -> None:
        nonlocal step
        adapter = candidate.make(
            folder / "opened.db",
            namespace="default",
            outcomes=AMFS_0_3,
            clock=FixedClock(),
            ids=CountedIds(),
        )
        step = "opened"
        connection.send(Doing(f"opening what {candidate.name} makes", timeout_s))
        await adapter.__aenter__()
        step = "closed"
        connection.send(Doing(f"closing what {candidate.name} makes", timeout_s))
        await adapter.__aexit__(None, None, None)

    try:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(opened(Path(folder)))
    except BaseException as wrong:  # noqa: BLE001 - whatever opening raises, it is told
        return f"{candidate.name} cannot be {step}: {one_line(wrong)}"
    return ""


def _keep_quiet() -> None:
    """Let nothing that is printed here reach anybody, not even from beneath Python."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    # Two of them, so that who closes the one does not close the other.
    sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open for good
    sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open for good


def _leave_traces(dump: IO[str]) -> None:
    """Have whatever ends this process, but for a signal that cannot be caught, tell where it did so."""
    faulthandler.enable(dump)
    own = os.getpid()

    def traced(status: int) -> NoReturn:
        if os.getpid() == own:
            faulthandler.dump_traceback(dump)
        _exit(status)

    os._exit = traced


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        _exit(1)
