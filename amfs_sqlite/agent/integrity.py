"""Verification in the shape that AMFS gives it."""

from amfs_sqlite.agent.results import VerificationResult
from amfs_sqlite.agent.session import AgentSession

CHAIN_CODES = ("link", "gap", "order", "commit", "head")


async def verify(session: AgentSession) -> VerificationResult:
    """The adapter's whole verification, told as AMFS tells it: what is corrupted, and where chains break."""
    report = await session.adapter.verify()
    named = [
        (f"{each.entity_path}/{each.key}@{each.version}" if each.key else each.message, each.code)
        for each in report.findings
    ]
    broken = tuple(dict.fromkeys(name for name, code in named if code in CHAIN_CODES))
    corrupted = tuple(dict.fromkeys(name for name, code in named if code not in CHAIN_CODES))
    invalid = len({name for name in corrupted if "@" in name})
    return VerificationResult(
        total_checked=report.version_count,
        valid=report.version_count - invalid,
        corrupted=corrupted,
        chain_breaks=broken,
    )
