"""Conditions over entries, put together: who asks, where, and the predicates of others' making."""

import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.rules.values import encode
from amfs_sqlite.sqlite import overlays
from amfs_sqlite.sqlite.entries import HERE, PRESENT
from amfs_sqlite.sqlite.transaction import Transaction

COVERED = "(c.entity_path = :{name} OR (c.entity_path >= :{name} || '/' AND c.entity_path < :{name} || '0'))"
TRIED = "EXPLAIN SELECT 1 FROM current AS c CROSS JOIN versions AS v WHERE {condition}"
SEEN = (
    "EXISTS (SELECT 1 FROM (SELECT {each}.agent_id AS agent_id, c.entity_path AS entity_path, c.key AS key,"
    " {each}.shared AS shared) WHERE {condition})"
)
EXACT = "c.entity_path = :{name}"
ANY_OF = "IN (SELECT value FROM json_each(:{name}))"

# psycopg's way to name a parameter, to write a per cent sign, and to ask for one of several; and what
# SQLite has under another name.
_POSTGRES = re.compile(
    r"=\s*ANY\s*\(\s*%s\s*(?:::\s*text\[\]\s*)?\)|%s(?:\s*::\s*text)?|%%|\bLIKE\b", re.IGNORECASE
)
SAME = {"%%": "%", "LIKE": "REGEXP"}


@dataclass
class Conditions:
    """What entries have to fulfil, all of it, with the parameters of it."""

    parameters: dict[str, Any]
    parts: list[str] = field(default_factory=lambda: [HERE, PRESENT])

    @classmethod
    def here(cls, tx: Transaction) -> "Conditions":
        """What is there in the namespace and on the branch of the transaction."""
        return cls(overlays.here(tx))

    def __str__(self) -> str:
        return " AND ".join(self.parts)

    def add(self, condition: str, **parameters: Any) -> None:
        """Also this one."""
        self.parts.append(condition)
        self.parameters |= parameters

    def among(self, column: str, names: Sequence[str], parameter: str) -> None:
        """The column is one of these."""
        self.add(f"{column} {ANY_OF.format(name=parameter)}", **{parameter: encode(list(names), parameter)})

    def without(self, column: str, names: Sequence[str], parameter: str) -> None:
        """The column is none of these."""
        if names:
            self.add(f"{column} NOT {ANY_OF.format(name=parameter)}", **{parameter: encode(list(names))})

    def under(self, paths: Sequence[str], *, descendants: bool) -> None:
        """At one of these paths, or below it."""
        named = {
            f"path{place}": path.rstrip("/") if descendants else path for place, path in enumerate(paths)
        }
        each = COVERED if descendants else EXACT
        self.add(f"({' OR '.join(each.format(name=name) for name in named)})", **named)

    def containing(self, text: str) -> None:
        """The path contains this text, which is in lower case."""
        self.add("instr(lowered(c.entity_path), :contained)", contained=text)

    def beside(self, key: str | None, agent_id: str | None) -> None:
        """Another key, None for any, that the agent may see, None for nobody in particular."""
        if key is not None:
            self.add("c.key <> :key", key=key)
        self.add("(c.shared = 1 OR c.agent_id = :agent_id)", agent_id=agent_id)

    def scope(self, tx: Transaction, clause: str, given: Sequence[Any]) -> None:
        """A predicate of another's making; see ``scoped``."""
        condition, named = scoped(tx, clause, given)
        self.add(condition, **named)


def scoped(
    tx: Transaction, clause: str, given: Sequence[Any], *, versions: bool = False
) -> tuple[str, Mapping[str, Any]]:
    """A predicate of another's making, as it is written for Postgres, and its parameters: about current
    entries (``c``) or about versions (``v`` of ``c``).

    ``agent_id``, ``entity_path``, ``key`` and ``shared`` stand in it under their own names. Raises
    InvalidArgumentError where it has another number of places than parameters, or SQLite refuses it.
    """
    sql, named = as_sqlite(clause, given)
    condition = SEEN.format(each="v" if versions else "c", condition=sql)
    try:
        tx.run(TRIED.format(condition=condition), named)
    except sqlite3.Error as refused:
        raise InvalidArgumentError(
            "scope", f"is {quoted(clause)}, which SQLite refuses: {refused}"
        ) from refused
    return condition, named


def as_sqlite(clause: str, given: Sequence[Any]) -> tuple[str, Mapping[str, Any]]:
    """A predicate with psycopg's places as one with named ones.

    >>> as_sqlite("shared OR agent_id = ANY(%s) OR entity_path LIKE %s || '/%%'", (["a"], "b"))
    ("shared OR agent_id IN (SELECT value FROM json_each(:scope0)) OR entity_path REGEXP :scope1 || '/%'", \
{'scope0': '["a"]', 'scope1': 'b'})
    """
    named: dict[str, Any] = {}

    def place(found: re.Match[str]) -> str:
        if found[0].upper() in SAME:
            return SAME[found[0].upper()]
        name = f"scope{len(named)}"
        parameter = given[len(named)] if len(named) < len(given) else None
        if found[0].startswith("="):
            named[name] = encode(list(parameter or ()), "scope")
            return ANY_OF.format(name=name)
        named[name] = parameter
        return f":{name}"

    sql = _POSTGRES.sub(place, clause)
    if len(named) != len(given):
        raise InvalidArgumentError(
            "scope", f"has {len(named)} places for {len(given)} parameters: {quoted(clause)}"
        )
    return sql, named
