"""Nothing grows past what a reader can hold."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from parity_tests.architecture import sources

MODULE_LINES = 500
FUNCTION_LINES = 60
PUBLIC_METHODS = 12
# An adapter is one flat surface, as wide as its protocol, and AgentMemory is as wide as AMFS's of that name,
# so that agents move over as they are: they may be wide while they are flat.
FLAT = re.compile(r"\w*Adapter|AgentMemory")

# What is larger all the same, each with its reason. This list may only become shorter: what
# is in it and fits the limits again fails the test below too.
EXCEPTIONS: dict[str, str] = {}


def oversized(root: Path) -> dict[str, str]:
    """All that is too large, and how."""
    found: dict[str, str] = {}
    for module in sources.modules(root):
        lines = len(module.text.splitlines())
        if lines > MODULE_LINES:
            found[module.path] = f"has {lines} lines"
        for node in ast.walk(module.tree):
            place = f"{module.path}::{getattr(node, 'name', '')}"
            if isinstance(node, sources.Function) and _lines(node) > FUNCTION_LINES:
                found[place] = f"has a body of {_lines(node)} lines"
            elif isinstance(node, ast.ClassDef):
                found.update((f"{place}{member}", why) for member, why in _surface(node))
    return found


def _surface(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    methods = [each for each in node.body if isinstance(each, sources.Function)]
    public = {each.name: each for each in methods if not each.name.startswith("_")}
    if len(public) <= PUBLIC_METHODS:
        return
    if not FLAT.fullmatch(node.name):
        yield "", f"has {len(public)} public methods"
        return
    for name, method in public.items():
        if len(_body(method)) > 1:
            yield f".{name}", "is more than one statement, on a flat surface"


def _lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = _body(function)
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def _body(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    """The statements of a function, without its docstring."""
    return function.body[1:] if ast.get_docstring(function) is not None else function.body


def test_all_is_within_its_limits() -> None:
    found = oversized(sources.ROOT)
    assert {place: why for place, why in found.items() if place not in EXCEPTIONS} == {}


def test_no_exception_outlives_its_need() -> None:
    assert EXCEPTIONS.keys() - oversized(sources.ROOT).keys() == set()


def _class(name: str, methods: int, body: str = "pass") -> str:
    return f"class {name}:\n" + f"    def method_{{}}(self):\n        {body}\n" * methods


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("pass\n" * 501, "amfs_sqlite/it.py"),
        ("def grown():\n" + "    pass\n" * 61, "amfs_sqlite/it.py::grown"),
        ("async def grown():\n    '''It.'''\n" + "    pass\n" * 61, "amfs_sqlite/it.py::grown"),
        (_class("Wide", 13), "amfs_sqlite/it.py::Wide"),
        (_class("DeepAdapter", 13, "pass; pass"), "amfs_sqlite/it.py::DeepAdapter.method_0"),
        (_class("AgentMemory", 13, "pass; pass"), "amfs_sqlite/it.py::AgentMemory.method_0"),
    ],
)
def test_what_is_too_large_is_found(tmp_path: Path, source: str, place: str) -> None:
    numbered = source.format(*range(13))
    assert place in oversized(sources.write(tmp_path, {"amfs_sqlite/it.py": numbered}))


@pytest.mark.parametrize(
    "source",
    [
        "pass\n" * 500,
        "def long():\n    '''It.\n" + "\n" * 60 + "    '''\n" + "    pass\n" * 60,
        _class("Wide", 12),
        _class("FlatAdapter", 13),
        _class("AgentMemory", 13),
    ],
)
def test_what_fits_is_left_alone(tmp_path: Path, source: str) -> None:
    numbered = source.format(*range(13))
    assert oversized(sources.write(tmp_path, {"amfs_sqlite/it.py": numbered})) == {}
