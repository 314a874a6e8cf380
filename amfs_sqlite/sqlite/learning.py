"""Learning: when entries were discredited, as the unknown fields of their versions tell."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from amfs_sqlite.clock import instant
from amfs_sqlite.sqlite.transaction import Transaction

DISCREDITED = """
SELECT DISTINCT c.entity_path, c.key, json_extract(v.extra, '$.discredited_at') AS at
FROM json_each(:addresses) AS s
CROSS JOIN current AS c ON c.namespace = :namespace AND c.branch = :branch
    AND c.entity_path = json_extract(s.value, '$[0]') AND c.key = json_extract(s.value, '$[1]')
CROSS JOIN versions AS v ON v.key_id = c.id
WHERE at IS NOT NULL"""


class Shift(NamedTuple):
    """A moment when an entry was found wrong."""

    at: datetime
    entity_path: str
    key: str


def shifts(tx: Transaction, addresses: Iterable[tuple[str, str]]) -> Iterator[Shift]:
    """Every such moment of the entries at these addresses, in no particular order."""
    asked = {"namespace": tx.namespace, "branch": tx.branch, "addresses": json.dumps([*addresses])}
    for path, key, at in tx.each(DISCREDITED, asked):
        yield Shift(instant(at), path, key)
