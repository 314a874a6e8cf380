"""How two JSON values differ: AMFS's field changes."""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

Operation = Literal["add", "remove", "replace"]


class Difference(NamedTuple):
    """One change of a value: where, and what stood and stands there; None where nothing does.

    ``path`` is a JSON pointer (RFC 6901); for the whole value it is "/", as AMFS has it.
    """

    path: str
    operation: Operation
    old_value: Any = None
    new_value: Any = None


def differences(old: Any, new: Any) -> list[Difference]:
    """What leads from one value to the other, to be done in this order: members by name, items by index.

    Another type is another value: 1, 1.0 and true are three.

    >>> [(each.path, each.operation) for each in differences({"a": [1, 2, 3], "b/c": 1}, {"a": [0], "d": 2})]
    [('/a/0', 'replace'), ('/a/2', 'remove'), ('/a/1', 'remove'), ('/b~1c', 'remove'), ('/d', 'add')]
    >>> differences({"a": 1, "b": 2}, {"b": 2, "a": 1}), differences(1, True)
    ([], [Difference(path='/', operation='replace', old_value=1, new_value=True)])
    """
    return list(_differences(old, new, ""))


def _differences(old: Any, new: Any, path: str) -> Iterator[Difference]:
    if type(old) is not type(new):
        yield Difference(path or "/", "replace", old, new)
    elif isinstance(old, dict):
        yield from _of_objects(old, new, path)
    elif isinstance(old, list):
        yield from _of_lists(old, new, path)
    elif old != new:
        yield Difference(path or "/", "replace", old, new)


def _of_objects(old: dict[str, Any], new: dict[str, Any], path: str) -> Iterator[Difference]:
    for name in sorted(old.keys() | new.keys()):
        below = f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
        if name not in new:
            yield Difference(below, "remove", old_value=old[name])
        elif name not in old:
            yield Difference(below, "add", new_value=new[name])
        else:
            yield from _differences(old[name], new[name], below)


def _of_lists(old: list[Any], new: list[Any], path: str) -> Iterator[Difference]:
    both = min(len(old), len(new))
    for index in range(both):
        yield from _differences(old[index], new[index], f"{path}/{index}")
    for index in reversed(range(both, len(old))):
        yield Difference(f"{path}/{index}", "remove", old_value=old[index])
    for index in range(both, len(new)):
        yield Difference(f"{path}/{index}", "add", new_value=new[index])
