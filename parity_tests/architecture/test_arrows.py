"""Which module may import which: every arrow points down, and none comes back."""

import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from parity_tests.architecture import sources

# Each line is a floor: it may import its own and those above it here, never one further down.
CORE = (
    (
        "amfs_sqlite.errors",
        "amfs_sqlite.modelling",
        "amfs_sqlite.signatures",
        "amfs_sqlite.models",
        "amfs_sqlite.records",
        "amfs_sqlite.clock",
    ),
    ("amfs_sqlite.rules",),
    ("amfs_sqlite.protocol",),
    ("amfs_sqlite.delivery",),
    ("amfs_sqlite.reference", "amfs_sqlite.sqlite"),
    ("amfs_sqlite.agent", "amfs_sqlite.sync"),
    ("amfs_sqlite",),
)
FACES = ("bridge.mcp_server", "bridge.cli", "bridge.http_service")
BRIDGE = (
    ("bridge",),
    ("bridge.errors",),
    ("bridge.session",),
    ("bridge.handoff",),  # and beside it each later room that is built on the protocol
    ("bridge.operations",),
    ("bridge.rendering", "bridge.settings"),  # what the faces have in common
    ("bridge.copying",),  # between adapters of the AMFS Python SDK: it opens ours through the SDK's door
    FACES,
)
# Neighbours on one floor that know nothing of each other.
APART = {"amfs_sqlite.reference", "amfs_sqlite.sqlite", *FACES}
# The bridge stands on what every adapter has in common; only its faces choose an adapter.
COMMON = {noun for floor in CORE[:3] for noun in floor}
EVERYTHING = {noun for floor in CORE for noun in floor}
# Of the SQLite adapter a face sees what its package gives out, and not how it is made. An export is a file
# that a face itself reads: what the system says of it is told as it is of a store.
ADAPTER = "amfs_sqlite.sqlite"
INSIDE_FOR = {"bridge/cli/transfer.py"}
# Commands that start another program import it when they are run, and not before.
LAZILY = {"bridge.cli": ("bridge.mcp_server", "demo")}
# Packages of others that must not come near these.
FOREIGN = {
    "amfs_sqlite": {"click", "mcp", "pytest", "rich"},
    "bridge": {"aiosqlite", "sqlite3", "pytest"},
}


def ladder(floors: tuple[tuple[str, ...], ...], ground: set[str]) -> dict[str, set[str]]:
    """What each noun of these floors may import."""
    allowed: dict[str, set[str]] = {}
    below = set(ground)
    for floor in floors:
        for noun in floor:
            allowed[noun] = below | ({noun} if noun in APART else set(floor))
        below |= set(floor)
    return allowed


ALLOWED = ladder(CORE, set()) | ladder(BRIDGE, COMMON)
ALLOWED["bridge.copying"] = {"bridge.copying", "amfs_sqlite.sync", *COMMON}
for face in FACES:
    ALLOWED[face] |= EVERYTHING


def wrong_arrows(root: Path) -> list[str]:
    """All imports that the floors do not allow."""
    found = []
    for module in sources.modules(root, ("amfs_sqlite", "bridge")):
        noun = _noun(module.name)
        if noun not in ALLOWED:
            found.append(f"{module.path} is on no floor: give {noun} its place in {__name__}")
            continue
        found += [
            f"{module.path}:{each.line} imports {each.target}"
            for each in module.imports
            if not _may_import(noun, each) or _looks_inside(module, noun, each)
        ]
    return found


