"""Where a copy comes from or goes to: a file, a directory, a database or a server, opened as an adapter."""

import logging
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from urllib.parse import urlsplit

from amfs_core.exceptions import AMFSError, LockTimeoutError
from amfs_core.models import MemoryEntry

from amfs_sqlite.errors import AmfsError, InvalidArgumentError, StoreError, quoted
from amfs_sqlite.models import DEFAULT_NAMESPACE

Kind = Literal["file", "directory", "postgres", "http"]
Use = Literal["source", "target", "trial"]
Failures = tuple[type[Exception], ...]
SERVERS = {"http": "http", "https": "http", "postgres": "postgres", "postgresql": "postgres"}
API_KEY = "AMFS_API_KEY"
IN_MEMORY = ":memory:"
PACKAGES = {"postgres": "amfs-adapter-postgres", "http": "amfs-adapter-http"}
UNREACHABLE = (401, 403, 429, 502, 503, 504)
UNKNOWN_TO_SERVER = (404, 405, 501)
ALL_THERE_IS = 1_000_000_000
CONNECT_TIMEOUT_S = 10
NAME_ANOTHER = "name a file, a directory, a DSN or a URL that does"
MOST_BY_HTTP = 500
"""The AMFS server answers at most so many commits."""


class EndpointError(StoreError):
    """One end of a copy cannot be used. What was copied before stays."""

    code = "endpoint"
    advice = "run the copy again once that is mended: it goes on where it stopped"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One end of a copy. ``name`` is for people: it holds no password.

    ``refusals`` are what its adapter raises where it cannot hold one record, ``failures`` all that it
    raises, and ``lacks`` where it has no room for a kind of record at all. ``most`` is how many records may
    be asked for at once. One that ``keeps_times`` stores an instant as given; one that ``lists_all`` shows
    every path without being asked for it; one that ``shows_private`` shows entries that are not shared.
    """

    kind: Kind
    name: str
    namespace: str
    adapter: Any
    refusals: Failures
    failures: Failures
    lacks: Failures = (NotImplementedError,)
    most: int = ALL_THERE_IS
    keeps_times: bool = True
    lists_all: bool = True
    shows_private: bool = True

    @property
    def batches(self) -> bool:
        """Whether a batch is stored whole, as one commit, or not at all."""
        return self.kind == "file"

    def unusable_name(self, *parts: str) -> str | None:
        """Why a record of this address or id cannot be stored here without reaching other files."""
        if self.kind == "directory":
            for name in parts:
                if not name or {"", ".", ".."} & set(name.split("/")) or "\\" in name or "\0" in name:
                    return f"{quoted(name)} is no path within a directory"
        return None

    def unusable_entry(self, entry: MemoryEntry) -> str | None:
        """Why an entry cannot be stored here so that it is found again."""
        if not entry.shared and not self.shows_private:
            return "it is private, and would not be shown again"
        return self.unusable_name(entry.entity_path, entry.key)

    def place(self, entity_path: str, key: str) -> tuple[str, ...]:
        """What stands for an address here: in a directory, two addresses may be one."""
        return PurePosixPath(entity_path, key).parts if self.kind == "directory" else (entity_path, key)

    @contextmanager
    def told(self) -> Iterator[None]:
        """Raise EndpointError for what the adapter raises."""
        try:
            yield
        except self.failures as failed:
            if isinstance(failed.__cause__, AmfsError):
                raise failed.__cause__ from failed
            raise EndpointError(self.name, first_line(failed)) from failed


@contextmanager
def unreadable() -> Iterator[list[str]]:
    """What the file adapter passes over with a warning meanwhile."""
    found: list[str] = []
    collecting = _Collecting(found)
    logger = logging.getLogger("amfs_filesystem.adapter")
    logger.addHandler(collecting)
    try:
        yield found
    finally:
        logger.removeHandler(collecting)


class _Collecting(logging.Handler):
    def __init__(self, found: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._found = found

    def emit(self, record: logging.LogRecord) -> None:
        self._found.append(record.getMessage())


@contextmanager
def opened(
    named: str, namespace: str = DEFAULT_NAMESPACE, *, use: Use, environment: Mapping[str, str]
) -> Iterator[Endpoint]:
    """The end of a copy that this text names.

    A URL is a server, a DSN that begins with ``postgres`` a database, what is a directory or ends with a
    slash the directory of a file adapter, and anything else a SQLite file. A source has to be there and is
    not changed; a ``target`` is made, and a ``trial`` of one is empty in its place. Raises
    InvalidArgumentError and StoreError.
    """
    if not named:
        raise InvalidArgumentError("endpoint", "is empty; name a file, a directory, a DSN or a URL")
    kind = SERVERS.get(urlsplit(named).scheme) if "://" in named else None
    with ExitStack() as stack:
        if kind == "http":
            made = _http(named, namespace, environment)
        elif kind == "postgres":
            stack.enter_context(_told_without_tenants())
            made = _postgres(named, namespace, use)
        elif Path(named).is_dir() or named.endswith(("/", os.sep)):
            root = Path(named)
            if use == "trial" and not (root / namespace).is_dir():
                root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            made = _directory(named, root, namespace, use)
        else:
            made = _file(named, namespace, use)
        for closing in (getattr(made.adapter, "close", None), _client_of(made.adapter)):
            if closing is not None:
                stack.callback(closing)
        yield made


def check_apart(source: str, target: str) -> None:
    """Raise InvalidArgumentError where both ends of a copy are one place, however they are spelled."""
    names = [named if "://" in named else os.path.realpath(named) for named in (source, target)]
    if names[0] == names[1]:
        raise InvalidArgumentError("target", f"is {quoted(target)}, which is the source; name another place")


def _file(path: str, namespace: str, use: Use) -> Endpoint:
    from amfs_sqlite.sync import SyncSqliteAdapter  # noqa: PLC0415 - what it needs is an extra

    is_there = Path(path).exists()
    if use == "source" and not is_there:
        raise EndpointError(path, "does not exist", NAME_ANOTHER)
    failures: Failures = (AMFSError,)
    try:
        if use == "trial" and not is_there:
            adapter = SyncSqliteAdapter(IN_MEMORY, namespace=namespace)
        else:
            adapter = SyncSqliteAdapter(path, namespace=namespace, mode="rw" if use == "target" else "ro")
    except AMFSError as failed:
        raise failed.__cause__ or failed from None
    return Endpoint("file", path, namespace, adapter, failures, failures)


def _directory(path: str, root: Path, namespace: str, use: Use) -> Endpoint:
    from amfs_filesystem.adapter import FilesystemAdapter  # noqa: PLC0415 - as above

    if {"", ".", ".."} & {namespace} or "/" in namespace:
        raise InvalidArgumentError("namespace", f"is {quoted(namespace)}; a directory needs a plain name")
    if use == "source" and not root.is_dir():
        raise EndpointError(path, "does not exist", NAME_ANOTHER)
    if use == "source" and not (root / namespace).is_dir():
        raise EndpointError(path, f"holds no namespace {quoted(namespace)}", "name another with --namespace")
    failures: Failures = (AMFSError, OSError, ValueError, TypeError)
    try:
        adapter = FilesystemAdapter(root, namespace)
    except OSError as failed:
        raise EndpointError(path, failed.strerror or str(failed)) from failed
    return Endpoint("directory", path, namespace, adapter, failures, failures)


def _postgres(dsn: str, namespace: str, use: Use) -> Endpoint:
    try:
        import psycopg  # noqa: PLC0415 - installed by who needs it
        from amfs_postgres import PostgresAdapter  # noqa: PLC0415 - as above
    except ModuleNotFoundError as missing:
        raise _missing("postgres", dsn) from missing
    refusals: Failures = (
        psycopg.DataError,
        psycopg.IntegrityError,
        psycopg.NotSupportedError,
        ValueError,
        AMFSError,
    )
    failures: Failures = (*refusals, psycopg.Error)
    name = _without_secrets(dsn)
    try:
        # The adapter's pool would go on trying for long where there is none, and tell of every try.
        psycopg.connect(dsn, connect_timeout=CONNECT_TIMEOUT_S).close()
        adapter = PostgresAdapter(dsn, namespace=namespace, auto_schema=use == "target")
    except failures as failed:
        raise EndpointError(name, first_line(failed)) from failed
    lacks: Failures = (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn, NotImplementedError)
    made = Endpoint(
        "postgres", name, namespace, adapter, refusals, (*failures, *lacks), lacks, lists_all=False
    )
    if use != "target":
        _check_has_tables(made)
    return made


def _check_has_tables(end: Endpoint) -> None:
    """Raise EndpointError for a database that the SDK never used: only a copy into it makes its tables."""
    try:
        end.adapter.list("")
    except end.lacks as failed:
        end.adapter.close()
        advice = "name another database; to copy into this one, leave --dry-run out, and they are made"
        raise EndpointError(end.name, "has no tables of AMFS", advice) from failed


@contextmanager
def _told_without_tenants() -> Iterator[None]:
    """Keep back a warning of the adapter for databases that accounts share, which a program never has."""

    def is_of_use(record: logging.LogRecord) -> bool:
        return "no tenant account_id" not in record.getMessage()

    logger = logging.getLogger("amfs_postgres.adapter")
    logger.addFilter(is_of_use)
    try:
        yield
    finally:
        logger.removeFilter(is_of_use)


def _http(url: str, namespace: str, environment: Mapping[str, str]) -> Endpoint:
    try:
        import httpx  # noqa: PLC0415 - installed by who needs it
        from amfs_adapter_http import HttpAdapter  # noqa: PLC0415 - as above
    except ModuleNotFoundError as missing:
        raise _missing("http", url) from missing
    adapter = HttpAdapter(url, environment.get(API_KEY, ""))
    refusals: Failures = (httpx.HTTPStatusError, ValueError)
    failures: Failures = (*refusals, httpx.HTTPError, httpx.InvalidURL)
    return Endpoint(
        "http",
        _without_secrets(url),
        namespace,
        adapter,
        refusals,
        failures,
        most=MOST_BY_HTTP,
        keeps_times=False,
        lists_all=False,
        shows_private=False,
    )


def is_refusal(endpoint: Endpoint, failed: Exception) -> bool:
    """Whether this is about the one record, and not about the place that it was to go to."""
    if isinstance(failed, LockTimeoutError) or isinstance(failed.__cause__, StoreError):
        return False
    # A server's own fault with one record is told; that it lets nobody in, or is not there, ends it all.
    return _status(failed) not in UNREACHABLE and isinstance(failed, (*endpoint.refusals, *endpoint.lacks))


def is_lacking(endpoint: Endpoint, failed: Exception) -> bool:
    """Whether this says that there is no such kind of record in this place."""
    return isinstance(failed, endpoint.lacks) or _status(failed) in UNKNOWN_TO_SERVER


def _status(failed: Exception) -> int | None:
    return getattr(getattr(failed, "response", None), "status_code", None)


def _client_of(adapter: Any) -> Any:
    client = getattr(adapter, "_client", None)
    return getattr(client, "close", None)


def _missing(kind: str, named: str) -> EndpointError:
    package = PACKAGES[kind]
    return EndpointError(_without_secrets(named), f"needs {package}", f"pip install {package}")


def _without_secrets(url: str) -> str:
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def first_line(failed: Exception) -> str:
    """What was said, or the name of what went wrong without a word."""
    return str(failed).strip().partition("\n")[0] or type(failed).__name__
