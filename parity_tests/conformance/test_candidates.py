"""What is no adapter, and how that is told: in one line, whatever its module or factory does."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parity_tests.conformance.candidates import Candidate, CandidateError, found
from parity_tests.ledger import proves

MODULES = {
    "exits": ("import sys; sys.exit(0)", "SystemExit: 0"),
    "is_interrupted": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "fails": ("raise RuntimeError('boom\\nat import')", "RuntimeError: boom at import"),
    "is_no_python": ("def factory(:", "SyntaxError: invalid syntax"),
}


@proves("conformance.exit-codes")
@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("json", "names no factory; write it like package.module:factory"),
        (":factory", "names no factory"),
        ("no_such_module:factory", "cannot be imported: ModuleNotFoundError"),
        ("json:no_such_name", "there is no 'no_such_name' in json"),
        ("json:__name__", "is a str, which cannot be called"),
    ],
)
def test_what_is_no_factory_is_told_in_one_line(place: str, problem: str) -> None:
    with pytest.raises(CandidateError) as told:
        found(place)
    assert problem in str(told.value)
    assert len(str(told.value).splitlines()) == 1


@proves("conformance.exit-codes")
@pytest.mark.parametrize("name", MODULES)
def test_what_a_module_does_when_it_is_imported_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    text, problem = MODULES[name]
    (tmp_path / f"module_that_{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(CandidateError) as told:
        found(f"module_that_{name}:factory")
    assert f"cannot be imported: {problem}" in str(told.value)
    assert len(str(told.value).splitlines()) == 1


def raises(path: Path, **options: Any) -> Any:
    raise ValueError("no\nway")


def is_wrong_within(path: Path, **options: Any) -> Any:
    return len(1)  # type: ignore[arg-type]  # wrong on purpose


def exits(path: Path, **options: Any) -> Any:
    raise SystemExit(0)


def takes_too_little(path: Path) -> Any:
    return path


async def is_awaited(path: Path, **options: Any) -> Any:
    return path


def makes_a_list(path: Path, **options: Any) -> Any:
    return []


@proves("conformance.exit-codes")
@pytest.mark.parametrize(
    ("factory", "problem"),
    [
        (raises, "makes no adapter, and raises ValueError: no way"),
        (is_wrong_within, "makes no adapter, and raises TypeError: object of type 'int' has no len()"),
        (exits, "makes no adapter, and raises SystemExit: 0"),
        (takes_too_little, "does not take (path, *, namespace, outcomes, clock, ids)"),
        (dict.fromkeys, "does not take (path, *, namespace, outcomes, clock, ids)"),
        (is_awaited, "makes a coroutine; it must be a plain function"),
        (makes_a_list, "makes a list without namespace, policy_name, open"),
    ],
)
def test_what_a_factory_does_instead_is_told_in_one_line(
    tmp_path: Path, factory: Callable[..., Any], problem: str
) -> None:
    with pytest.raises(CandidateError) as told:
        Candidate("mine", factory).lacks(tmp_path)
    assert problem in str(told.value)
    assert len(str(told.value).splitlines()) == 1
