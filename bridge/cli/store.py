"""The store that a command is about, opened as its owner, for the time of one question."""

import asyncio
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeVar

from amfs_sqlite.errors import InvalidArgumentError, StoreError
from amfs_sqlite.rules.confidence import HANDOFF
from amfs_sqlite.sqlite import BackupReport, SqliteAdapter, StoreDescription
from bridge.cli.output import presentable
from bridge.rendering import one_line
from bridge.session import Session
from bridge.settings import IN_MEMORY, Settings, from_sources

T = TypeVar("T")
OWNER = "owner"
"""Signs what the command changes, unless it is given another name."""
WhereMissing = Literal["refuse", "make", "imagine"]


class NoStoreError(StoreError):
    """There is no store in this place. None was made."""

    code = "no_store"
    advice = "name another with --db or MEMORY_DB; an agent's first write makes a new one"


@dataclass(frozen=True, slots=True)
class Store:
    """An open store: the owner's session on it, and what is known about the file."""

    session: Session
    describe: Callable[[], Awaitable[StoreDescription]]
    backup: Callable[[str], Awaitable[BackupReport]]


def ask(
    given: Mapping[str, str],
    question: Callable[[Store], Awaitable[T]],
    *,
    where_missing: WhereMissing = "refuse",
) -> T:
    """Open the store that the settings name, ask, close it.

    ``given`` are settings from arguments, by name. Raises NoStoreError where there is none: looking
    must not make one. ``make`` makes it; ``imagine`` asks an empty one in its place.
    """
    settings = place(given)
    try:
        _find(settings.db)
    except NoStoreError:
        if where_missing == "refuse":
            raise
        if where_missing == "imagine":
            settings = replace(settings, db=IN_MEMORY, mode="rw")
    with warnings_told():
        return asyncio.run(_answered(settings, question))


def place(given: Mapping[str, str]) -> Settings:
    """The settings, which name a file: it may be there or not."""
    signed = {} if "AGENT_ID" in os.environ else {"agent": OWNER}
    settings = from_sources(signed | dict(given), os.environ)
    if settings.db == IN_MEMORY:
        raise InvalidArgumentError("db", "is in memory and would be empty here; name a file")
    return settings


def _find(path: str) -> None:
    """What else may be wrong with a file, its adapter tells."""
    try:
        is_empty = Path(path).stat().st_size == 0
    except (FileNotFoundError, NotADirectoryError):
        raise NoStoreError(path, "does not exist") from None
    except OSError:
        return
    if is_empty and not Path(f"{path}-wal").exists():
        raise NoStoreError(path, "is empty, no store yet")


async def _answered(settings: Settings, question: Callable[[Store], Awaitable[T]]) -> T:
    adapter = SqliteAdapter(
        settings.db,
        namespace=settings.namespace,
        outcomes=HANDOFF,
        durability=settings.durability,
        mode=settings.mode,
        busy_timeout_s=settings.busy_timeout_s,
    )
    async with adapter:
        session = Session(
            adapter,
            settings.agent,
            settings.session,
            owner=True,
            redact_secrets=settings.redact_secrets,
        )
        return await question(Store(session, adapter.describe, adapter.backup))


def complain(code: str, message: str) -> None:
    """One line on standard error: a code, and what happened."""
    stream = sys.stderr
    # Where nobody listens there is nobody to tell; the exit code still says it.
    with suppress(BrokenPipeError):
        if stream is not None:
            encoding = getattr(stream, "encoding", None) or "utf-8"
            stream.write(f"{code}: {presentable(one_line(message), encoding)}\n")
            stream.flush()


class _Teller(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        complain("warning", record.getMessage())


@contextmanager
def warnings_told() -> Iterator[None]:
    """What the store and the bridge warn of in their logs, as lines on standard error."""
    teller = _Teller(logging.WARNING)
    loggers = [logging.getLogger(name) for name in ("amfs_sqlite", "bridge")]
    for each in loggers:
        each.addHandler(teller)
    try:
        yield
    finally:
        for each in loggers:
            each.removeHandler(teller)
