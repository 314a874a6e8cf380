"""Everything that the SDK and its servers can ask of an adapter is there, and takes what they bring."""

import ast
import inspect

from amfs_core.abc import AdapterABC

from amfs_sqlite.sync import SyncSqliteAdapter
from parity_tests.amfs import callers
from parity_tests.amfs.argued import ARGUED
from parity_tests.ledger import proves


def interface() -> list[str]:
    return [name for name, _ in inspect.getmembers(AdapterABC, inspect.isfunction) if name[0] != "_"]


def own() -> set[str]:
    return {name for name in vars(SyncSqliteAdapter) if callable(getattr(SyncSqliteAdapter, name))}


@proves("sdk.interface")
def test_every_method_of_the_interface_is_our_own() -> None:
    assert len(interface()) >= 81
    assert [name for name in interface() if name not in own()] == []


@proves("sdk.interface")
def test_no_method_of_ours_is_a_stub() -> None:
    tree = ast.parse(inspect.getsource(SyncSqliteAdapter))
    stubs = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Raise)]
    assert stubs == []


@proves("sdk.interface")
def test_every_argument_of_the_interface_is_taken_as_the_interface_has_it() -> None:
    """In the same place, by the same name, and left out where it may be."""
    faults = []
    for name in interface():
        theirs = inspect.signature(getattr(AdapterABC, name)).parameters
        ours = inspect.signature(getattr(SyncSqliteAdapter, name)).parameters
        for place, (argument, wanted) in enumerate(theirs.items()):
            if place == 0:
                continue
            taken = ours.get(argument)
            is_in_place = wanted.kind is wanted.KEYWORD_ONLY or list(ours).index(argument) == place
            if taken is None or not is_in_place or taken.default != wanted.default:
                faults.append(f"{name}({argument})")
    assert faults == []


@proves("sdk.calls")
def test_every_call_of_an_adapter_fits_ours() -> None:
    found = callers.calls()
    assert len({each.method for each in found}) > 50
    faults = []
    for each in found:
        if each.method in ARGUED and each.method not in own():
            continue
        method = getattr(SyncSqliteAdapter, each.method, None)
        if method is None:
            faults.append(f"{each.place}: {each.method} is none of ours")
            continue
        bound = inspect.signature(method).replace(
            parameters=list(inspect.signature(method).parameters.values())[1:]
        )
        faults += filter(None, [each.fault(bound)])
    assert faults == []


@proves("sdk.calls")
def test_every_name_that_is_looked_up_is_ours_or_argued() -> None:
    asked = callers.names()
    missing = {name: place for name, place in asked.items() if not hasattr(SyncSqliteAdapter, name)}
    assert {name: place for name, place in missing.items() if name not in ARGUED} == {}
    assert [name for name in ARGUED if name not in asked] == [], "nobody asks for these any more"


@proves("sdk.calls")
def test_a_call_that_does_not_fit_is_found() -> None:
    def method(entity_path: str, *, branch: str = "main") -> None: ...

    signature = inspect.signature(method)
    fitting = callers.Call("read", 1, ("branch",), "amfs/memory.py:1", is_whole=True)
    assert fitting.fault(signature) is None
    for positional, keywords in ((0, ()), (2, ()), (1, ("namespace",))):
        call = callers.Call("read", positional, keywords, "amfs/memory.py:1", is_whole=True)
        assert (call.fault(signature) or "").startswith("amfs/memory.py:1: read: ")
    assert callers.Call("read", 0, (), "", is_whole=False).fault(signature) is None
