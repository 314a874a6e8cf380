"""The database for callers without an event loop: any thread calls, waits, and has its answer."""

import os
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import islice
from typing import Any, Concatenate, ParamSpec, TypeVar

from amfs_sqlite.clock import Clock, IdSource, patience
from amfs_sqlite.errors import AdapterClosedError, AmfsError, StoreBusyError
from amfs_sqlite.rules.confidence import OutcomePolicy
from amfs_sqlite.sqlite import functions, index, migrate
from amfs_sqlite.sqlite.database import files, opening, tidying
from amfs_sqlite.sqlite.database.groups import Groups, snapshot
from amfs_sqlite.sqlite.database.inline import CACHED_STATEMENTS, READER_SETTINGS
from amfs_sqlite.sqlite.database.lanes import GROUP_LIMIT, Answer, Body
from amfs_sqlite.sqlite.database.later import Later
from amfs_sqlite.sqlite.database.locking import WriteLock
from amfs_sqlite.sqlite.database.opening import MEMORY, Durability, Mode
from amfs_sqlite.sqlite.database.tidying import UNINDEXED_LIMIT
from amfs_sqlite.sqlite.database.translation import translated
from amfs_sqlite.sqlite.ground import Ground
from amfs_sqlite.sqlite.transaction import Transaction

READERS_KEPT = 16
LATER_S = 0.2
"""How long what was deferred waits for a transaction at most."""
SETTLE_S = 0.5
"""How long whoever reads waits for what was deferred to be written."""
MAKE_ANOTHER = "make another one on the same file"

P = ParamSpec("P")
T = TypeVar("T")


class _Job:
    """What a thread wants written, and what became of it; ``ended`` is told, where nobody waits for it."""

    __slots__ = ("_body", "answer", "came_to", "ended")

    def __init__(self, body: Body, ended: Callable[[Answer], None] | None = None) -> None:
        self._body = body
        self.ended = ended
        self.came_to: Answer | None = None
        """What it last came to, within a transaction that may still be rolled back."""
        self.answer: Answer | None = None

    def run(self, connection: sqlite3.Connection, ground: Ground | None) -> Any:
        """Do it, within a transaction."""
        try:
            result = self._body(connection, ground)
        except Exception as error:
            self.came_to = Answer(error=error)
            raise
        self.came_to = Answer(result)
        return result

    def end(self, answer: Answer) -> None:
        """It was committed, or failed."""
        self.answer = answer
        if self.ended is not None:
            self.ended(answer)


