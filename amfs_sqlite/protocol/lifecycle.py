"""Opening and closing."""

from types import TracebackType
from typing import Protocol, Self, runtime_checkable


@runtime_checkable
class Lifecycle(Protocol):
    """An adapter is usable between ``open`` and ``close``; ``async with`` does both."""

    @property
    def namespace(self) -> str:
        """The namespace every operation of this adapter works in."""
        ...

    @property
    def policy_name(self) -> str:
        """The outcome policy this adapter was opened with: ``amfs-0.3`` or ``handoff``."""
        ...

    async def open(self) -> None:
        """Make the adapter usable. Opening an open adapter does nothing.

        Raises a StoreError where the file cannot be opened, is foreign, damaged, or of a newer
        schema; such a file is left untouched.
        """
        ...

    async def close(self) -> None:
        """Finish what was asked before, then release everything. Closing twice is closing once.

        Every operation afterwards raises AdapterClosedError.
        """
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
