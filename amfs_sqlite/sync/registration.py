"""The adapter in the SDK's own registry, so that an ``amfs.yaml`` can choose it by name."""

from typing import Any

from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.models import DEFAULT_NAMESPACE
from amfs_sqlite.sync.adapter import SyncSqliteAdapter
from amfs_sqlite.sync.errors import as_sdk_errors

ADAPTER_NAME = "sqlite"
OPTIONS = ("path", "durability", "mode", "busy_timeout_s")


class ConfiguredSqliteAdapter(SyncSqliteAdapter):
    """The adapter as a configuration makes it: ``path`` and the other options by name.

    A relative path counts from the working directory, as that of the SDK's file adapter does, and folders
    that are missing are made. Raises InvalidArgument, which is the SDK's AdapterError and a ValueError, where
    ``path`` is missing or an option is unknown.
    """

    def __init__(self, *, namespace: str = DEFAULT_NAMESPACE, **options: Any) -> None:
        with as_sdk_errors():
            _check(options)
        super().__init__(options.pop("path"), namespace=namespace, **options)


def register() -> None:
    """Make ``adapter: sqlite`` known to the SDK in this process. Registering twice is registering once.

    Raises ModuleNotFoundError where the package ``amfs`` is not installed.
    """
    try:
        from amfs import factory  # noqa: PLC0415 - the adapter does without it
    except ModuleNotFoundError as missing:
        if missing.name != "amfs":
            raise
        raise ModuleNotFoundError(
            "there is no registry to enter: pip install 'amfs-sqlite[amfs]'", name=missing.name
        ) from missing
    factory.register_adapter(ADAPTER_NAME, ConfiguredSqliteAdapter)


def _check(options: dict[str, Any]) -> None:
    unknown = [name for name in options if name not in OPTIONS]
    if unknown:
        raise InvalidArgumentError(
            "options", f"holds {quoted(unknown[0])}, which is none; there are {', '.join(OPTIONS)}"
        )
    if options.get("path") is None:
        raise InvalidArgumentError("options", "names no path; say in which file, as in 'path: memory.db'")
