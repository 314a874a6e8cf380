"""Our surfaces are the protocol's to the letter, types and docstrings included."""

import inspect
from typing import Any

import pytest

import amfs_sqlite
from amfs_sqlite import AmfsAdapter
from parity_tests.contract.test_surface import OPERATIONS, PROPERTIES
from parity_tests.ledger import proves
from parity_tests.nouns import declared


@proves("ours.signatures")
@pytest.mark.parametrize("operation", OPERATIONS)
async def test_a_signature_is_the_protocols_types_included(adapter: AmfsAdapter, operation: str) -> None:
    promised = declared(operation)
    offered = getattr(type(adapter), operation)
    assert parameters(offered) == parameters(promised)
    assert inspect.iscoroutinefunction(offered) == inspect.iscoroutinefunction(promised)
    assert result(offered) in (result(promised), "Self")


def parameters(function: Any) -> list[tuple[str, Any, Any, str]]:
    signature = inspect.signature(function, eval_str=True)
    return [
        (each.name, each.kind, each.default, written(each.annotation))
        for each in signature.parameters.values()
    ]


def result(function: Any) -> str:
    return written(inspect.signature(function, eval_str=True).return_annotation)


def written(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


@proves("ours.docstrings")
@pytest.mark.parametrize("operation", [*OPERATIONS, *PROPERTIES])
async def test_what_an_operation_does_is_said_once_in_the_protocol(
    adapter: AmfsAdapter, operation: str
) -> None:
    offered = getattr(type(adapter), operation)
    promised = declared(operation)
    assert offered.__doc__ is None
    if not operation.startswith("_"):
        assert inspect.getdoc(offered) == inspect.getdoc(promised)
        assert inspect.getdoc(promised)


@proves("ours.names")
async def test_every_public_name_is_there_and_no_other() -> None:
    everything: dict[str, Any] = {}
    exec("from amfs_sqlite import *", everything)  # noqa: S102 - what a user may write
    assert set(amfs_sqlite.__all__) == set(everything) - {"__builtins__"}
    assert set(amfs_sqlite.__all__) <= set(dir(amfs_sqlite))
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = getattr(amfs_sqlite, "Nothing")  # noqa: B009 - as written it would be a type error
