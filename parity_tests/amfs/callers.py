"""What the SDK, its servers and its command ask of an adapter, read from their own text."""

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("amfs", "amfs_core", "amfs_mcp", "amfs_http", "amfs_cli")
ADAPTERS = ("adapter", "_adapter")
"""What the callers call an adapter. The server's ``_async_adapter`` is never another one than Postgres'."""
BY_NAME = "_via_async_or_sync"
"""How the server calls a method by its name, which comes first."""
LOOKED_UP = ("getattr", "hasattr")


@dataclass(frozen=True)
class Call:
    """One call of a method of an adapter: how many positional arguments, and which others by name."""

    method: str
    positional: int
    keywords: tuple[str, ...]
    place: str
    is_whole: bool

    def fault(self, signature: inspect.Signature) -> str | None:
        """Why this call does not fit a method that is bound, or None where it does."""
        bind = signature.bind if self.is_whole else signature.bind_partial
        try:
            bind(*range(self.positional), **dict.fromkeys(self.keywords))
        except TypeError as wrong:
            return f"{self.place}: {self.method}: {wrong}"
        return None


def calls() -> list[Call]:
    """All calls on adapters, in the order of the text: made at once, or given to another function to make."""
    return [_call(method, given, node, f"{place}:{node.lineno}") for place, node, method, given in _made()]


def _made() -> Iterator[tuple[str, ast.Call, str, list[ast.expr]]]:
    for place, node in _nodes():
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Attribute) and _is_adapter(node.func.value):
            yield place, node, node.func.attr, node.args
        elif isinstance(node.func, ast.Name) and node.func.id == BY_NAME:
            method, *given = node.args
            assert isinstance(method, ast.Constant)
            yield place, node, str(method.value), given
        else:
            for number, each in enumerate(node.args):
                given = node.args[number + 1 :]
                # What comes last is called by whoever takes it, with what, its text does not say.
                if (given or node.keywords) and isinstance(each, ast.Attribute) and _is_adapter(each.value):
                    yield place, node, each.attr, given


def _call(method: str, given: list[ast.expr], node: ast.Call, place: str) -> Call:
    keywords = tuple(each.arg for each in node.keywords if each.arg)
    is_whole = len(keywords) == len(node.keywords) and not any(
        isinstance(each, ast.Starred) for each in given
    )
    return Call(method, len(given), keywords, place, is_whole)


def names() -> dict[str, str]:
    """Every name that is taken from an adapter, called or looked up, and one place where it is."""
    found: dict[str, str] = {}
    for place, node in _nodes():
        if isinstance(node, ast.Attribute) and _is_adapter(node.value):
            found.setdefault(node.attr, f"{place}:{node.lineno}")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in LOOKED_UP:
            looked_at, name = node.args[:2]
            if _is_adapter(looked_at) and isinstance(name, ast.Constant):
                found.setdefault(str(name.value), f"{place}:{node.lineno}")
    return found


def _nodes() -> Iterator[tuple[str, ast.AST]]:
    for package in PACKAGES:
        for path in sorted(_folder(package).rglob("*.py")):
            place = f"{package}/{path.relative_to(_folder(package)).as_posix()}"
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), place)):
                yield place, node


def _folder(package: str) -> Path:
    found = find_spec(package)
    assert found is not None
    assert found.submodule_search_locations is not None
    return Path(found.submodule_search_locations[0])


def _is_adapter(node: ast.AST) -> bool:
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name in ADAPTERS
