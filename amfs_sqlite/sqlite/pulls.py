"""Pull requests and their reviews."""

from collections.abc import Sequence

from amfs_sqlite.records.pulls import PRReview, PullRequest
from amfs_sqlite.rules import pulls as rules
from amfs_sqlite.rules.limits import check_is_text, check_optional_text
from amfs_sqlite.rules.values import encode
from amfs_sqlite.sqlite.rows import microseconds, model_of
from amfs_sqlite.sqlite.transaction import Transaction

INSERT = """
INSERT INTO pull_requests (namespace, pr_id, status, created_at, record) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (namespace, pr_id) DO NOTHING"""
PULL = "SELECT record FROM pull_requests WHERE namespace = ? AND pr_id = ?"
PULLS = """
SELECT record FROM pull_requests WHERE namespace = :namespace AND (:status IS NULL OR status = :status)
ORDER BY created_at DESC, pr_id"""
CHANGE = "UPDATE pull_requests SET status = ?, record = ? WHERE namespace = ? AND pr_id = ?"

INSERT_REVIEW = """
INSERT INTO pull_reviews (namespace, pr_id, review_id, created_at, record) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (namespace, review_id) DO NOTHING"""
REVIEWS = """
SELECT record FROM pull_reviews WHERE namespace = ? AND pr_id = ? ORDER BY created_at, review_id"""


def create_pull_request(tx: Transaction, pr: PullRequest) -> PullRequest:
    made = rules.prepared(pr, tx.ids.hex(rules.ID_DIGITS), tx.namespace, tx.now)
    record = encode(made.to_wire(), "pr")
    row = (tx.namespace, made.id, made.status, microseconds(tx.now), record)
    if not tx.execute(INSERT, row).rowcount:
        raise rules.taken("pull request", made.id)
    return model_of(record, PullRequest)


def get_pull_request(tx: Transaction, pr_id: str) -> PullRequest | None:
    check_is_text(pr_id, "pr_id")
    row = tx.one(PULL, (tx.namespace, pr_id))
    return None if row is None else model_of(row[0], PullRequest)


def list_pull_requests(tx: Transaction, *, status: str | None = None) -> Sequence[PullRequest]:
    check_optional_text(status, "status")
    rows = tx.all(PULLS, {"namespace": tx.namespace, "status": status})
    return [model_of(record, PullRequest) for (record,) in rows]


def update_pull_request_status(tx: Transaction, pr_id: str, status: str, *, by: str = "") -> PullRequest:
    rules.check_update(pr_id, by)
    given = rules.known_status(status)
    changed = rules.updated(_stored(tx, pr_id), given, by, tx.now)
    tx.run(CHANGE, (changed.status, encode(changed.to_wire(), "pr"), tx.namespace, pr_id))
    return changed


def add_pr_review(tx: Transaction, review: PRReview) -> PRReview:
    added = rules.prepared_review(review, tx.ids.hex(rules.ID_DIGITS), tx.namespace, tx.now)
    _stored(tx, added.pr_id)
    record = encode(added.to_wire(), "review")
    row = (tx.namespace, added.pr_id, added.id, microseconds(tx.now), record)
    if not tx.execute(INSERT_REVIEW, row).rowcount:
        raise rules.taken("review", added.id)
    return model_of(record, PRReview)


def list_pr_reviews(tx: Transaction, pr_id: str) -> Sequence[PRReview]:
    check_is_text(pr_id, "pr_id")
    return [model_of(record, PRReview) for (record,) in tx.all(REVIEWS, (tx.namespace, pr_id))]


def _stored(tx: Transaction, pr_id: str) -> PullRequest:
    found = get_pull_request(tx, pr_id)
    if found is None:
        raise rules.not_found(pr_id)
    return found
