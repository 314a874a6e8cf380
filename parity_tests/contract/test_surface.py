"""The surface: what an adapter offers is what the protocol says, name for name."""

import inspect
from typing import Any

import pytest

from amfs_sqlite import AmfsAdapter
from parity_tests.ledger import proves
from parity_tests.nouns import NOUNS, operations

PROPERTIES = ["namespace", "policy_name"]
OPERATIONS = sorted({name for noun in NOUNS for name in operations(noun)} - {*PROPERTIES})


@proves("surface.signatures")
@pytest.mark.parametrize("operation", OPERATIONS)
async def test_a_signature_is_the_protocols(adapter: AmfsAdapter, operation: str) -> None:
    declared = getattr(AmfsAdapter, operation)
    offered = getattr(type(adapter), operation)
    assert parameters(offered) == parameters(declared)
    assert inspect.iscoroutinefunction(offered) == inspect.iscoroutinefunction(declared)
    assert result(offered) in (result(declared), "Self")


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


@proves("surface.implemented")
@pytest.mark.parametrize("operation", [*OPERATIONS, *PROPERTIES])
async def test_no_operation_is_inherited_from_the_protocol(adapter: AmfsAdapter, operation: str) -> None:
    owner = next(each for each in type(adapter).__mro__ if operation in vars(each))
    assert owner not in (*NOUNS.values(), AmfsAdapter)


@proves("surface.docstrings")
@pytest.mark.parametrize("operation", [*OPERATIONS, *PROPERTIES])
async def test_what_an_operation_does_is_said_once_in_the_protocol(
    adapter: AmfsAdapter, operation: str
) -> None:
    offered = getattr(type(adapter), operation)
    declared = getattr(AmfsAdapter, operation)
    assert offered.__doc__ is None
    if not operation.startswith("_"):
        assert inspect.getdoc(offered) == inspect.getdoc(declared)
        assert inspect.getdoc(declared)


@proves("surface.nouns")
@pytest.mark.parametrize("noun", [*NOUNS.values(), AmfsAdapter], ids=lambda noun: noun.__name__)
async def test_every_noun_can_be_asked_for_at_run_time(adapter: AmfsAdapter, noun: Any) -> None:
    assert isinstance(adapter, noun)
    assert not isinstance(object(), noun)
