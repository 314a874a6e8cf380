"""Taking a whole store elsewhere, and putting one together again."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from amfs_sqlite.protocol.integrity import Progress
from amfs_sqlite.rules.export_reading import ExportReader
from amfs_sqlite.rules.transfer import ExportReport, ImportReport


@runtime_checkable
class Transfer(Protocol):
    """What a store that can be exported and imported has beside the operations of every adapter.

    An export is JSON Lines: every commit of every namespace in the order of the log, with the versions it
    wrote and the outcomes it recorded. Neither direction holds more of it in memory than its largest commit
    or a few small ones; an import also one entry for each key that is left out and each value whose erasure
    is still to come, and a dry run one for each key that it would write or move.
    """

    async def export_to(
        self, write: Callable[[bytes], object], *, progress: Progress | None = None
    ) -> ExportReport:
        """Write the whole store as it stands at one moment, line by line; others go on writing.

        The same store gives the same bytes. ``write`` and ``progress`` are called in another thread, and what
        they raise ends the export and is raised here as it is. Raises StoreCorruptError where the log does
        not hold together, and InvalidArgumentError where a branch was written to.
        """
        ...

    async def import_from(
        self, reader: ExportReader, *, dry_run: bool = False, progress: Callable[[int], None] | None = None
    ) -> ImportReport:
        """Store what an export holds and this store does not, commit by commit.

        A store without any commit becomes equal to the exported one, its id, sequences and digests included.
        Elsewhere new commits are put behind the newest one. What is stored already is passed over, so that an
        import that was ended can be begun again. A key whose versions are not those that are here is left
        out from there on, and reported; what was erased here stays erased.

        A commit is imported whole or not at all. Raises ImportLineError for a line that its hashes do not
        bear out, or that does not fit; the commits before it stay. With ``dry_run`` nothing is stored, and
        what would be refused is refused. ``progress`` is told, in the event loop, how many bytes were read.
        """
        ...
