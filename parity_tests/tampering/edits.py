"""Edits of stored rows behind the back of whoever has the file, and what of a report each belongs to."""

import sqlite3
from contextlib import closing
from os import PathLike

EDITS = {
    "value": ("UPDATE versions SET value = '9' WHERE version = 1", "corrupted"),
    "author": ("UPDATE versions SET agent_id = 'other' WHERE version = 1", "corrupted"),
    "chain": ("UPDATE versions SET integrity_chain = content_hash WHERE version = 2", "chain_breaks"),
    "gap": ("DELETE FROM versions WHERE version = 1", "chain_breaks"),
    "commit": ("UPDATE commits SET author = 'other' WHERE sequence = 1", "chain_breaks"),
    "opinion": ("UPDATE current SET confidence = 0.1", "corrupted"),
}
"""Of a store with three versions of one key."""


def edit(path: str | PathLike[str], name: str) -> str:
    """Make the edit; where the SDK's report tells of it."""
    statement, where = EDITS[name]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)
    return where
