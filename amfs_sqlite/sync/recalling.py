"""How often entries were read: counted at once, written with the next transaction."""

import logging
import threading
from collections import Counter
from typing import NamedTuple

from amfs_core.models import MemoryEntry

from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.models import MAIN_BRANCH
from amfs_sqlite.rules.limits import check_asked, check_name
from amfs_sqlite.sqlite import recalls
from amfs_sqlite.sqlite.database.blocking import BlockingDatabase
from amfs_sqlite.sqlite.database.lanes import Answer
from amfs_sqlite.sqlite.transaction import Transaction

_log = logging.getLogger("amfs_sqlite")


class Address(NamedTuple):
    """An entry, of the adapter's namespace."""

    branch: str
    entity_path: str
    key: str


class RecallCounts:
    """Counts of one adapter that are not written yet.

    A reading is no fact worth a transaction of its own: it goes with the next one, or within LATER_S. This
    adapter shows it at once; while another process writes, nobody who reads waits for that, and a list has
    the count it had. A process that is killed loses the readings of that while, and nothing else. An adapter
    that was opened for reading alone counts for itself and writes nothing.

    Counts only ever grow. So a row below what this adapter wrote last was read before that, and a row below
    what is just being written does not hold it yet.
    """

    def __init__(self, database: BlockingDatabase) -> None:
        self._database = database
        # One that can be taken again: the garbage collector may close the adapter on any thread, at any time.
        self._lock = threading.RLock()
        self._waiting: Counter[Address] = Counter()
        self._under_way: Counter[Address] = Counter()
        self._targets: dict[Address, int] = {}
        self._written: dict[Address, int] = {}
        self._is_deferred = False

    def increment(self, entity_path: str, key: str, branch: str = MAIN_BRANCH) -> None:
        """Count one more reading."""
        check_asked(entity_path, key, None)
        check_name(branch, "branch")
        with self._lock:
            self._waiting[Address(branch, entity_path, key)] += 1
        self.flush()

    def flush(self) -> None:
        """See to it that what waits is written."""
        with self._lock:
            is_to_be_deferred = bool(self._waiting) and not self._is_deferred and self._database.is_writable
            self._is_deferred = self._is_deferred or is_to_be_deferred
        if is_to_be_deferred:
            self._database.defer(self._write, self._ended)

    def counted(self, entry: MemoryEntry) -> MemoryEntry:
        """The entry that was just read, with the readings that were not in its row yet."""
        address = Address(entry.branch, entry.entity_path, entry.key)
        with self._lock:
            if self._waiting or self._under_way or self._written:
                count = max(entry.recall_count, self._written.get(address, 0))
                if count < self._targets.get(address, count + 1):
                    count += self._under_way[address]
                entry.recall_count = count + self._waiting[address]
        return entry

    def _write(self, tx: Transaction) -> None:
        """May run twice: what is under way stays so until it has ended."""
        with self._lock:
            self._under_way.update(self._waiting)
            self._waiting.clear()
            counts = dict(self._under_way)
        targets = {}
        for address, count in counts.items():
            try:
                with tx.elsewhere(branch=address.branch):
                    reached = recalls.increment(tx, address.entity_path, address.key, count)
            except InvalidArgumentError as error:  # the others are to be written all the same
                _log.warning("readings of %s are not counted: %s", quoted(address.key), error)
                continue
            if reached is not None:
                targets[address] = reached
        with self._lock:
            self._targets = targets

    def _ended(self, answer: Answer) -> None:
        with self._lock:
            if answer.error is None:
                self._written = self._targets
            else:
                _log.warning("readings are still to be written: %s", answer.error)
                self._waiting.update(self._under_way)
            self._targets = {}
            self._under_way.clear()
            self._is_deferred = False
        if answer.error is None:
            self.flush()
