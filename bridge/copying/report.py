"""What a copy came to: counted, compared and named."""

from typing import Annotated, Literal

from pydantic import Field

from amfs_sqlite.modelling import Model
from amfs_sqlite.models import LISTS_TOO

SHOWN = 100
How = Literal["absent", "changed", "made"]


class KindReport(Model):
    """One kind of record: of ``found`` in the source, ``stored`` now, ``held`` by the target before, and
    ``left_out``. ``missing`` were not there when all was read back. ``reason`` says why the kind cannot be
    copied whole, where that is so.
    """

    kind: str
    found: int = 0
    stored: int = 0
    held: int = 0
    left_out: int = 0
    missing: int = 0
    reason: str | None = None


class LeftOut(Model):
    """One record that was not copied. ``entity_path``, ``key`` and ``version`` are of entries alone."""

    kind: str
    reason: str
    is_conflict: bool = False
    id: str | None = None
    entity_path: str | None = None
    key: str | None = None
    version: int | None = None


class Difference(Model):
    """A field that so many records have otherwise in the target: ``absent``, ``changed``, or ``made`` anew,
    which is a field that every adapter makes itself. ``example`` names the first of them.
    """

    kind: str
    field: str
    how: How
    count: int
    example: str


class CopyReport(Model):
    """What a copy did, or with ``dry_run`` would do.

    ``is_complete`` where the target holds all versions on main and all records of the kinds that are copied,
    equal but for fields ``made`` anew, and the source lists nothing else. What no adapter lists is not told.
    ``left_out`` names the first 100 of ``left_out_count``. ``branches`` counts entries of other branches than
    main, which are not copied.
    """

    source: str
    target: str
    namespace: str
    dry_run: bool
    is_complete: bool
    kinds: Annotated[tuple[KindReport, ...], LISTS_TOO] = ()
    left_out_count: int = 0
    conflict_count: int = 0
    left_out: Annotated[tuple[LeftOut, ...], LISTS_TOO] = ()
    differences: Annotated[tuple[Difference, ...], LISTS_TOO] = ()
    branches: dict[str, int] = Field(default_factory=dict)
