"""The objects that calls passed in and gave back, which later steps change and compare."""

from collections.abc import Mapping
from typing import Any

from parity_tests.golden.view import RefusedError

Live = Mapping[tuple[int, str], Any]
"""By step, and by whether it was passed in (`args`) or given back (`result`)."""
PLAIN = (str, int, float, type(None))


def mutate(live: Live, args: Mapping[str, Any]) -> None:
    """Set a member of an object, as JavaScript would."""
    *path, last = args["path"]
    node, value = _part(live[args["step"], args["target"]], path), args.get("value")
    if isinstance(node, dict):
        node[str(last)] = value
    elif isinstance(node, list) and last == "length" and isinstance(value, int) and value >= 0:
        del node[value:]
    elif isinstance(node, list) and isinstance(last, int) and 0 <= last <= len(node):
        node[last : last + 1] = [value]
    else:
        raise RefusedError(f"nothing can be set at {last!r}")


def is_same(live: Live, args: Mapping[str, Any], *, copied: bool) -> bool:
    """Whether two parts of results are one object; of copies, only what is asked for twice is."""
    one, other = (_part(live[step, "result"], path) for step, *path in (args["a"], args["b"]))
    if args["a"] == args["b"]:
        return True
    if isinstance(one, PLAIN) and isinstance(other, PLAIN):
        return bool(one == other)
    return one is other and not copied


def _part(node: Any, path: list[Any]) -> Any:
    for name in path:
        if isinstance(node, dict):
            node = node.get(str(name))
        elif isinstance(node, list):
            node = node[name] if isinstance(name, int) and 0 <= name < len(node) else None
        else:
            raise RefusedError(f"there is nothing at {name!r}")
    return node
