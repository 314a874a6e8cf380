"""An adapter whose operations end or stop the process they run in, each in its own way.

`python -m parity_tests --adapter parity_tests.conformance.unruly:factory --noun Lifecycle --timeout 1`
"""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NoReturn, Self

from amfs_sqlite import AdapterClosedError, Clock, IdSource, OutcomePolicy
from amfs_sqlite.models import ChangeEvent

LONG_S = 1_000_000.0
SURROGATE = "\ud800"


class UnrulyAdapter:
    """Opens and closes well, and does nothing else well."""

    def __init__(self, namespace: str, policy_name: str) -> None:
        self._namespace, self._policy_name, self._is_open = namespace, policy_name, False

    @property
    def namespace(self) -> str:
        return self._namespace

    @property
    def policy_name(self) -> str:
        return self._policy_name

    async def open(self) -> None:
        self._is_open = True

    async def close(self) -> None:
        self._is_open = False

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()

    async def search(self, *_asked: Any, **_options: Any) -> NoReturn:
        sys.exit(0)

    async def stats(self, **_options: Any) -> NoReturn:
        os._exit(0)

    async def scopes(self, *_asked: Any, **_options: Any) -> NoReturn:
        raise KeyboardInterrupt

    async def verify(self) -> None:
        await asyncio.sleep(LONG_S)

    async def commit_outcome(self, _record: Any) -> NoReturn:
        raise ValueError(SURROGATE)

    async def list_outcomes(self, **_options: Any) -> None:
        time.sleep(LONG_S)  # noqa: ASYNC251 - nothing within its process can end it

    async def watch(self, *_asked: Any, **_options: Any) -> None:
        self._see_that_it_is_open()

    anchor = watch

    async def changes(self, **_options: Any) -> AsyncIterator[ChangeEvent]:
        sys.stdout.write("noise\n" * 100_000)
        sys.stdout.close()
        os.closerange(1, 3)
        self._see_that_it_is_open()
        events: tuple[ChangeEvent, ...] = ()
        for event in events:
            yield event

    def _see_that_it_is_open(self) -> None:
        if not self._is_open:
            raise AdapterClosedError("is not open")


def factory(
    path: Path, *, namespace: str, outcomes: OutcomePolicy, clock: Clock, ids: IdSource
) -> UnrulyAdapter:
    """What makes them."""
    return UnrulyAdapter(namespace, outcomes.name)