def cycle(root: Path) -> list[str]:
    """One circle of modules that import each other as they load, if there is any."""
    everything = sources.modules(root)
    names = {module.name for module in everything}
    graph = {
        module.name: {each.target for each in module.imports if not each.lazy} & names
        for module in everything
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [str(name) for name in error.args[1]]
    return []


def loaded_with(root: Path, package: str) -> set[str]:
    """The names of all modules that are loaded once this package was imported."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); __import__(sys.argv[2]); print(*sys.modules)"
    command = [sys.executable, "-c", code, str(root), package]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def _may_import(noun: str, each: sources.Import) -> bool:
    top = each.target.partition(".")[0]
    if top not in sources.PACKAGES:
        return top not in FOREIGN[noun.partition(".")[0]]
    target = _noun(each.target)
    if each.lazy and any(f"{target}.".startswith(f"{lazy}.") for lazy in LAZILY.get(noun, ())):
        return True
    return target in ALLOWED[noun]


def _looks_inside(module: sources.Module, noun: str, each: sources.Import) -> bool:
    return noun in FACES and each.target.startswith(f"{ADAPTER}.") and module.path not in INSIDE_FOR


def _noun(module: str) -> str:
    """The first two parts of a module's name."""
    return ".".join(module.split(".")[:2])


def test_every_import_points_down() -> None:
    assert wrong_arrows(sources.ROOT) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert cycle(sources.ROOT) == []


def test_the_core_loads_without_any_face() -> None:
    assert loaded_with(sources.ROOT, "amfs_sqlite") & FOREIGN["amfs_sqlite"] == set()


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("amfs_sqlite/errors.py", "import amfs_sqlite.rules"),
        ("amfs_sqlite/rules/limits.py", "from amfs_sqlite import protocol"),
        ("amfs_sqlite/rules/limits.py", "from amfs_sqlite import AmfsError"),
        ("amfs_sqlite/reference/store.py", "from amfs_sqlite.sqlite import store"),
        ("amfs_sqlite/sqlite/store.py", "from ..reference import store"),
        ("amfs_sqlite/sync.py", "def later(): import bridge.session"),
        ("amfs_sqlite/agent.py", "from mcp import Client"),
        ("amfs_sqlite/stray.py", ""),
        ("bridge/session/report.py", "from bridge.handoff import parcel"),
        ("bridge/handoff/parcel.py", "import bridge.operations"),
        ("bridge/operations/push.py", "from amfs_sqlite import SqliteAdapter"),
        ("bridge/operations/push.py", "from amfs_sqlite.sqlite import SqliteAdapter"),
        ("bridge/cli/main.py", "from bridge.mcp_server import main"),
        ("bridge/cli/main.py", "import demo"),
        ("bridge/cli/main.py", "from amfs_sqlite.sqlite.doctor.health import visit"),
        ("bridge/mcp_server/main.py", "import amfs_sqlite.sqlite.database.files"),
        ("bridge/mcp_server/main.py", "def later(): import bridge.cli.main"),
        ("bridge/cli/main.py", "def later(): import sqlite3"),
    ],
)
def test_a_wrong_arrow_is_found(tmp_path: Path, path: str, line: str) -> None:
    package = {"amfs_sqlite/protocol/__init__.py": "", "bridge/handoff/__init__.py": ""}
    assert len(wrong_arrows(sources.write(tmp_path, {**package, path: line}))) == 1


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("amfs_sqlite/rules/limits.py", "from amfs_sqlite import errors"),
        ("amfs_sqlite/sqlite/store.py", "import sqlite3, amfs_sqlite.protocol"),
        ("bridge/operations/push.py", "from amfs_sqlite.protocol import AmfsAdapter"),
        ("bridge/cli/main.py", "from amfs_sqlite import SqliteAdapter"),
        ("bridge/cli/main.py", "from amfs_sqlite.sqlite import visit"),
        ("bridge/cli/main.py", "def later(): import bridge.mcp_server.main, demo.__main__"),
        ("demo/story.py", "import bridge.cli.main, amfs_sqlite.sqlite"),
    ],
)
def test_a_right_arrow_is_left_alone(tmp_path: Path, path: str, line: str) -> None:
    files = {"amfs_sqlite/errors.py": "", path: line}
    assert wrong_arrows(sources.write(tmp_path, files)) == []


def test_a_circle_is_found(tmp_path: Path) -> None:
    files = {
        "bridge/__init__.py": "",
        "bridge/session.py": "from bridge import handoff",
        "bridge/handoff.py": "import bridge.operations",
        "bridge/operations.py": "from .session import report",
    }
    assert set(cycle(sources.write(tmp_path, files))) == {
        "bridge.handoff",
        "bridge.operations",
        "bridge.session",
    }


def test_a_face_loaded_with_the_core_is_found(tmp_path: Path) -> None:
    sources.write(tmp_path, {"amfs_sqlite/__init__.py": "import click"})
    assert "click" in loaded_with(tmp_path, "amfs_sqlite")
