"""Version numbers and compare-and-set."""

from amfs_sqlite.errors import VersionConflictError


def next_version(current: int | None) -> int:
    """The version after this one: they count 1, 2, 3 and on.

    >>> next_version(None), next_version(7)
    (1, 8)
    """
    return (current or 0) + 1


def check_expected(
    expected: int | None, actual: int | None, actual_agent_id: str | None, address: tuple[str, str]
) -> None:
    """Raise VersionConflictError unless the expected version is the actual one; None expects nothing."""
    if expected is not None and expected != (actual or 0):
        raise VersionConflictError(*address, expected, actual or 0, actual_agent_id)
