"""Who takes part, in the order of the table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.contestants.environments import node_modules, python_with, this_python

REQUIREMENTS = Path(__file__).parent / "requirements"


@dataclass(frozen=True)
class Environment:
    """The interpreter that runs a driver, and what the driver is told beside its folder."""

    python: Path
    arguments: Sequence[str] = ()


@dataclass(frozen=True)
class Contestant:
    """One column. ``beside`` is the column of ours it is measured against: equally durable, by the same way.

    ``is_peer`` is whether ours should be ahead of it.
    """

    name: str
    driver: str
    beside: str
    remark: str
    environment: Callable[[], Environment]
    is_peer: bool = True


def _here(*arguments: str) -> Callable[[], Environment]:
    return lambda: Environment(this_python(), arguments)


def _pinned(requirements: str) -> Callable[[], Environment]:
    return lambda: Environment(python_with(REQUIREMENTS / requirements))


def _with_node() -> Environment:
    return Environment(this_python(), [str(node_modules(REQUIREMENTS / "package.json"))])


CONTESTANTS = (
    Contestant(
        "ours",
        "ours",
        "ours",
        "SqliteAdapter, durability normal: keeps every version, hashed and chained.",
        _here("normal"),
        is_peer=False,
    ),
    Contestant(
        "ours,\nfull",
        "ours",
        "ours",
        "the same with its default durability: every answered write survives a power cut.",
        _here("full"),
        is_peer=False,
    ),
    Contestant(
        "sqlite3",
        "by_hand",
        "ours",
        "the limit: the same rows and hashes by hand, in one thread, durability normal.",
        _here(),
        is_peer=False,
    ),
    Contestant(
        "AMFS\nadapter",
        "amfs_adapter",
        "ours",
        "FilesystemAdapter alone: keeps versions, syncs nothing to disk.",
        _pinned("amfs.txt"),
    ),
    Contestant(
        "AMFS\nSDK",
        "amfs_memory",
        "ours",
        "AgentMemory on that adapter; hashed and chained.",
        _pinned("amfs.txt"),
    ),
    Contestant(
        "LangGraph\nstore",
        "langgraph_store",
        "ours,\nfull",
        "AsyncSqliteStore: one version, survives a power cut, no text search without a model;"
        " beside ours, full.",
        _pinned("langgraph.txt"),
    ),
    Contestant(
        "Disk\nStore",
        "disk_store",
        "ours",
        "py-key-value on diskcache, keys and values alone: one version, durability normal, and all"
        " its work in the thread of the event loop.",
        _pinned("py-key-value.txt"),
    ),
    Contestant(
        "ours,\nMCP",
        "mcp_ours",
        "ours,\nMCP",
        "our server over stdio, durability normal.",
        _here("normal"),
        is_peer=False,
    ),
    Contestant(
        "MCP\nmemory",
        "mcp_memory",
        "ours,\nMCP",
        "the official memory server over stdio: one file, rewritten by each write, which must come"
        " one at a time; one value a key here, 10 versions in ours; beside ours, MCP.",
        _with_node,
    ),
)
