"""The examples in docstrings are true."""

import doctest
import importlib
import pkgutil

import pytest

import amfs_sqlite
import bridge

MODULES = [
    found.name
    for package in (amfs_sqlite, bridge)
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not found.name.endswith("__main__")
]


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_a_module_are_true(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_an_example_that_is_not_true_is_noticed() -> None:
    examples = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    assert doctest.DocTestRunner(verbose=False).run(examples, out=len).failed == 1
