"""What goes wrong, as the SDK's callers expect it: its exceptions, our words, our error as the cause."""

from collections.abc import Iterator
from contextlib import contextmanager

from amfs_core import exceptions, pagination

from amfs_sqlite.errors import AmfsError, InvalidArgumentError, InvalidCursorError, StoreBusyError


class InvalidArgument(exceptions.AdapterError, ValueError):  # noqa: N818 - named as what it says
    """An argument that cannot be accepted. Nothing was stored."""


_KINDS: tuple[tuple[type[AmfsError], type[Exception]], ...] = (
    (InvalidCursorError, pagination.InvalidCursorError),
    (InvalidArgumentError, InvalidArgument),
    (StoreBusyError, exceptions.LockTimeoutError),
    (AmfsError, exceptions.AdapterError),
)


@contextmanager
def as_sdk_errors() -> Iterator[None]:
    """Raise the SDK's exceptions in place of ours."""
    try:
        yield
    except AmfsError as error:
        kind = next(theirs for ours, theirs in _KINDS if isinstance(error, ours))
        raise kind(str(error)) from error
