"""docs/reference/errors.md, from the errors that the product raises on purpose."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import amfs_sqlite
import bridge
from amfs_sqlite import EntryRef, ReadOnlyScopeError, errors
from amfs_sqlite.errors import AmfsError
from bridge import errors as bridge_errors
from bridge.cli.addresses import ScopeNamedError
from bridge.cli.exits import exit_code
from bridge.cli.output import OutputError
from bridge.cli.sdk import HookRefusedError
from bridge.cli.store import NoStoreError
from bridge.copying.endpoints import EndpointError
from bridge.settings import SettingError
from parity_tests.docs.reference import markdown

TITLE = "Errors"

INTRODUCTION = """
Every error has a code that stays the same from release to release, and says in one line what is wrong
and what to do. In Python it is a subclass of `AmfsError` with the facts as attributes (`code` and
`retryable` among them). A tool answers `code: message` with `isError`. The command writes
`code: message` to standard error and ends with the exit code. A server that cannot start says the same
behind its name, and ends with 2 for a setting and with 1 for the file.

Nothing is stored by a call that failed, unless its text below says otherwise. How much may be stored and
asked for at most stands in [Limits](limits.md).
"""

ELSEWHERE = """
## Codes that are no exceptions

- `internal_error`: a tool failed in a way that was not foreseen. The answer says no more; the server's
  standard error has the traceback.
- `usage`: the command was given arguments it does not have. It names them, and ends with 2.
- `interrupted`: the command was stopped by Ctrl-C, and ends with 130.
- `warning`: a line of the command on standard error that is no error.

Three JSON-RPC errors are the server's: -32602 for a tool it does not have, -32600 for a request that is
none or is too large, -32700 for a line that cannot be read.
"""

PATH = "~/memory.db"
SCOPE, KEY = "listing/553", "assessment"
PACKET = "h_1f4089bf"

EXAMPLES: tuple[AmfsError, ...] = (
    errors.InvalidArgumentError("confidence", "is 1.5; it must be from 0 to 1"),
    errors.InvalidCursorError("belongs to another query"),
    errors.EntryNotFoundError(SCOPE, KEY, 7),
    errors.AmbiguousReferenceError("a/b/c", [("a", "b/c"), ("a/b", "c")]),
    errors.VersionConflictError(SCOPE, KEY, 1, 2, "scout"),
    errors.IdempotencyConflictError("scout", "run-7"),
    errors.OutcomeConflictError("run-7", SCOPE, KEY, "success", "failure"),
    errors.ImportLineError(7, "is not acceptable: the value does not hash to its contentHash", 2),
    errors.AdapterClosedError("is closed"),
    ReadOnlyScopeError(SCOPE),
    errors.StoreBusyError(PATH, "another process held the write lock for 15 s; nothing was stored"),
    errors.StoreFullError(PATH, "SQLite says: database or disk is full"),
    errors.StoreReadOnlyError(PATH, "SQLite says: attempt to write a readonly database"),
    errors.StoreUnavailableError(PATH, "is a folder, not a file"),
    errors.StoreCorruptError(PATH, "SQLite says: database disk image is malformed"),
    errors.ForeignFileError(PATH, "is a SQLite file of another program"),
    errors.NewerSchemaError(PATH, 2, 1),
    errors.StoreError(PATH, "SQLite says: interrupted"),
    bridge_errors.PacketNotFoundError(PACKET),
    bridge_errors.PacketStateError(PACKET, "open", "closed", "take it first"),
    bridge_errors.PacketNotYoursError(PACKET, "executor", "claimed"),
    bridge_errors.PacketUnreadableError(PACKET, "its summary is not a packet's"),
    bridge_errors.PrivatePinError(SCOPE, KEY),
    bridge_errors.ReservedPathError("_system/handoff"),
    bridge_errors.NothingTouchedError(),
    SettingError("MEMORY_DURABILITY", "is 'fast'; it must be full or normal"),
    ScopeNamedError(SCOPE, [EntryRef(entity_path=SCOPE, key=KEY)], more=False),
    NoStoreError(PATH, "does not exist"),
    OutputError("No space left on device"),
    EndpointError("postgresql://localhost/agents", "cannot be reached"),
    HookRefusedError("/usr/lib/python3/dist-packages/amfs_sqlite_hook.py", "Permission denied"),
)
"""One error of each kind, in the order to list them in."""

ALSO: Mapping[str, tuple[AmfsError, ...]] = MappingProxyType(
    {"closed": (errors.AdapterClosedError("is not open"),)}
)
"""What else is said under a code."""


def page() -> str:
    """The page."""
    rows = [
        [
            f"[`{each.code}`](#{markdown.anchor(each.code)})",
            f"`{type(each).__name__}`",
            "yes" if each.retryable else "no",
            f"{exit_code(each)}",
        ]
        for each in EXAMPLES
    ]
    return markdown.page(
        TITLE,
        INTRODUCTION,
        markdown.table(["code", "in Python", "retryable", "exit code"], rows),
        *(part for each in EXAMPLES for part in _section(each)),
        ELSEWHERE,
    )


def codes() -> set[str]:
    """All codes there are."""
    return {each.code for each in kinds()}


def kinds() -> set[type[AmfsError]]:
    """All kinds of errors that the packages define, but the root."""
    for package in (amfs_sqlite, bridge):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                importlib.import_module(found.name)
    return set(_below(AmfsError))


def _below(kind: type[AmfsError]) -> Iterator[type[AmfsError]]:
    for each in kind.__subclasses__():
        if each.__module__.partition(".")[0] in ("amfs_sqlite", "bridge"):
            yield each
        yield from _below(each)


def _section(error: AmfsError) -> Iterator[str]:
    kind = type(error)
    yield f"## `{error.code}`"
    yield markdown.prose(inspect.getdoc(kind) or "")
    said = (error, *ALSO.get(error.code, ()))
    yield markdown.block("text", "\n".join(f"{each.code}: {each}" for each in said))
    facts = ", ".join(f"`{name}`" for name in vars(error))
    yield f"`{kind.__module__}.{kind.__name__}`" + (f": {facts}" if facts else "")
