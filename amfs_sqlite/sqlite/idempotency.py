"""Idempotency: the first result of a request, given again to whoever repeats it."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from amfs_sqlite.errors import IdempotencyConflictError
from amfs_sqlite.models import CommitResult, MemoryEntry
from amfs_sqlite.rules.values import encode
from amfs_sqlite.sqlite import entries
from amfs_sqlite.sqlite.transaction import Transaction

FIND = """
SELECT payload_digest, sequence, result FROM idempotency
WHERE namespace = ? AND agent_id = ? AND idempotency_key = ?"""
STORE = """
INSERT INTO idempotency (namespace, agent_id, idempotency_key, payload_digest, sequence, result)
VALUES (?, ?, ?, ?, ?, ?)"""


class Stored(NamedTuple):
    """A first result: its commit, and which versions with which opinions it returned."""

    sequence: int
    returned: Sequence[tuple[str, str, int, float, int, int, int]]


def find(tx: Transaction, author: str, idempotency_key: str, payload: str | None) -> Stored | None:
    """The first result under this key. Raises where it stands for another payload; None matches any."""
    row = tx.one(FIND, (tx.namespace, author, idempotency_key))
    if row is None:
        return None
    first, sequence, result = row
    if payload is not None and payload != first:
        raise IdempotencyConflictError(author, idempotency_key)
    return Stored(sequence, json.loads(result))


def store(tx: Transaction, author: str, idempotency_key: str, payload: str, result: CommitResult) -> None:
    """Keep a result without its values, so that erasing one erases it everywhere."""
    returned = [
        (
            entry.entity_path,
            entry.key,
            entry.version,
            entry.confidence,
            entry.outcome_count,
            entry.success_count,
            entry.failure_count,
        )
        for entry in result.entries
    ]
    sequence = result.commit.sequence
    tx.run(STORE, (tx.namespace, author, idempotency_key, payload, sequence, encode(returned)))


def entries_of(tx: Transaction, stored: Stored) -> tuple[MemoryEntry, ...]:
    """The entries of a first result, with the opinions of then."""
    found = []
    for path, key, version, confidence, outcomes, successes, failures in stored.returned:
        entry = entries.stored_version(tx, path, key, version)
        opinions = {
            "confidence": confidence,
            "outcome_count": outcomes,
            "success_count": successes,
            "failure_count": failures,
            "superseded_at": None,
        }
        found.append(entry.model_copy(update=opinions))
    return tuple(found)
