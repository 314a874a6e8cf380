"""What the next commit builds on: read once in a transaction, carried on from commit to commit."""

import sqlite3
from dataclasses import dataclass, field

GROUND = """
SELECT h.sequence, h.digest, (SELECT coalesce(max(id), 0) FROM versions),
       (SELECT coalesce(max(id), 0) FROM current),
       (SELECT m.id FROM commits AS m WHERE m.namespace = ? AND m.branch = ? AND m.kind <> 'description'
        ORDER BY m.sequence DESC LIMIT 1)
FROM head AS h"""
NEWEST_ID = """
SELECT id FROM commits WHERE namespace = ? AND branch = ? AND kind <> 'description'
ORDER BY sequence DESC LIMIT 1"""
MOVE_HEAD = "UPDATE head SET sequence = ?, digest = ?"

Place = tuple[str, str]
"""A namespace and a branch."""


@dataclass(slots=True)
class Ground:
    """Where the store stands within a transaction that writes: the head of the log, the newest version and
    key, and the newest commit of each branch that was asked about.

    Nothing of it outlives the transaction, since another process may write next.
    """

    sequence: int
    digest: str
    newest_version_id: int
    newest_key_id: int
    newest_commit_ids: dict[Place, str | None] = field(default_factory=dict)
    is_moved: bool = False

    @classmethod
    def of(cls, connection: sqlite3.Connection, namespace: str, branch: str) -> "Ground | None":
        """Where the store stands now; None where it has no head."""
        row = connection.execute(GROUND, (namespace, branch)).fetchone()
        if row is None:
            return None
        sequence, digest, version_id, key_id, commit_id = row
        return cls(sequence, digest, version_id, key_id, {(namespace, branch): commit_id})

    def newest_commit_id(self, connection: sqlite3.Connection, place: Place) -> str | None:
        """The commit that the next one of this branch follows; None where it is the first."""
        if place not in self.newest_commit_ids:
            row = connection.execute(NEWEST_ID, place).fetchone()
            self.newest_commit_ids[place] = None if row is None else row[0]
        return self.newest_commit_ids[place]

    def settle(self, connection: sqlite3.Connection) -> None:
        """Write the head back: the last thing before the transaction is committed, or read by others."""
        if self.is_moved:
            connection.execute(MOVE_HEAD, (self.sequence, self.digest))
            self.is_moved = False
