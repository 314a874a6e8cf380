"""Verification in the shape that AMFS gives it."""

from amfs_sqlite.agent.results import VerificationResult
from amfs_sqlite.agent.session import AgentSession
from amfs_sqlite.models import EntryRef, Finding

CHAIN_CODES = frozenset({"link", "gap", "order", "commit", "head"})


async def verify(session: AgentSession) -> VerificationResult:
    """The adapter's whole verification, told as AMFS tells it: what is corrupted, and where chains break."""
    report = await session.adapter.verify()
    broken = [each for each in report.findings if each.code in CHAIN_CODES]
    corrupted = [each for each in report.findings if each.code not in CHAIN_CODES]
    invalid = {(each.entity_path, each.key, each.version) for each in corrupted if each.version is not None}
    return VerificationResult(
        total_checked=report.version_count,
        valid=report.version_count - len(invalid),
        corrupted=tuple(dict.fromkeys(_place(each) for each in corrupted)),
        chain_breaks=tuple(dict.fromkeys(_place(each) for each in broken)),
    )


def _place(finding: Finding) -> str:
    """Where something was found, or, where that is no entry, what."""
    if finding.entity_path is None or finding.key is None:
        return finding.message
    return str(EntryRef(entity_path=finding.entity_path, key=finding.key, version=finding.version))
