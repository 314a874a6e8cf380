"""Errors are not swallowed, libraries do not print, and names say what a thing is."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from parity_tests.architecture import sources

# Those who talk to a person on a terminal.
MAY_PRINT = ("bridge/cli", "demo", "parity_tests")
# Names that say where something was put, and not what it is.
EMPTY_NAMES = {"base", "common", "helper", "helpers", "manager", "managers", "util", "utils"}


def swallowed_errors(root: Path) -> list[str]:
    """All handlers that catch everything, and those that catch any exception and forget it."""
    return [
        module.at(node)
        for module in sources.modules(root)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ExceptHandler) and _swallows(node)
    ]


def prints(root: Path) -> list[str]:
    """All calls of print() where nobody is there to read."""
    return [
        module.at(node)
        for module in sources.modules(root)
        if not module.within(*MAY_PRINT)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]


def empty_names(root: Path) -> list[str]:
    """All modules and folders with names that say nothing, or that hide what they hold."""
    return sorted(
        part.relative_to(root).as_posix()
        for part in set(_files_and_folders(root))
        if part.stem.strip("_") in EMPTY_NAMES or (part.suffix == "" and part.name == "memory")
    )


def missing_packages(root: Path) -> list[str]:
    """All folders with modules that are no packages: what they hold would not be imported."""
    folders = {path.parent for name in sources.PACKAGES for path in (root / name).rglob("*.py")}
    return sorted(
        folder.relative_to(root).as_posix() for folder in folders if not (folder / "__init__.py").is_file()
    )


def _swallows(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {each.id for each in caught if isinstance(each, ast.Name)}
    forgets = all(
        isinstance(each, ast.Pass | ast.Continue)
        or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        for each in handler.body
    )
    return forgets and bool(names & {"Exception", "BaseException"})


def _files_and_folders(root: Path) -> Iterator[Path]:
    for name in sources.PACKAGES:
        for path in sources.python_files(root / name):
            yield path
            yield from (each for each in path.parents if root in each.parents)


def test_no_error_is_swallowed() -> None:
    assert swallowed_errors(sources.ROOT) == []


def test_no_library_prints() -> None:
    assert prints(sources.ROOT) == []


def test_names_say_what_a_thing_is() -> None:
    assert empty_names(sources.ROOT) == []


def test_every_folder_of_modules_is_a_package() -> None:
    assert missing_packages(sources.ROOT) == []


@pytest.mark.parametrize(
    "handler",
    [
        "except: raise",
        "except Exception: pass",
        "except (OSError, BaseException): ...",
    ],
)
def test_a_swallowed_error_is_found(tmp_path: Path, handler: str) -> None:
    source = f"try:\n    work()\n{handler}\n"
    assert len(swallowed_errors(sources.write(tmp_path, {"bridge/it.py": source}))) == 1


@pytest.mark.parametrize("handler", ["except OSError: pass", "except Exception: raise Own from e"])
def test_a_handled_error_is_left_alone(tmp_path: Path, handler: str) -> None:
    source = f"try:\n    work()\n{handler}\n"
    assert swallowed_errors(sources.write(tmp_path, {"bridge/it.py": source})) == []


def test_a_print_in_a_library_is_found(tmp_path: Path) -> None:
    files = {"bridge/mcp_server/it.py": "print(1)", "bridge/cli/it.py": "print(1)"}
    assert prints(sources.write(tmp_path, files)) == ["bridge/mcp_server/it.py:1"]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("bridge/utils.py", "bridge/utils.py"),
        ("amfs_sqlite/_common.py", "amfs_sqlite/_common.py"),
        ("parity_tests/helpers/it.py", "parity_tests/helpers"),
        ("amfs_sqlite/memory/it.py", "amfs_sqlite/memory"),
    ],
)
def test_an_empty_name_is_found(tmp_path: Path, path: str, found: str) -> None:
    assert empty_names(sources.write(tmp_path, {path: ""})) == [found]


def test_a_folder_that_is_no_package_is_found(tmp_path: Path) -> None:
    files = {"parity_tests/__init__.py": "", "parity_tests/entries/test_it.py": ""}
    assert missing_packages(sources.write(tmp_path, files)) == ["parity_tests/entries"]
