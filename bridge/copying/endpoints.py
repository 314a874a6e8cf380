"""Where a copy comes from or goes to: a file, a directory, a database or a server, opened as an adapter."""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

from amfs_core.exceptions import AMFSError, LockTimeoutError

from amfs_sqlite.errors import AmfsError, InvalidArgumentError, StoreError, quoted
from amfs_sqlite.models import DEFAULT_NAMESPACE

Kind = Literal["file", "directory", "postgres", "http"]
Failures = tuple[type[Exception], ...]
SERVERS = {"http": "http", "https": "http", "postgres": "postgres", "postgresql": "postgres"}
API_KEY = "AMFS_API_KEY"
PACKAGES = {"postgres": "amfs-adapter-postgres", "http": "amfs-adapter-http"}
ALL_THERE_IS = 1_000_000_000
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
    raises. ``most`` is how many records may be asked for at once. One that ``keeps_times`` stores an instant
    as given.
    """

    kind: Kind
    name: str
    namespace: str
    adapter: Any
    refusals: Failures
    failures: Failures
    most: int = ALL_THERE_IS
    keeps_times: bool = True

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
def opened(
    named: str, namespace: str = DEFAULT_NAMESPACE, *, is_source: bool, environment: Mapping[str, str]
) -> Iterator[Endpoint]:
    """The end of a copy that this text names.

    A URL is a server, a DSN that begins with ``postgres`` a database, what is a directory or ends with a
    slash the directory of a file adapter, and anything else a SQLite file. A source has to be there and is
    not changed; a target is made. Raises InvalidArgumentError and StoreError.
    """
    if not named:
        raise InvalidArgumentError("endpoint", "is empty; name a file, a directory, a DSN or a URL")
    kind = SERVERS.get(urlsplit(named).scheme) if "://" in named else None
    with ExitStack() as stack:
        if kind == "http":
            made = _http(named, namespace, environment)
        elif kind == "postgres":
            made = _postgres(named, namespace)
        elif Path(named).is_dir() or named.endswith(("/", os.sep)):
            made = _directory(named, namespace, is_source=is_source)
        else:
            made = _file(named, namespace, is_source=is_source)
        for closing in (getattr(made.adapter, "close", None), _client_of(made.adapter)):
            if closing is not None:
                stack.callback(closing)
        yield made


def _file(path: str, namespace: str, *, is_source: bool) -> Endpoint:
    from amfs_sqlite.sync import SyncSqliteAdapter  # noqa: PLC0415 - what it needs is an extra

    if is_source and not Path(path).is_file():
        raise EndpointError(path, "does not exist", "name a file, a directory, a DSN or a URL that does")
    failures: Failures = (AMFSError,)
    try:
        adapter = SyncSqliteAdapter(path, namespace=namespace, mode="ro" if is_source else "rw")
    except AMFSError as failed:
        raise failed.__cause__ or failed from None
    return Endpoint("file", path, namespace, adapter, failures, failures)


def _directory(path: str, namespace: str, *, is_source: bool) -> Endpoint:
    from amfs_filesystem.adapter import FilesystemAdapter  # noqa: PLC0415 - as above

    root = Path(path)
    if {"", ".", ".."} & {namespace} or "/" in namespace:
        raise InvalidArgumentError("namespace", f"is {quoted(namespace)}; a directory needs a plain name")
    if is_source and not (root / namespace).is_dir():
        raise EndpointError(path, f"holds no namespace {quoted(namespace)}", "name another with --namespace")
    failures: Failures = (AMFSError, OSError, ValueError, TypeError)
    try:
        adapter = FilesystemAdapter(root, namespace)
    except OSError as failed:
        raise EndpointError(path, failed.strerror or str(failed)) from failed
    return Endpoint("directory", path, namespace, adapter, failures, failures)


def _postgres(dsn: str, namespace: str) -> Endpoint:
    try:
        import psycopg  # noqa: PLC0415 - installed by who needs it
        from amfs_postgres import PostgresAdapter  # noqa: PLC0415
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
        adapter = PostgresAdapter(dsn, namespace=namespace)
    except failures as failed:
        raise EndpointError(name, first_line(failed)) from failed
    return Endpoint("postgres", name, namespace, adapter, refusals, failures)


def _http(url: str, namespace: str, environment: Mapping[str, str]) -> Endpoint:
    try:
        import httpx  # noqa: PLC0415 - installed by who needs it
        from amfs_adapter_http import HttpAdapter  # noqa: PLC0415
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
    )


def is_refusal(endpoint: Endpoint, failed: Exception) -> bool:
    """Whether this is about the one record, and not about the place that it was to go to."""
    if isinstance(failed, LockTimeoutError) or isinstance(failed.__cause__, StoreError):
        return False
    status = getattr(getattr(failed, "response", None), "status_code", None)
    # A server's own fault with one record is told; that it lets nobody in, or is not there, ends it all.
    return status not in (401, 403, 404, 429, 502, 503, 504) and isinstance(failed, endpoint.refusals)


def _client_of(adapter: Any) -> Any:
    client = getattr(adapter, "_client", None)
    return getattr(client, "close", None)


def _missing(kind: str, named: str) -> EndpointError:
    package = PACKAGES[kind]
    return EndpointError(_without_secrets(named), f"needs {package}", f"pip install {package}")


def _without_secrets(url: str) -> str:
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def first_line(failed: Exception) -> str:
    """What was said, or the name of what went wrong without a word."""
    return str(failed).strip().partition("\n")[0] or type(failed).__name__
