"""SQL, the database driver, time and chance each have one home."""

import ast
import re
from pathlib import Path

import pytest

from parity_tests.architecture import sources

DATABASE = "amfs_sqlite/sqlite"
DRIVERS = {"sqlite3", "aiosqlite"}
# Tests that open the file behind the product's back, each with its reason.
BEHIND_ITS_BACK = {
    "parity_tests/amfs": "changes and damages stored rows, to see what the SDK is told of it",
    "parity_tests/concurrency": "holds locks from outside, and looks at what is committed",
    "parity_tests/docs": "does to a file what the explanations tell of, and reads the schema's tables",
    "parity_tests/migrations": "makes files as other programs and other versions make them",
    "parity_tests/security": "sees that no text became a part of the schema",
    "parity_tests/sqlite": "looks at how far the text index has come, and at settings",
    "parity_tests/tampering": "changes stored rows, to see that the change is found",
    "parity_tests/torture": "spoils stores, to see that the harness sees it",
}

# Upper-case keywords at a string's start are SQL; in other cases only a statement's whole
# shape is, since "select" and "with" begin English sentences too.
SQL = re.compile(
    r"\s*(?:"
    r"(?:SELECT|PRAGMA|SAVEPOINT|EXPLAIN|VACUUM|ATTACH|ALTER|DROP|CREATE|WITH)\s"
    r"|(?:BEGIN|COMMIT|ROLLBACK|VACUUM)\b[\sA-Z]*;?\s*$"
    r"|(?i:select\s.+\sfrom\s|insert\s+(?:or\s+\w+\s+)?into\s|replace\s+into\s"
    r"|update\s+\w+\s+set\s|delete\s+from\s+\w|pragma\s+\w+\s*(?:=|\(|;|$)"
    r"|create\s+(?:\w+\s+)?(?:table|index|trigger|view)\s|drop\s+(?:table|index|trigger|view)\s"
    r"|alter\s+table\s|with\s+(?:recursive\s+)?\w+\s*(?:\([^)]*\)\s*)?as\s*\("
    r"|begin\s+(?:immediate|exclusive|deferred|transaction)))",
    re.DOTALL,
)

CLOCK = "amfs_sqlite/clock.py"
# Modules of which all that can be called asks the machine for time or chance, and single names.
TIME_AND_CHANCE = re.compile(
    r"(?:time|uuid|random|secrets)\.\w+"
    r"|datetime\.datetime\.(?:now|utcnow|today)|datetime\.date\.today|os\.urandom"
)
# Files of the shipped packages that may use them all the same, each with its reason.
CLOCK_EXCEPTIONS: dict[str, str] = {}


def stray_sql(root: Path) -> list[str]:
    """All SQL in strings away from its home."""
    return [
        f"{module.at(node)} holds SQL: {text.split()[0]} …"
        for module in sources.modules(root)
        if not module.within(DATABASE, *BEHIND_ITS_BACK)
        for node, text in _strings(module.tree)
        if SQL.match(text)
    ]


def stray_drivers(root: Path) -> list[str]:
    """All imports of the database driver away from its home."""
    return [
        f"{module.path}:{each.line} imports {each.target}"
        for module in sources.modules(root)
        if not module.within(DATABASE, *BEHIND_ITS_BACK)
        for each in module.imports
        if each.target.partition(".")[0] in DRIVERS
    ]


def stray_clocks(root: Path) -> list[str]:
    """All uses of the machine's time or chance away from their home."""
    found = []
    for module in sources.modules(root, sources.SHIPPED):
        if module.within(CLOCK, *CLOCK_EXCEPTIONS):
            continue
        bound = sources.bindings(module.tree)
        for node in ast.walk(module.tree):
            name = sources.dotted(node, bound)
            if TIME_AND_CHANCE.fullmatch(name):
                found.append(f"{module.at(node)} uses {name}")
    return found


def _strings(tree: ast.Module) -> list[tuple[ast.AST, str]]:
    """All strings but docstrings; a value in an f-string counts as a word."""
    said = sources.docstrings(tree)
    found: list[tuple[ast.AST, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "x" for part in node.values]
            found.append((node, "".join(str(part) for part in parts)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in said:
            found.append((node, node.value))
    return found


def test_sql_stays_with_the_database() -> None:
    assert stray_sql(sources.ROOT) == []


def test_only_the_database_imports_its_driver() -> None:
    assert stray_drivers(sources.ROOT) == []


def test_time_and_chance_come_from_the_clock() -> None:
    assert stray_clocks(sources.ROOT) == []


@pytest.mark.parametrize(
    "text",
    [
        '"SELECT 1"',
        '"""\n  select key\n  from entries """',
        'f"UPDATE {table} SET value = ?"',
        '"insert or replace into entries values (?)"',
        '"DELETE FROM entries"',
        '"CREATE TABLE entries (key)"',
        '"PRAGMA journal_mode = WAL"',
        '"pragma user_version"',
        '"BEGIN IMMEDIATE"',
        '"COMMIT"',
        '"with newest(key) as (values (1)) select key from newest"',
    ],
)
@pytest.mark.parametrize("path", ["bridge/operations/it.py", "parity_tests/entries/it.py"])
def test_stray_sql_is_found(tmp_path: Path, path: str, text: str) -> None:
    assert stray_sql(sources.write(tmp_path, {path: f"run({text})"}))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("amfs_sqlite/sqlite/it.py", '"SELECT 1"'),
        ("parity_tests/tampering/it.py", '"DELETE FROM entries"'),
        ("bridge/cli/it.py", '"Select one of these"'),
        ("bridge/cli/it.py", '"with no entries yet"'),
        ("bridge/cli/it.py", '"commit"'),
        ("bridge/cli/it.py", '"Update the entry, and set its value"'),
        ("bridge/http_service/it.py", '"DELETE /entries"'),
    ],
)
def test_other_text_is_left_alone(tmp_path: Path, path: str, text: str) -> None:
    assert stray_sql(sources.write(tmp_path, {path: f"run({text})"})) == []


@pytest.mark.parametrize("path", ["bridge/it.py", "demo/it.py", "parity_tests/entries/it.py"])
@pytest.mark.parametrize("line", ["import sqlite3", "def it():\n    from aiosqlite import connect"])
def test_a_stray_driver_is_found(tmp_path: Path, path: str, line: str) -> None:
    assert len(stray_drivers(sources.write(tmp_path, {path: line}))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "import time\ntime.monotonic()",
        "from time import sleep as wait\nwait(1)",
        "import datetime as dt\ndt.datetime.now(dt.UTC)",
        "from datetime import datetime\nnow = datetime.utcnow",
        "from datetime import date\ndate.today()",
        "import uuid\nuuid.uuid4().hex",
        "from random import choice\nchoice([1])",
        "import secrets\nsecrets.token_hex()",
        "import os\nos.urandom(8)",
        "from os import urandom\nurandom(8)",
    ],
)
def test_a_stray_clock_is_found(tmp_path: Path, source: str) -> None:
    assert len(stray_clocks(sources.write(tmp_path, {"bridge/session/it.py": source}))) == 1
    assert stray_clocks(sources.write(tmp_path / "home", {CLOCK: source})) == []


def test_a_time_that_was_passed_in_is_left_alone(tmp_path: Path) -> None:
    source = "from datetime import UTC, datetime\ndatetime(2026, 1, 1, tzinfo=UTC)\ntime.now()"
    assert stray_clocks(sources.write(tmp_path, {"bridge/session/it.py": source})) == []
