"""Lets the interpreter end although an adapter was never closed.

aiosqlite's thread is not a daemon: an unclosed connection would keep the process alive for ever.
"""

import logging
import threading
import weakref

import aiosqlite

WATCHER = "amfs-sqlite exit"

_log = logging.getLogger("amfs_sqlite")
_open: "weakref.WeakKeyDictionary[aiosqlite.Connection, str]" = weakref.WeakKeyDictionary()
_starting = threading.Lock()


def watch(connection: aiosqlite.Connection, path: str) -> None:
    """Stop this connection when the main thread ends, should it still be open then."""
    with _starting:
        _open[connection] = path
        if not any(thread.name == WATCHER for thread in threading.enumerate()):
            threading.Thread(target=_stop_what_is_left, name=WATCHER, daemon=True).start()


def forget(connection: aiosqlite.Connection) -> None:
    """This connection was closed."""
    _open.pop(connection, None)


def _stop_what_is_left() -> None:
    threading.main_thread().join()
    left = list(_open.items())
    for path in sorted({path for _, path in left}):
        _log.warning("%s was never closed: use 'async with' or await close()", path)
    for connection, _ in left:
        connection.stop()
