"""Outcomes that have had their effect elsewhere: a copy holds the versions that they made already."""

from amfs_core.models import OutcomeRecord

from amfs_sqlite.models import OutcomeRecord as StoredRecord
from amfs_sqlite.rules.commits import check_signature
from amfs_sqlite.rules.outcomes import check_record
from amfs_sqlite.sqlite import commits, outcomes
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync.arguments import checked
from amfs_sqlite.sync.translation import ours


def keep_outcome(tx: Transaction, record: OutcomeRecord) -> None:
    """Store a report as it is, and leave what it cites as it is."""
    stored = ours(checked(record, OutcomeRecord, "record"), StoredRecord, "record")
    check_record(stored, tx.policy)
    check_signature(stored.agent_id, "", None, None)
    draft = commits.begin(tx)
    outcomes.put(tx, draft, stored, [], newest_version_id=draft.ground.newest_version_id)
    commits.append(
        tx,
        draft,
        commit_id=commits.id_for(tx),
        kind="outcome",
        message="",
        author=stored.agent_id,
        session_id=None,
    )
