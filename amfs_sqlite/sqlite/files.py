"""What stands at a path before SQLite touches it: ours, nothing yet, or something to leave alone."""

import logging
import os
import stat
from pathlib import Path

from amfs_sqlite.errors import (
    ForeignFileError,
    NewerSchemaError,
    StoreCorruptError,
    StoreReadOnlyError,
    StoreUnavailableError,
)

APPLICATION_ID = 0x414D4653  # "AMFS" in ASCII
SQLITE_MAGIC = b"SQLite format 3\0"
HEADER_BYTES = 100
# SQLite puts "-journal" behind the name, and on Unix takes no longer path than this with it.
MAX_NAME_BYTES = 255 - 8
MAX_PATH_BYTES = 512 - 8

log = logging.getLogger("amfs_sqlite")


def resolve(path: str | os.PathLike[str]) -> str:
    """The one absolute path of a store, however it was spelled; ``~`` is the user's home."""
    spelled = os.fspath(path)
    if not spelled.strip():
        raise StoreUnavailableError(spelled, "no path was given")
    if "\0" in spelled:
        raise StoreUnavailableError(spelled, "a path cannot hold a NUL character")
    try:
        return os.path.realpath(Path(spelled).expanduser())
    except RuntimeError as unknown:
        raise StoreUnavailableError(spelled, "names a home folder that is not known here") from unknown


def prepare(path: str, newest_schema: int) -> None:
    """Make sure that a store can be opened here: create an empty private file, or look at what is
    there.

    Raises for what must be left alone. Reads at most the header, and never through SQLite, which
    would put its side files beside a file that is not ours.
    """
    _refuse_long(path)
    try:
        _create_if_missing(path)
        logged = size(path + "-wal")  # Before the header: another process may be filling an empty file.
        header = _header(path)
    except PermissionError as refused:
        raise StoreReadOnlyError(path, f"cannot be created or read: {refused.strerror}") from refused
    except OSError as failed:
        raise StoreUnavailableError(path, f"cannot be opened: {failed.strerror}") from failed
    _refuse_second_names(path)
    if header:
        _refuse_foreign(path, header, newest_schema)
    elif logged:
        raise StoreCorruptError(path, "is empty, but its -wal beside it is not")
    _warn_of_wide_modes(path)


def file_uri(path: str) -> str:
    """The path as a URI for SQLite, so that no character of it is taken for a parameter."""
    return Path(path).as_uri() + "?mode=rw"


def _refuse_long(path: str) -> None:
    for part, limit in ((Path(path).name, MAX_NAME_BYTES), (path, MAX_PATH_BYTES)):
        if (length := len(os.fsencode(part))) > limit:
            raise StoreUnavailableError(path, f"is too long: {length} bytes, where {limit} is the limit")


def _create_if_missing(path: str) -> None:
    if Path(path).is_dir():
        raise StoreUnavailableError(path, "is a folder, not a file")
    missing = [parent for parent in Path(path).parents if not parent.exists()]
    for parent in reversed(missing):
        parent.mkdir(mode=0o700, exist_ok=True)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return


def _header(path: str) -> bytes:
    with Path(path).open("rb") as file:
        return file.read(HEADER_BYTES)


def _refuse_foreign(path: str, header: bytes, newest_schema: int) -> None:
    if not any(header) and size(path + "-journal"):
        return  # A creation was cut short: SQLite rolls it back, then the schema is looked at again.
    if len(header) < HEADER_BYTES or not header.startswith(SQLITE_MAGIC):
        raise ForeignFileError(path, "is not a SQLite file")
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise ForeignFileError(path, "is a SQLite file of another program")
    if (found := int.from_bytes(header[60:64], "big")) > newest_schema:
        raise NewerSchemaError(path, found, newest_schema)


def _refuse_second_names(path: str) -> None:
    """SQLite keeps its log beside the name it was opened by: two names would be two logs of one file."""
    if (links := Path(path).stat().st_nlink) > 1:
        raise StoreUnavailableError(path, f"has {links} hard links; remove all names but one")


def _warn_of_wide_modes(path: str) -> None:
    mode = stat.S_IMODE(Path(path).stat().st_mode)
    if os.name == "posix" and mode & 0o077:
        log.warning("%s can be read by other users (mode %o); chmod 600 keeps it private", path, mode)


def size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except FileNotFoundError:
        return 0
