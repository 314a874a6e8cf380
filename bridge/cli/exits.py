"""Exit codes: one small table, which `--help` prints, and which error ends with which."""

from amfs_sqlite.errors import (
    AdapterClosedError,
    AmbiguousReferenceError,
    AmfsError,
    EntryNotFoundError,
    StoreError,
)
from bridge.cli.addresses import ScopeNamedError
from bridge.cli.output import OutputError
from bridge.errors import PacketNotFoundError

DONE = 0
FOUND = 1
WRONG_USE = 2
UNUSABLE = 3
REFUSED = 4
INTERRUPTED = 130

EXIT_CODES = {
    DONE: "done",
    FOUND: "no such record, packet or agent, or a check or import found something",
    WRONG_USE: "wrong use: an argument, a reference or a setting",
    UNUSABLE: "the store cannot be used: missing, busy, full, damaged, foreign",
    REFUSED: "refused: a packet's state or a folder's permissions do not allow it",
    INTERRUPTED: "interrupted",
}


def exit_code(error: AmfsError) -> int:
    """The code that a command ends with after this error."""
    match error:
        case EntryNotFoundError() | ScopeNamedError() | PacketNotFoundError():
            return FOUND
        case StoreError() | AdapterClosedError() | OutputError():
            return UNUSABLE
        case AmbiguousReferenceError() | ValueError():
            return WRONG_USE
    return REFUSED
