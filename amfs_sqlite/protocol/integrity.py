"""Tamper evidence."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from amfs_sqlite.models import VerifyReport
from amfs_sqlite.rules.anchors import Anchor

Progress = Callable[[int, int], None]
"""Told how much of how much has been checked: versions, commits and outcomes together."""


@runtime_checkable
class Integrity(Protocol):
    """Checking what is stored against what was recorded."""

    async def verify(
        self,
        *,
        anchor: Anchor | None = None,
        since: Anchor | None = None,
        progress: Progress | None = None,
    ) -> VerifyReport:
        """Recompute every hash and follow every link of the whole store; report what does not hold.

        Codes: ``content`` a value does not hash to its contentHash, or is gone without an erasure;
        ``record`` anything else written with a version differs from its digest (author, time, tags,
        confidence …); ``link`` an integrityChain or the current row does not follow from the version
        before; ``gap`` a version number is missing; ``order`` versions or commits are out of
        sequence; ``commit`` a commit does not hash to its digest, or its versions are not its own;
        ``outcome`` a confidence or count does not follow from the outcomes recorded; ``head`` the
        newest commit is not the one the head names; ``algorithm`` a hash is missing or of an unknown
        form; ``erasure`` what was erased and what the commits say was erased differ; ``index`` tags
        or words are not indexed as they are stored; ``anchor`` the store is not the one that the
        anchor was taken of, gone on since; ``file`` the file's own structures are damaged.

        ``anchor`` is held against the store: same store, the same digest at its sequence, as many
        versions and outcomes up to there. Its signature is not looked at: ``rules.anchors`` does that.

        ``since`` is held against it too, and where it holds only what came after it is checked: the
        commits, what they wrote, reported and erased, and the current rows of the keys they touched.
        What stood before is taken to be as it was. Where it does not hold, everything is checked.

        ``progress`` is called now and then with what is done and the total, both counts, last with
        the total twice. It may be called by another thread than the event loop's, so it must be quick
        and thread-safe. What it raises ends the check and is raised here; an OSError may come as a
        StoreError.

        Never raises for what it finds. What hashes kept in the same file can and cannot prove
        stands in docs/explanation/integrity.md.
        """
        ...

    async def anchor(self) -> Anchor:
        """What the store comes to now: its id, the newest commit with its digest, and how much it holds.

        Whoever keeps it elsewhere can tell later, with ``verify``, whether what stood now was
        rewritten, cut off or put back. Takes what is recorded for granted: verify first. Unsigned;
        ``rules.anchors`` signs.
        """
        ...
