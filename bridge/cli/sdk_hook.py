"""Registers the adapter of amfs-sqlite as soon as the AMFS Python SDK is imported, in any program.

`amfs-sqlite install-hook` puts a copy of this module beside the SDK, where a .pth file loads it whenever
Python starts. So it imports nothing by itself, and where amfs-sqlite is no longer installed it does nothing.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType

REGISTRY = "amfs.factory"


class RegistrationFinder:
    """Finds the SDK's registry as the other finders do, and has the adapter entered once it is loaded."""

    @classmethod
    def find_spec(cls, name: str, path: object = None, target: object = None) -> "ModuleSpec | None":
        """What the next finder has, of this one module; of every other one None."""
        if name != REGISTRY:
            return None
        for finder in sys.meta_path:
            spec = None if finder is cls else finder.find_spec(name, path, target)  # type: ignore[arg-type]  # a finder takes it
            if spec is not None:
                return _registering(spec)
        return None


def _registering(spec: "ModuleSpec") -> "ModuleSpec":
    loader = spec.loader
    if loader is not None:
        load = loader.exec_module

        def exec_module(module: "ModuleType") -> None:
            load(module)
            _register()

        loader.exec_module = exec_module  # type: ignore[method-assign]  # for this one import
    return spec


def _register() -> None:
    try:
        from amfs_sqlite.sync import register
    except ModuleNotFoundError as missing:
        if missing.name != "amfs_sqlite":
            raise
        return
    register()
