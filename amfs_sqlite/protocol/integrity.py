"""Tamper evidence."""

from typing import Protocol, runtime_checkable

from amfs_sqlite.models import VerifyReport


@runtime_checkable
class Integrity(Protocol):
    """Checking what is stored against what was recorded."""

    async def verify(self) -> VerifyReport:
        """Recompute every hash and follow every link of the whole store; report what does not hold.

        Codes: ``content`` a value does not hash to its contentHash; ``record`` anything else
        written with a version differs from its digest (author, time, tags, confidence …); ``link``
        an integrityChain or the current row does not follow from the version before; ``gap`` a
        version number is missing; ``order`` versions or commits are out of sequence; ``commit`` a
        commit does not hash to its digest, or its versions are not its own; ``outcome`` a
        confidence or count does not follow from the outcomes recorded; ``head`` the newest commit
        is not the one the head names; ``algorithm`` a hash is missing or of an unknown form.

        Never raises for what it finds. What hashes kept in the same file can and cannot prove
        stands in docs/explanation/integrity.md.
        """
        ...
