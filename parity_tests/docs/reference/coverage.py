"""docs/reference/amfs-coverage.md, from the SDK's adapter interface and the classes that implement it."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version

from parity_tests.amfs import callers
from parity_tests.amfs.argued import ARGUED
from parity_tests.docs.reference import markdown

TITLE = "What of the AMFS Python SDK there is"

OWN, INHERITED, MISSING = "own", "inherited", "missing"
PACKAGES = ("amfs", "amfs-core", "amfs-adapter-filesystem", "amfs-adapter-postgres")

INTRODUCTION = """
`amfs_sqlite.sync.SyncSqliteAdapter` beside the adapters that the SDK comes with, method by method, as the
installed classes have it. `own` is a method of the adapter itself. `inherited` is the interface's default:
some of these work on what `list` returns, many do nothing. `missing` is what is not of the interface, and
not there.
"""

LOOKED_UP = """
## Not of the interface

What the SDK and its servers look for on an adapter, and do without where it is not there:
"""

NOT_ASKED = """
## Not asked of a store

What they look for on clients of the hosted service or on connections to Postgres. Nothing of it is here:
"""


def page() -> str:
    """The page."""
    return markdown.page(
        TITLE,
        INTRODUCTION,
        _measured(),
        "## The interface",
        _table(interface()),
        LOOKED_UP,
        _table(looked_up()),
        NOT_ASKED,
        markdown.table(["name", "what it is"], [[f"`{name}`", ARGUED[name]] for name in sorted(ARGUED)]),
    )


def adapters() -> Mapping[str, type]:
    """Ours and those of the SDK, by what the table calls them."""
    from amfs_filesystem import FilesystemAdapter  # noqa: PLC0415 - the other pages do without the SDK
    from amfs_postgres.adapter import PostgresAdapter  # noqa: PLC0415 - the SDK may be missing

    from amfs_sqlite.sync import SyncSqliteAdapter  # noqa: PLC0415 - the SDK may be missing

    return {
        "here": SyncSqliteAdapter,
        "file adapter": FilesystemAdapter,
        "Postgres adapter": PostgresAdapter,
    }


def interface() -> Mapping[str, object]:
    """The methods of the interface by their names, in its order."""
    from amfs_core.abc import AdapterABC  # noqa: PLC0415 - the SDK may be missing

    members = vars(AdapterABC).items()
    return {name: each for name, each in members if name[0] != "_" and inspect.isfunction(each)}


def looked_up() -> Sequence[str]:
    """What callers take from adapters beside the interface, by name, and is not argued away."""
    return sorted(set(callers.names()) - set(interface()) - set(ARGUED))


def found(adapter: type, name: str) -> str:
    """Whether the adapter has this method of its own, from the interface, or not at all."""
    method = getattr(adapter, name, None)
    if method is None:
        return MISSING
    return INHERITED if method is interface().get(name) else OWN


def _measured() -> str:
    counts = [
        f"{sum(found(adapter, name) == OWN for name in interface())} ({label})"
        for label, adapter in adapters().items()
    ]
    releases = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    return markdown.prose(
        f"Own are, of the {len(interface())} methods of the interface: {', '.join(counts)}. "
        f"Read from {releases}."
    )


def _table(names: Iterable[str]) -> str:
    each = adapters()
    rows = [[f"`{name}`", *(found(adapter, name) for adapter in each.values())] for name in names]
    return markdown.table(["method", *each], rows)