class BlockingDatabase:
    """One connection that writes, and as many that read as threads do at once; in memory, one for all.

    Threads that write at once share a transaction: the first of them runs what the others brought. It is
    open as soon as it is made.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        namespace: str,
        policy: OutcomePolicy,
        durability: Durability,
        mode: Mode,
        busy_timeout_s: float,
        clock: Clock,
        ids: IdSource,
    ) -> None:
        self.path = opening.checked_path(
            path,
            namespace=namespace,
            policy=policy,
            durability=durability,
            mode=mode,
            busy_timeout_s=busy_timeout_s,
            clock=clock,
            ids=ids,
        )
        self.in_memory = self.path == MEMORY
        self.namespace = namespace
        self.policy = policy
        self.store_id = ""
        self._durability = durability
        self._mode = mode
        self._clock = clock
        self.ids = ids
        self._lock = WriteLock(self.path, in_memory=self.in_memory, timeout_s=busy_timeout_s)
        self._groups = Groups(self.path, namespace, self._lock)
        self._target = MEMORY
        self._process = os.getpid()
        self._turn = threading.RLock()
        self._writing_thread: int | None = None
        self._waiting: deque[_Job] = deque()
        self._deferred: set[_Job] = set()
        self._readers: deque[sqlite3.Connection] = deque()
        self._writer: sqlite3.Connection | None = None
        self._unindexed = 0
        self._has_written = self._is_ending = self._is_close_due = False
        self._later = Later(self.settle, LATER_S)
        self.announce: Callable[[], None] = _nobody
        """Called after every commit, by the thread that made it: to be set, and to return at once."""
        self._open()

    @property
    def is_open(self) -> bool:
        return self._writer is not None

    @property
    def is_of_this_process(self) -> bool:
        return os.getpid() == self._process

    @property
    def is_writable(self) -> bool:
        return self._mode == "rw"

    def now(self) -> datetime:
        """The present instant, aware, in UTC."""
        return self._clock.now()

    def now_for(self, connection: sqlite3.Connection, ground: Ground | None = None) -> Transaction:
        """A transaction on this connection, in the namespace of the adapter and on the main branch."""
        return Transaction(connection, self.namespace, self.policy, self.ids, self.now(), ground)

    def read(self, body: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a storage function in a snapshot of its own; it must not write."""

        def job(connection: sqlite3.Connection, ground: Ground | None) -> T:
            return body(self.now_for(connection, ground), *args, **kwargs)

        self._check_here()
        if self.in_memory:
            (answer,) = self._in_turn(lambda: self._groups.read(self._connected(), [job]))
        else:
            connection = self._borrow()
            try:
                (answer,) = self._groups.read(connection, [job])
            finally:
                self._return(connection)
        return self._of(answer)

    def write(self, body: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a storage function in a transaction that is committed before the answer."""

        def job(connection: sqlite3.Connection, ground: Ground | None) -> T:
            tx = self.now_for(connection, ground)
            result = body(tx, *args, **kwargs)
            self._unindexed += tx.unindexed_written
            return result

        self._check_here()
        self._check_writable()
        own = _Job(job)
        self._waiting.append(own)
        try:
            answer = self._in_turn(lambda: self._answered(own))
        except BaseException:
            self._give_up(own)
            raise
        return self._of(answer)

    def defer(self, body: Callable[[Transaction], None], ended: Callable[[Answer], None]) -> None:
        """Run a storage function within the next transaction, or in one of its own after LATER_S at most.

        ``ended`` is called behind it. It is to return at once, and may defer more.
        """

        def job(connection: sqlite3.Connection, ground: Ground | None) -> None:
            body(self.now_for(connection, ground))

        self._check_here()
        self._check_writable()
        own = _Job(job, ended)
        self._deferred.add(own)
        self._waiting.append(own)
        self._later.soon()

    def settle(self) -> bool:
        """Run what was deferred, now; whether all of it was. Whoever else writes, in this process or another,
        is waited for no longer than SETTLE_S: then it stays deferred.
        """
        if not (self._deferred and self.is_of_this_process):
            return True
        for _ in patience(SETTLE_S):
            if self._deferred and self._writing_thread is None:
                self._settle_in_turn()
            if not (self._deferred and self.is_open):
                return True
        return False

    def _settle_in_turn(self) -> None:
        try:
            if self._turn.acquire(timeout=SETTLE_S):
                self._in_turn(self._settle)
        finally:
            # A signal right behind the acquiring leaves nothing that tells of it.
            try:
                self._turn.release()
            except RuntimeError:
                files.log.debug("what was put off waits on: others write")

    def _settle(self) -> None:
        if self._writer is not None and self._waiting:
            self._run_waiting(self._writer, SETTLE_S)

    def close(self) -> None:
        """Index what is pending and close every connection. Closing twice is closing once.

        Called within a write, as by a signal handler or the garbage collector, it is done behind that.
        """
        if not self.is_of_this_process:
            return
        self._later.end()
        if self._writing_thread == threading.get_ident():
            self._is_close_due = True
        else:
            self._in_turn(self._close)

    def _close(self) -> None:
        if self._writer is None:
            return
        self._is_ending = True
        while self._waiting:
            self._run_waiting(self._writer)
        writer, self._writer = self._writer, None
        try:
            if self._has_written and not self.in_memory:
                tidying.tidy_up(
                    writer, self._lock, self.path, self.now_for, has_unindexed=bool(self._unindexed)
                )
        finally:
            while self._readers:
                self._readers.pop().close()
            writer.close()
            self._lock.detach()

    def _answered(self, own: _Job) -> Answer:
        """What this job came to, once it was run."""
        try:
            while own.answer is None:
                self._run_waiting(self._connected())
        except BaseException:
            self._give_up(own)  # before a close that is due
            raise
        self._index_when_many()
        return own.answer

    def _give_up(self, own: _Job) -> None:
        """Nobody waits for it any more. Whoever has it under way finishes it."""
        with suppress(ValueError):
            self._waiting.remove(own)

    def _of(self, answer: Answer) -> T:  # type: ignore[type-var]  # what the body returned
        if answer.error is not None:
            raise answer.error
        result: T = answer.result
        return result

    def _in_turn(self, work: Callable[[], T]) -> T:
        """Do it while no other thread writes. Raises StoreBusyError where this very one does: what interrupts
        a write, as a signal does, cannot wait for its end.
        """
        this = threading.get_ident()
        if self._writing_thread == this:
            raise StoreBusyError(
                self.path,
                "is being written by this very thread, which was interrupted",
                "call it after the handler has returned, or from another thread",
            )
        # One that can be taken again: a signal may come before it is noted who has it.
        with self._turn:
            try:
                self._writing_thread = this
                if self._writer is not None and self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")  # left by what was interrupted while it was ended
                return work()
            finally:
                self._writing_thread = None
                if self._is_close_due:
                    self._close_behind()

    def _close_behind(self) -> None:
        """Behind what was under way, whose answer stands."""
        self._is_close_due = False
        try:
            self._in_turn(self._close)
        except AmfsError as error:
            files.log.warning("what is done at closing could not be done: %s", error)

    def _run_waiting(self, connection: sqlite3.Connection, timeout_s: float | None = None) -> None:
        """What waits, the longest waiting first, in one transaction. Interrupted, it waits again, unless that
        was when all of it was committed; so it does where others write for longer than ``timeout_s``.
        """
        jobs: list[_Job] = []
        try:
            with suppress(IndexError):
                # All in one step: a signal between two would lose what was just taken.
                jobs.extend(islice(iter(self._waiting.popleft, None), GROUP_LIMIT))
            answers = self._groups.write(connection, [job.run for job in jobs], timeout_s)
            if timeout_s is not None and any(isinstance(each.error, StoreBusyError) for each in answers):
                self._put_back(jobs)
            else:
                self._end(jobs, answers)
        except BaseException:
            came_to = [job.came_to for job in jobs if job.came_to is not None]
            if self._lock.was_rolled_back(connection) or len(came_to) < len(jobs):
                self._put_back([job for job in jobs if job.answer is None])
            else:
                self._end(jobs, came_to)
            raise

    def _put_back(self, jobs: Sequence[_Job]) -> None:
        self._waiting.extendleft(reversed(jobs))
        for job in jobs:
            job.came_to = None

    def _end(self, jobs: Sequence[_Job], answers: Sequence[Answer]) -> None:
        self._has_written = True
        for job, answer in zip(jobs, answers, strict=True):
            if job in self._deferred and isinstance(answer.error, StoreBusyError) and not self._is_ending:
                job.came_to = None
                self._waiting.append(job)
            elif job.answer is None:
                self._deferred.discard(job)
                job.end(answer)
        self.announce()

    def _index_when_many(self) -> None:
        """Nobody's write fails for it: what is not indexed is looked through by searches."""
        while self._unindexed >= UNINDEXED_LIMIT:
            self._unindexed = 0
            try:
                with translated(self.path), self._lock.exclusively(self._connected(), SETTLE_S):
                    self._unindexed = index.catch_up(self.now_for(self._connected()), UNINDEXED_LIMIT)
            except AmfsError as error:
                files.log.warning("the text index could not be brought up to date: %s", error)

    def _open(self) -> None:
        with translated(self.path):
            if not self.in_memory:
                self._target = opening.find(self.path, self._mode)
            if self._mode == "rw":
                self._lock.attach()
        writer = None
        try:
            with translated(self.path):
                writer = self._connect()
                self._bring_in_order(writer)
                self._lock.patiently(lambda: self._look_around(writer))
        except BaseException:
            if writer is not None and not self.in_memory:
                opening.close_untouched(writer, self.path)
            self._lock.detach()
            raise
        self._writer = writer

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(
            self._target,
            uri=not self.in_memory,
            isolation_level=None,
            timeout=0,
            cached_statements=CACHED_STATEMENTS,
            # Handed from thread to thread, never used by two at once.
            check_same_thread=False,
        )

    def _bring_in_order(self, connection: sqlite3.Connection) -> None:
        if self._mode == "ro":
            opening.check_readable(connection, self._lock, self.path)
            return
        opening.set_up(connection, self._lock, self._durability)
        opening.bring_up(connection, self._lock, self.path, self.now(), self.ids)
        if not self.in_memory:
            self._lock.patiently(lambda: opening.use_write_ahead_log(connection))

    def _look_around(self, connection: sqlite3.Connection) -> None:
        with snapshot(connection):
            connection.execute("SELECT count(*) FROM sqlite_master")
            tx = self.now_for(connection)
            self.store_id = migrate.store_id(tx)
            self._unindexed = index.pending_count(tx, UNINDEXED_LIMIT)

    def _borrow(self) -> sqlite3.Connection:
        """A reading connection that nobody else has meanwhile."""
        try:
            return self._readers.pop()
        except IndexError:
            with translated(self.path):
                connection = self._connect()
                functions.register(connection)
                self._lock.patiently(lambda: opening.run_all(connection, READER_SETTINGS))
            return connection

    def _return(self, connection: sqlite3.Connection) -> None:
        if self.is_open and len(self._readers) < READERS_KEPT and not connection.in_transaction:
            self._readers.append(connection)
        else:
            connection.close()

    def _connected(self) -> sqlite3.Connection:
        if self._writer is None:
            raise AdapterClosedError("is closed", MAKE_ANOTHER)
        return self._writer

    def _check_writable(self) -> None:
        if not self.is_writable:
            raise opening.refusal(self.path)

    def _check_here(self) -> None:
        if self._writer is None:
            raise AdapterClosedError("is closed", MAKE_ANOTHER)
        if not self.is_of_this_process:
            raise AdapterClosedError("was made before this process was forked off", MAKE_ANOTHER)


def _nobody() -> None:
    """Nobody waits for news."""
