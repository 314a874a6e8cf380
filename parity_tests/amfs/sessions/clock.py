"""One clock for the SDK, its file adapter and ours."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from unittest.mock import patch

from amfs_sqlite.clock import FixedClock

BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
PACKAGES = ("amfs", "amfs_core", "amfs_filesystem")


def after(seconds: float) -> datetime:
    """The instant so many seconds after the beginning."""
    return BEGINNING + timedelta(seconds=seconds)


@contextmanager
def standing(clock: FixedClock) -> Iterator[None]:
    """Let every module of the SDK that asks what time it is ask this clock."""

    class Anything(type):
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, datetime)

    class Standing(datetime, metaclass=Anything):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]  # stands still
            return clock.now().astimezone(tz)

    asking = [
        module
        for name, module in list(sys.modules.items())
        if name.split(".")[0] in PACKAGES and vars(module).get("datetime") is datetime
    ]
    patches = [patch.object(module, "datetime", Standing) for module in asking]
    for each in patches:
        each.start()
    try:
        yield
    finally:
        for each in patches:
            each.stop()
