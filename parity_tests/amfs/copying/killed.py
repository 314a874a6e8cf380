"""A copy that is killed as it stores a record: METHOD, how many of its calls to let pass, SOURCE, TARGET."""

import os
import signal
import sys
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from typing import Any

from bridge.cli.main import main

ADAPTERS = {
    "amfs_sqlite.sync": "SyncSqliteAdapter",
    "amfs_filesystem": "FilesystemAdapter",
    "amfs_postgres": "PostgresAdapter",
    "amfs_adapter_http": "HttpAdapter",
}


def kill_at(kind: type, method: str, let_pass: int) -> None:
    """Have a method end the process at one of its calls, without a word."""
    calls, original = count(), getattr(kind, method)

    def killing(*given: Any, **named: Any) -> Any:
        if next(calls) == let_pass:
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
        return original(*given, **named)

    setattr(kind, method, killing)


if __name__ == "__main__":
    method, let_pass, source, target = sys.argv[1:]
    for package in filter(find_spec, ADAPTERS):
        adapter = getattr(import_module(package), ADAPTERS[package])
        if hasattr(adapter, method):
            kill_at(adapter, method, int(let_pass))
    sys.exit(main(["copy", source, "--to", target, "--json"]))
