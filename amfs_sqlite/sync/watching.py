"""Watches: what any process writes under a path, told to callbacks in order by one thread of its own."""

import logging
import threading
from collections.abc import Callable

from amfs_core.abc import WatchHandle
from amfs_core.models import MemoryEntry
from amfs_core.scope import normalize_scope

from amfs_sqlite.delivery import Asked, Batch
from amfs_sqlite.errors import AdapterClosedError, AmfsError, InvalidArgumentError, quoted
from amfs_sqlite.rules.cursors import ChangePosition
from amfs_sqlite.rules.limits import check_is_text
from amfs_sqlite.sqlite import changes, recalls
from amfs_sqlite.sqlite.database.blocking import BlockingDatabase
from amfs_sqlite.sqlite.recalls import Recall
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync.translation import shown_entry

LOOK_EVERY_S = 0.25
"""How often is looked for what other processes wrote; what this adapter writes is told of at once."""
GRACE_S = 5.0
"""How long a closing adapter waits for the callback that is under way, and for what is still to be told."""

Callback = Callable[[MemoryEntry], None]

_log = logging.getLogger("amfs_sqlite")


class _Watch:
    """One subscription, and how far it has heard."""

    def __init__(self, entity_path: str, callback: Callback, after: ChangePosition) -> None:
        self.asked = Asked(normalize_scope(entity_path) or None)
        self.callback = callback
        self.after = after
        self.is_cancelled = False

    def cancel(self) -> None:
        """Hear nothing more. A call that is under way comes to its end."""
        self.is_cancelled = True


class Watches:
    """All watches of one adapter. The thread is there while there are any."""

    def __init__(self, database: BlockingDatabase) -> None:
        self._database = database
        self._news = threading.Condition()
        self._watches: list[_Watch] = []
        self._thread: threading.Thread | None = None
        self._has_news = False
        self._is_closing = False
        self._could_look = True
        database.announce = self._announce

    def watch(self, entity_path: str, callback: Callback) -> WatchHandle:
        """A watch on what is committed from now on, on the main branch and under this path.

        What was erased or withdrawn meanwhile is left out.
        """
        check_is_text(entity_path, "entity_path")
        if not callable(callback):
            raise InvalidArgumentError("callback", f"is {quoted(callback)}; pass a function of one entry")
        watch = _Watch(entity_path, callback, self._database.read(changes.end))
        with self._news:
            if self._is_closing:
                raise AdapterClosedError("is closed")
            self._watches.append(watch)
            self._has_news = True
            self._news.notify()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="amfs-sqlite watch", daemon=True)
                self._thread.start()
        return WatchHandle(watch.cancel)

    def close(self) -> None:
        """Tell what is still to be told, and end all watches. A callback that hangs is left."""
        with self._news:
            self._is_closing = True
            self._news.notify()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(GRACE_S)
        for watch in self._watches:
            watch.cancel()

    def _announce(self) -> None:
        """Something was committed."""
        if self._thread is not None:
            with self._news:
                self._has_news = True
                self._news.notify()

    def _run(self) -> None:
        while self._is_needed():
            for watch in tuple(self._watches):
                self._tell(watch)
            with self._news:
                if not (self._has_news or self._is_closing):
                    self._news.wait(None if self._database.in_memory else LOOK_EVERY_S)

    def _is_needed(self) -> bool:
        """Whether there is another round to make; a closing adapter makes one more. From here on news is
        news again.
        """
        with self._news:
            self._watches = [watch for watch in self._watches if not watch.is_cancelled]
            is_last = self._is_closing and not self._has_news
            if not self._watches or is_last:
                self._thread = None
                return False
            self._has_news = False
            return True

    def _tell(self, watch: _Watch) -> None:
        """Whatever came since."""
        while not watch.is_cancelled:
            found = self._next(watch)
            if found is None:
                return
            batch, beside = found
            for change, recall in zip(batch.changes, beside, strict=True):
                if not watch.is_cancelled and not change.event.entry.withdrawn:
                    self._call(watch, shown_entry(change.event.entry, recall))
                watch.after = change.position
            watch.after = batch.through
            if batch.is_last:
                return

    def _next(self, watch: _Watch) -> tuple[Batch, list[Recall]] | None:
        """None where the log cannot be read just now: it is tried again."""
        try:
            found = self._database.read(_read, watch, store_id=self._database.store_id)
        except AmfsError as error:
            if self._could_look and not isinstance(error, AdapterClosedError):
                _log.warning("changes could not be looked for: %s", error)
            self._could_look = False
            return None
        self._could_look = True
        return found

    def _call(self, watch: _Watch, entry: MemoryEntry) -> None:
        try:
            watch.callback(entry)
        except Exception:  # noqa: BLE001 - a callback may raise anything
            _log.exception("the callback of a watch on %s failed", quoted(watch.asked.entity_path or ""))


def _read(tx: Transaction, watch: _Watch, *, store_id: str) -> tuple[Batch, list[Recall]]:
    """The next changes, and what stands beside the version of each."""
    batch = changes.read(tx, watch.after, watch.asked, None, store_id=store_id)
    return batch, [recalls.beside(tx, change.event.entry) for change in batch.changes]
