"""The behaviours ledger: what is promised, where the promise comes from, and which tests prove it.

A behaviour is one line of `parity_tests/behaviours/<area>.toml`, and its id is `<area>.<name>`:

    prefix-rule = { says = "A path covers itself and ...", source = ["Entries.list", "B71"] }

`source` says where the promise stands: an operation of the protocol (`Entries.list`), anything else
of ours by its full name (`bridge.operations.packets.take`), a field report (`B71`), a feature (`1.3`).
Where AMFS 0.3 behaves otherwise, `deviates` says how, and why we do not follow.

A test says what it proves, and that is all there is to do: `@proves("entries.prefix-rule")`. What is
claimed is read from the tests' own text, so that neither list can drift from the other:
`test_ledger.py` fails for a behaviour without a test, for a test that claims what is not in the
ledger, and for a contract test that claims nothing.
"""

import ast
import pkgutil
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent
BEHAVIOURS = "behaviours"
# The folders in which every test must claim something.
CONTRACT = ("contract",)
PROTOCOL = "amfs_sqlite.protocol"
_ELSEWHERE = re.compile(r"B\d{2,3}|\d{1,2}\.\d{1,2}")


@dataclass(frozen=True)
class Behaviour:
    """One line of the ledger."""

    id: str
    says: str
    source: tuple[str, ...]
    deviates: str = ""


def proves(*ids: str) -> pytest.MarkDecorator:
    """Mark a test, or one of its parameters, with the behaviours it proves."""
    return pytest.mark.behaviour(*ids)


def behaviours(root: Path = ROOT) -> dict[str, Behaviour]:
    """All lines of the ledger, by id."""
    found = {}
    for path in sorted((root / BEHAVIOURS).glob("*.toml")):
        for name, line in tomllib.loads(path.read_text(encoding="utf-8")).items():
            found[f"{path.stem}.{name}"] = _behaviour(f"{path.stem}.{name}", line)
    return found


def claims(root: Path = ROOT) -> dict[str, set[str]]:
    """All tests, as `contract/test_entries.py::test_name`, and the ids each claims to prove."""
    found = {}
    for path in sorted(root.rglob("test_*.py")):
        place = path.relative_to(root).as_posix()
        for test in _tests(ast.parse(path.read_text(encoding="utf-8"), str(path))):
            found[f"{place}::{test.name}"] = set(_claimed(test))
    return found


def unknown_claims(root: Path = ROOT) -> list[str]:
    """Ids that tests claim and the ledger does not have."""
    known = behaviours(root)
    return [f"{test}: {each}" for test, ids in claims(root).items() for each in ids - known.keys()]


def unproved(root: Path = ROOT) -> list[str]:
    """Behaviours that no test claims."""
    claimed = set().union(*claims(root).values())
    return [each for each in behaviours(root) if each not in claimed]


def silent_tests(root: Path = ROOT) -> list[str]:
    """Contract tests that claim nothing."""
    return [test for test, ids in claims(root).items() if test.split("/")[0] in CONTRACT and not ids]


def unfounded(root: Path = ROOT) -> list[str]:
    """Behaviours with a source that does not exist, or without any."""
    return [
        each.id
        for each in behaviours(root).values()
        if not each.source or not all(_exists(source) for source in each.source)
    ]


def _behaviour(identifier: str, line: dict[str, Any]) -> Behaviour:
    return Behaviour(identifier, **line | {"source": tuple(line["source"])})


def _tests(module: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name[:5] == "test_":
            yield node


def _claimed(test: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    for decorator in test.decorator_list:
        for node in ast.walk(decorator):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == proves.__name__:
                yield from (str(each.value) for each in node.args if isinstance(each, ast.Constant))


def _exists(source: str) -> bool:
    if _ELSEWHERE.fullmatch(source):
        return True
    ours = source if source.startswith(("amfs_sqlite.", "bridge.")) else f"{PROTOCOL}.{source}"
    try:
        pkgutil.resolve_name(ours)
    except (ImportError, AttributeError):
        return False
    return True
