"""What stands at a path before SQLite touches it: ours, nothing yet, or something to leave alone."""

import logging
import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from amfs_sqlite.errors import (
    ForeignFileError,
    InvalidArgumentError,
    NewerSchemaError,
    StoreCorruptError,
    StoreReadOnlyError,
    StoreUnavailableError,
    quoted,
)

APPLICATION_ID = 0x414D4653  # "AMFS" in ASCII
# SQLite puts "-journal" behind the name, and on Unix takes no longer path than this with it.
MAX_NAME_BYTES = 255 - 8
MAX_PATH_BYTES = 512 - 8
BEFORE_MIGRATION = ".before-schema-"
"""Between the name of a store and the schema it was about to get: a copy made before a migration."""
BEFORE_RESTORE = ".before-restore-"
"""Between the name of a store and the time: what stood there before a backup was put in its place."""

# What belongs to a file while it is in use; beside another file of its name it would do damage.
SIDE_SUFFIXES = ("-wal", "-shm", "-journal")

log = logging.getLogger("amfs_sqlite")


def resolve(path: str | os.PathLike[str]) -> str:
    """The one absolute path of a store, however it was spelled; ``~`` is the user's home.

    Raises InvalidArgumentError for what is no path, and StoreUnavailableError for an impossible one.

    >>> resolve("folder/")
    Traceback (most recent call last):
    amfs_sqlite.errors.StoreUnavailableError: 'folder/': names a folder: put the name of a file \
behind it; check the path, its permissions and the disk
    >>> resolve(None)
    Traceback (most recent call last):
    amfs_sqlite.errors.InvalidArgumentError: path is None; give the path of a file as text or pathlib.Path
    """
    spelled = os.fspath(path) if isinstance(path, str | os.PathLike) else path
    if not isinstance(spelled, str):
        raise InvalidArgumentError(
            "path", f"is {quoted(path)}; give the path of a file as text or pathlib.Path"
        )
    if not spelled.strip():
        raise StoreUnavailableError(spelled, "no path was given")
    if not _is_encodable(spelled):
        raise StoreUnavailableError(spelled, "no file system can hold this name")
    if "\0" in spelled:
        raise StoreUnavailableError(spelled, "a path cannot hold a NUL character")
    if spelled.replace(os.altsep or os.sep, os.sep).rpartition(os.sep)[2] in ("", os.curdir, os.pardir):
        raise StoreUnavailableError(spelled, "names a folder: put the name of a file behind it")
    try:
        return os.path.realpath(Path(spelled).expanduser())
    except RuntimeError as unknown:
        raise StoreUnavailableError(spelled, "names a home folder that is not known here") from unknown


def _is_encodable(name: str) -> bool:
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return True


def prepare(path: str, newest_schema: int) -> None:
    """Make sure that a store can be opened here: create an empty private file, or look at what is
    there.

    Raises for what must be left alone.
    """
    _refuse_long(path)
    try:
        _create_if_missing(path)
        logged = size(path + "-wal")  # Before the header: another process may be filling an empty file.
        filled = size(path) > 0
    except PermissionError as refused:
        raise StoreReadOnlyError(path, f"cannot be created or read: {refused.strerror}") from refused
    except OSError as failed:
        raise StoreUnavailableError(path, f"cannot be opened: {failed.strerror}") from failed
    refuse_second_names(path)
    if filled:
        _refuse_foreign(path, newest_schema)
    elif logged:
        raise StoreCorruptError(path, "is empty, but its -wal beside it is not")
    _warn_of_wide_modes(path)


def find(path: str, newest_schema: int) -> str:
    """The URI by which the store at this path is read; nothing is made or changed.

    Raises where there is none, where it is not ours or too new, and where reading would have to write.
    """
    recognise(path, newest_schema)
    _warn_of_wide_modes(path)
    return _reading_uri(path)


def recognise(path: str, newest_schema: int) -> None:
    """Raise for what is no store of ours, or a newer one. It is only looked at."""
    _refuse_long(path)
    try:
        if Path(path).is_dir():
            raise StoreUnavailableError(path, "is a folder, not a file")
        if identity(path) is None:
            raise StoreUnavailableError(path, "does not exist")
        if not size(path):
            raise StoreUnavailableError(path, "is empty, no store yet")
    except OSError as failed:
        raise StoreUnavailableError(path, f"cannot be read: {failed.strerror}") from failed
    _refuse_foreign(path, newest_schema)


