"""Tags: making, reading and deleting them."""

from collections.abc import Sequence

from amfs_sqlite.records.tags import Tag
from amfs_sqlite.rules import tags as rules
from amfs_sqlite.rules.limits import check_is_text, check_optional_text
from amfs_sqlite.sqlite.rows import microseconds, model_of
from amfs_sqlite.sqlite.transaction import Transaction

INSERT = """
INSERT INTO tags (namespace, name, branch, tagged_at, record) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (namespace, name) DO NOTHING"""
TAG = "SELECT record FROM tags WHERE namespace = ? AND name = ?"
TAGS = """
SELECT record FROM tags WHERE namespace = :namespace AND (:branch IS NULL OR branch = :branch)
ORDER BY tagged_at DESC, name"""
DELETE = "DELETE FROM tags WHERE namespace = ? AND name = ?"


def create_tag(tx: Transaction, tag: Tag) -> Tag:
    made, record = rules.prepared(tag, tx.ids.hex(rules.ID_DIGITS), tx.namespace, tx.now)
    row = (tx.namespace, made.name, made.branch, microseconds(made.tagged_at), record)
    if not tx.execute(INSERT, row).rowcount:
        raise rules.taken(made.name)
    return model_of(record, Tag)


def get_tag(tx: Transaction, name: str) -> Tag | None:
    check_is_text(name, "name")
    row = tx.one(TAG, (tx.namespace, name))
    return None if row is None else model_of(row[0], Tag)


def list_tags(tx: Transaction, *, branch: str | None = None) -> Sequence[Tag]:
    check_optional_text(branch, "branch")
    rows = tx.all(TAGS, {"namespace": tx.namespace, "branch": branch})
    return [model_of(record, Tag) for (record,) in rows]


def delete_tag(tx: Transaction, name: str) -> None:
    check_is_text(name, "name")
    if not tx.execute(DELETE, (tx.namespace, name)).rowcount:
        raise rules.not_found(name)
