"""Files that are made whole under a name of their own before they get the name they are for."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from amfs_sqlite.clock import IdSource
from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.sqlite.database.files import SIDE_SUFFIXES

TEMPORARY_SUFFIX = ".part"
ID_DIGITS = 8
# What systems say where a file cannot have a second name.
NO_LINKS = frozenset({errno.EPERM, errno.EACCES, errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})


@contextmanager
def temporary_beside(path: str, ids: IdSource) -> Iterator[str]:
    """An empty private file in the folder of ``path``; gone at the end, unless it was put somewhere."""
    temporary = f"{path}.{ids.hex(ID_DIGITS)}{TEMPORARY_SUFFIX}"
    os.close(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        yield temporary
    finally:
        for suffix in ("", *SIDE_SUFFIXES):
            discard(temporary + suffix)


def put(temporary: str, path: str) -> None:
    """Give the file its name, which nobody may have; on the disk when this returns.

    Whatever goes wrong, nothing stands under it; whoever is ended on the way leaves the whole file there, or
    nothing. Only where files cannot have a second name it may be an empty one.
    """
    sync(temporary)
    has_both = True
    try:
        Path(path).hardlink_to(temporary)
    except OSError as refused:
        if refused.errno not in NO_LINKS:
            raise
        has_both = False
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        if has_both:
            discard(temporary)
        else:
            Path(temporary).replace(path)
        sync_folder(path)
    except BaseException:
        discard(path)
        raise


def discard(path: str) -> None:
    """Delete a copy of ours that nobody needs; it may be gone already."""
    Path(path).unlink(missing_ok=True)


def refuse_taken(path: str, argument: str) -> None:
    """Raise InvalidArgumentError where something stands under this name, or beside it as its log."""
    for suffix in ("", *SIDE_SUFFIXES):
        if os.path.lexists(path + suffix):
            what = (
                f"but {quoted(path + suffix, 400)} stands there" if suffix else "which stands there already"
            )
            raise InvalidArgumentError(argument, f"is {quoted(path, 400)}, {what}; choose another name")


def free_name(path: str) -> str:
    """This name, or with the first number behind it that makes it free: neither taken nor with a log."""
    names = (path if number == 1 else f"{path}-{number}" for number in count(1))
    return next(
        name for name in names if not any(os.path.lexists(name + side) for side in ("", *SIDE_SUFFIXES))
    )


def sync(path: str) -> None:
    """Wait until the file's content is on the disk. Nobody may have it open through SQLite here."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: str) -> None:
    """Wait until the name is on the disk; Windows has no such call, and needs none."""
    if os.name == "nt":
        return
    descriptor = os.open(Path(path).parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
