"""The surface: what an adapter offers is what the protocol says, name for name."""

import inspect
from typing import Any

import pytest

from amfs_sqlite import AmfsAdapter
from parity_tests.ledger import proves
from parity_tests.nouns import CONTEXT, NOUNS, declared, operations

PROPERTIES = ["namespace", "policy_name"]
OPERATIONS = sorted({name for noun in NOUNS for name in operations(noun)} - {*PROPERTIES})
NAMED = [name for name in OPERATIONS if name not in CONTEXT]


@proves("surface.signatures")
@pytest.mark.parametrize("operation", NAMED)
async def test_a_signature_is_the_protocols(adapter: AmfsAdapter, operation: str) -> None:
    _self, *expected = inspect.signature(declared(operation)).parameters.values()
    offered = inspect.signature(getattr(adapter, operation)).parameters.values()
    assert [call_form(each) for each in offered] == [call_form(each) for each in expected]


def call_form(parameter: inspect.Parameter) -> tuple[str, Any, Any]:
    """All of a parameter that a caller depends on; how its type is written is each adapter's own."""
    return parameter.name, parameter.kind, parameter.default


@proves("surface.implemented")
@pytest.mark.parametrize("operation", [*OPERATIONS, *PROPERTIES])
async def test_no_operation_is_inherited_from_the_protocol(adapter: AmfsAdapter, operation: str) -> None:
    owner = next(each for each in type(adapter).__mro__ if operation in vars(each))
    assert owner not in (*NOUNS.values(), AmfsAdapter)


@proves("surface.nouns")
@pytest.mark.parametrize("noun", [*NOUNS.values(), AmfsAdapter], ids=lambda noun: noun.__name__)
async def test_every_noun_can_be_asked_for_at_run_time(adapter: AmfsAdapter, noun: Any) -> None:
    assert isinstance(adapter, noun)
    assert not isinstance(object(), noun)
