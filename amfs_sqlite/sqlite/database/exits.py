"""Warns of adapters that were never closed, and ends their threads.

aiosqlite's thread is not a daemon, and it keeps its connection alive: an adapter that was only
dropped would never be finalised, and one that is still held would keep the process alive for ever.
"""

import logging
import os
import threading
import warnings
import weakref
from typing import Protocol

WATCHER = "amfs-sqlite exit"

_log = logging.getLogger("amfs_sqlite")


class Held(Protocol):
    """A connection that an adapter has, and that ends by itself when it is told to."""

    def stop(self) -> object:
        """End the thread behind it."""
        ...


_open: dict[Held, str] = {}
_starting = threading.Lock()

if hasattr(os, "register_at_fork"):
    # A forked child has copies of its parent's connections, but none of their threads.
    os.register_at_fork(after_in_child=_open.clear)


def watch(holder: object, connection: Held, path: str) -> None:
    """Stop this connection when its holder is dropped or the main thread ends, should it be open then."""
    with _starting:
        _open[connection] = path
        weakref.finalize(holder, _stop_what_was_dropped, connection).atexit = False
        if not any(thread.name == WATCHER for thread in threading.enumerate()):
            threading.Thread(target=_stop_what_is_left, name=WATCHER, daemon=True).start()


def forget(connection: Held) -> None:
    """This connection was closed."""
    _open.pop(connection, None)


def _stop_what_was_dropped(connection: Held) -> None:
    path = _open.pop(connection, None)
    if path is None:
        return
    connection.stop()
    if path not in _open.values():  # Both connections of an adapter are dropped together: said once.
        _log.warning("%s", _unclosed(path))
        warnings.warn(_unclosed(path), ResourceWarning, stacklevel=2)


def _stop_what_is_left() -> None:
    threading.main_thread().join()
    left = list(_open.items())
    for path in sorted({path for _, path in left}):
        _log.warning("%s", _unclosed(path))
    for connection, _ in left:
        connection.stop()


def _unclosed(path: str) -> str:
    return f"{path} was never closed: use 'async with' or await close()"
