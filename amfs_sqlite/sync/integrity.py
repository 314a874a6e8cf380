"""Verification: our findings in the report of the SDK, which knows corruption and broken chains."""

from typing import Any

from amfs_core.hashing import IntegrityReport

from amfs_sqlite.models import MAIN_BRANCH, Finding
from amfs_sqlite.rules.limits import check_name, check_optional_text
from amfs_sqlite.sqlite import integrity, listings
from amfs_sqlite.sqlite.transaction import Transaction

BREAKS = frozenset({"gap", "link", "order", "commit", "head", "anchor"})
"""What breaks a chain: of versions, or of commits. Everything else is corruption."""
NOT_KNOWN = "not known"
"""In place of a hash that the finding does not tell."""


def verify_integrity(
    tx: Transaction, entity_path: str | None = None, *, branch: str = MAIN_BRANCH
) -> dict[str, Any]:
    """The whole store is checked, and more than the SDK checks: every item says its ``problem`` in words.

    ``total_checked`` and ``valid`` count versions of this namespace and ``branch``, and of ``entity_path``.
    With ``entity_path`` items about other paths are left out; what is about no path never is. Versions that
    were withdrawn are counted: their hashes stay.
    """
    check_optional_text(entity_path, "entity_path")
    check_name(branch, "branch")
    report = IntegrityReport()
    found = [each for each in integrity.verify(tx).findings if _is_about(each, entity_path)]
    corrupted = [each for each in found if each.code not in BREAKS]
    report.corrupted = [_item(each, "hash") for each in corrupted]
    report.chain_breaks = [_item(each, "chain") for each in found if each.code in BREAKS]
    named = {(each.entity_path, each.key, each.version, each.commit_id) for each in corrupted}
    with tx.elsewhere(branch=branch):
        report.total_checked = listings.count_versions(tx, entity_path)
        report.valid = report.total_checked - listings.count_named(tx, named)
    return report.to_dict()


def _is_about(finding: Finding, entity_path: str | None) -> bool:
    return entity_path is None or finding.entity_path in (None, entity_path)


def _item(finding: Finding, what: str) -> dict[str, Any]:
    """A finding as the SDK's programs show one."""
    return {
        "entity_path": finding.entity_path or "",
        "key": finding.key or "",
        "version": finding.version or 0,
        f"expected_{what}": NOT_KNOWN,
        f"actual_{what}": NOT_KNOWN,
        "problem": finding.message,
        "commit_id": finding.commit_id,
    }
