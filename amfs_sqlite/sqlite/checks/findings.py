"""What the checks of a file have in common: the part that is checked, and how it is said what was found."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from amfs_sqlite.models import Finding, FindingCode
from amfs_sqlite.rules.hashing import GENESIS

EVERYTHING = -(2**63)
"""Of what commit a store is checked from where all of it is: a forged number may lie below 1."""


class Part(NamedTuple):
    """Which part of a store is checked: from the commit ``first``, behind one whose digest is ``digest``."""

    first: int = EVERYTHING
    digest: str = GENESIS

    @property
    def is_whole(self) -> bool:
        """Whether that is everything."""
        return self.first == EVERYTHING

    @property
    def checked_from(self) -> int:
        """The number of the first commit."""
        return max(self.first, 1)

    @property
    def bound(self) -> dict[str, int]:
        """What statements bind."""
        return {"first": self.first}


# The keys that anything happened to behind a commit.
TOUCHED = """
SELECT v.key_id FROM versions AS v WHERE v.sequence >= :first
UNION SELECT e.key_id FROM outcomes AS o JOIN outcome_effects AS e ON e.outcome_id = o.id
WHERE o.sequence >= :first
UNION SELECT v.key_id FROM erasures AS x JOIN versions AS v ON v.id = x.version_id
WHERE x.sequence >= :first"""


class Beside:
    """Rows in the order of a number, their first column, taken as those numbers come up elsewhere."""

    def __init__(self, rows: Iterable[Sequence[Any]]) -> None:
        self._rows: Iterator[Sequence[Any]] = iter(rows)
        self._next = next(self._rows, None)

    def of(self, number: int) -> list[Sequence[Any]]:
        """The rows of this number; those of lower ones are passed over. To be asked in ascending order."""
        found = []
        while (row := self._next) is not None and row[0] <= number:
            if row[0] == number:
                found.append(row)
            self._next = next(self._rows, None)
        return found

    def pass_over(self) -> None:
        """All that are left."""
        for _ in self._rows:
            pass


def finding(
    code: FindingCode,
    message: str,
    at: tuple[str | None, str | None] = (None, None),
    *,
    version: int | None = None,
    commit_id: str | None = None,
) -> Finding:
    """Something found, and where: path and key, version, commit."""
    path, key = at
    return Finding(
        code=code,
        message=message,
        entity_path=shown(path),
        key=shown(key),
        version=version,
        commit_id=shown(commit_id),
    )


def shown(cell: Any) -> Any:
    """A cell as it can be shown, where its text is no UTF-8."""
    return cell.encode(errors="backslashreplace").decode() if isinstance(cell, str) else cell
