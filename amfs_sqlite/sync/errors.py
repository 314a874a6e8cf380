"""What goes wrong, as the SDK's callers expect it: its exceptions, our words, our error as the cause."""

from collections.abc import Iterator
from contextlib import contextmanager

from amfs_core import exceptions, pagination
from pydantic import ValidationError

from amfs_sqlite.errors import AmfsError, InvalidArgumentError, InvalidCursorError, StoreBusyError
from amfs_sqlite.rules.limits import unacceptable


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
    """Raise the SDK's exceptions in place of ours, and of those of a model that was given wrong fields."""
    try:
        yield
    except ValidationError as refused:
        raise InvalidArgument(str(unacceptable(refused))) from refused
    except AmfsError as error:
        kind = next(theirs for ours, theirs in _KINDS if isinstance(error, ours))
        raise kind(str(error)) from error
