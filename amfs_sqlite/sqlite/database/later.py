"""Something that is to be done a short while after it was asked for, once for all who asked meanwhile."""

import threading
from collections.abc import Callable


class Later:
    """Does it on a thread of its own, which is there from the first time it is asked for."""

    def __init__(self, work: Callable[[], bool], delay_s: float) -> None:
        """``work`` answers whether it is done; where it is not, it is tried again."""
        self._work = work
        self._delay_s = delay_s
        self._starting = threading.Lock()
        self._is_asked = threading.Event()
        self._is_ended = threading.Event()
        self._thread: threading.Thread | None = None

    def soon(self) -> None:
        """It is to be done within the delay, and a little."""
        if self._is_asked.is_set():
            return
        self._is_asked.set()
        with self._starting:
            if self._thread is None and not self._is_ended.is_set():
                self._thread = threading.Thread(target=self._run, name="amfs-sqlite later", daemon=True)
                self._thread.start()

    def end(self) -> None:
        """Do nothing more. What is asked for by now is whoever's who ends it."""
        with self._starting:
            self._is_ended.set()
            self._is_asked.set()
            thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        while self._is_asked.wait() and not self._is_ended.wait(self._delay_s):
            self._is_asked.clear()
            if not self._work():
                self._is_asked.set()
