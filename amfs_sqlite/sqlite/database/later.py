"""Something that is to be done a short while after it was asked for, once for all who asked meanwhile."""

import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue


class Later:
    """Does it on a thread of its own, which is there from the first time it is asked for.

    The garbage collector may end it on any thread, at any time, within a call of it too: so its lock can be
    taken again, and its queue is the one that can be put to from there.
    """

    def __init__(self, work: Callable[[], bool], delay_s: float) -> None:
        """``work`` answers whether it is done; where it is not, it is tried again."""
        self._work = work
        self._delay_s = delay_s
        self._starting = threading.RLock()
        self._goes_on: SimpleQueue[bool] = SimpleQueue()
        self._is_asked = self._is_ended = False
        self._thread: threading.Thread | None = None

    def soon(self) -> None:
        """It is to be done within the delay, and a little."""
        if self._is_asked:
            return
        self._is_asked = True
        self._goes_on.put(True)
        with self._starting:
            if self._thread is None and not self._is_ended:
                self._thread = threading.Thread(target=self._run, name="amfs-sqlite later", daemon=True)
                self._thread.start()

    def end(self) -> None:
        """Do nothing more. What is asked for by now is whoever's who ends it."""
        with self._starting:
            self._is_ended = True
            thread, self._thread = self._thread, None
        self._goes_on.put(False)
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        while self._goes_on.get():
            with suppress(Empty):
                if not self._goes_on.get(timeout=self._delay_s):
                    return
            self._is_asked = False
            if not self._work():
                self.soon()
