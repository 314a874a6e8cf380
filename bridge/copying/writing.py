"""Storing records in the target one after the other, and keeping book of what it refuses."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from amfs_core.exceptions import VersionConflictError
from amfs_core.models import MemoryEntry

from bridge.copying import endpoints, kinds, plan
from bridge.copying.endpoints import Endpoint
from bridge.copying.plan import ENTRIES, Address
from bridge.copying.report import LeftOut

KEEPS_ENTRIES = "keep_entries"
"""The method of an adapter that stores versions under the numbers they have, or not at all."""

Progress = Callable[[int, int], object]


class Writer:
    """Stores in one target. ``stored`` counts by kind; ``left_out`` is what was not stored, with the reason.

    ``progress`` is told how many records of ``total`` are done.
    """

    def __init__(self, target: Endpoint, progress: Progress | None) -> None:
        self.stored: Counter[str] = Counter()
        self.left_out: list[LeftOut] = []
        self.total = 0
        self._target = target
        self._progress = progress
        self._done = 0
        self._stopped: set[Address] = set()
        self._put = getattr(target.adapter, KEEPS_ENTRIES, target.adapter.write_batch)

    def leave(self, one: LeftOut) -> None:
        """Keep in mind that this was not stored."""
        self.left_out.append(one)

    def store(self, work: kinds.Work) -> None:
        """Store what of this kind the target does not hold."""
        for record in work.todo:
            refused = self._tried(work.kind.put, self._target, record)
            if refused is None:
                self.stored[work.kind.name] += 1
            else:
                reason = endpoints.first_line(refused)
                self.leave(LeftOut(kind=work.kind.name, reason=reason, id=kinds.name_of(record)))
            self._tell(1)

    def write(self, writes: Sequence[MemoryEntry]) -> None:
        """Write these versions in order. Behind one that cannot be, the versions of its key are left out."""
        for batch in plan.batches(writes, self._target):
            if len(batch) == 1 or not self._is_written_together(batch):
                for entry in batch:
                    self._write_one(entry)
            self._tell(len(batch))

    def _is_written_together(self, batch: list[MemoryEntry]) -> bool:
        """Whether all were stored; else none was."""
        if any((entry.entity_path, entry.key) in self._stopped for entry in batch):
            return False
        if self._tried(self._put, batch) is not None:
            return False
        self.stored[ENTRIES] += len(batch)
        return True

    def _write_one(self, entry: MemoryEntry) -> None:
        address = (entry.entity_path, entry.key)
        if address in self._stopped:
            self.leave(plan.left(entry, "a version before it was left out"))
            return
        written: list[MemoryEntry] = []
        refused = self._tried(lambda: written.append(self._put_one(entry)))
        if refused is not None:
            is_conflict = isinstance(refused, VersionConflictError)
            self.leave(plan.left(entry, endpoints.first_line(refused), is_conflict=is_conflict))
        elif written[0].version != entry.version:
            reason = f"the target made it version {written[0].version}"
            self.leave(plan.left(entry, reason, is_conflict=True))
        else:
            self.stored[ENTRIES] += 1
            return
        self._stopped.add(address)

    def _put_one(self, entry: MemoryEntry) -> MemoryEntry:
        adapter = self._target.adapter
        written: MemoryEntry = (
            self._put([entry])[0] if hasattr(adapter, KEEPS_ENTRIES) else adapter.write(entry)
        )
        return written

    def _tried(self, do: Callable[..., object], *given: Any) -> Exception | None:
        """What the target refused this with; None where it did not. Raises what ends the copy."""
        with self._target.told():
            try:
                do(*given)
            except self._target.failures as failed:
                if not endpoints.is_refusal(self._target, failed):
                    raise
                return failed
        return None

    def _tell(self, count: int) -> None:
        self._done += count
        if self._progress is not None:
            self._progress(self._done, self.total)