def is_marked(path: str) -> bool:
    """Whether the file says of itself that it is a store of ours."""
    header = _header(path)
    return header is not None and header.application_id == APPLICATION_ID


def file_uri(path: str, mode: str = "rw") -> str:
    """The path as a URI for SQLite, so that no character of it is taken for a parameter."""
    return Path(path).as_uri() + f"?mode={mode}"


def untouched_uri(path: str) -> str:
    """As ``file_uri``, for a file that nobody changes: nothing is locked, and nothing put beside it."""
    return file_uri(path, "ro") + "&immutable=1"


def _reading_uri(path: str) -> str:
    """Where SQLite may put its log and shared memory beside the file, or finds them, it reads beside writers.

    Where it may not, and nobody left a log, the file stays as it is while it is read.
    """
    if os.access(Path(path).parent, os.W_OK) or os.access(path + "-shm", os.R_OK):
        return file_uri(path, "ro")
    if any(identity(path + suffix) for suffix in SIDE_SUFFIXES):
        raise StoreReadOnlyError(
            path,
            "has a log beside it that cannot be read where nothing may be written",
            "let somebody who may write open and close it, or copy it with all files beside it elsewhere",
        )
    return untouched_uri(path)


def _refuse_long(path: str) -> None:
    for part, limit in ((Path(path).name, MAX_NAME_BYTES), (path, MAX_PATH_BYTES)):
        if (length := len(os.fsencode(part))) > limit:
            raise StoreUnavailableError(path, f"is too long: {length} bytes, where {limit} is the limit")


def _create_if_missing(path: str) -> None:
    if Path(path).is_dir():
        raise StoreUnavailableError(path, "is a folder, not a file")
    if Path(path).exists():
        return
    missing = [parent for parent in Path(path).parents if not parent.exists()]
    for parent in reversed(missing):
        parent.mkdir(mode=0o700, exist_ok=True)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return


class _Header(NamedTuple):
    application_id: int
    schema: int


def _header(path: str) -> _Header | None:
    """What the file says it is; None when it is no SQLite file.

    Read through SQLite, as a file that nobody changes: it locks nothing and puts nothing beside the file.
    Opening and closing the file any other way would drop every lock that this process holds on it.
    """
    with closing(sqlite3.connect(untouched_uri(path), uri=True)) as connection:
        try:
            (application_id,) = connection.execute("PRAGMA application_id").fetchone()
            (schema,) = connection.execute("PRAGMA user_version").fetchone()
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CORRUPT:
                # Half of another process's creation was seen, or damage: SQLite tells which, under its locks.
                return _Header(APPLICATION_ID, 0)
            if error.sqlite_errorcode != sqlite3.SQLITE_NOTADB:
                raise
            return None
    return _Header(application_id, schema)


def _refuse_foreign(path: str, newest_schema: int) -> None:
    header = _header(path)
    if header is None:
        if size(path + "-journal"):
            return  # A creation was cut short: SQLite rolls it back, then the schema is looked at again.
        header = _header(path)  # Or one has ended just now.
    if header is None:
        raise ForeignFileError(path, "is not a SQLite file")
    if header.application_id != APPLICATION_ID:
        raise ForeignFileError(path, "is a SQLite file of another program")
    if header.schema > newest_schema:
        raise NewerSchemaError(path, header.schema, newest_schema)


def refuse_second_names(path: str) -> None:
    """SQLite keeps its log beside the name it was opened by: two names would be two logs of one file."""
    if (links := Path(path).stat().st_nlink) > 1:
        raise StoreUnavailableError(
            path,
            f"has {links} hard links; remove all names but one",
            "'amfs-sqlite doctor' tells of those beside it",
        )


def _warn_of_wide_modes(path: str) -> None:
    mode = stat.S_IMODE(Path(path).stat().st_mode)
    if os.name == "posix" and mode & 0o077:
        log.warning("%s can be read by other users (mode %o); chmod 600 keeps it private", path, mode)


def identity(path: str) -> tuple[int, int] | None:
    """Which file stands at the path; None when there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - before every transaction: to make a Path takes as long again
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except FileNotFoundError:
        return 0
