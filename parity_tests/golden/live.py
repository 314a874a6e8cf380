"""The objects that calls passed in and gave back, which later steps change and compare."""

from collections.abc import Mapping
from typing import Any

Live = Mapping[tuple[int, str], Any]
"""By step, and by whether it was passed in (`args`) or given back (`result`)."""
PLAIN = (str, int, float, type(None))


def mutate(live: Live, args: Mapping[str, Any]) -> None:
    """Set a member of an object, as JavaScript would."""
    *path, last = args["path"]
    node = _part(live[args["step"], args["target"]], path)
    if last == "length":
        del node[int(args["value"]) :]
    else:
        node[last] = args.get("value")


def is_same(live: Live, args: Mapping[str, Any], *, copied: bool) -> bool:
    """Whether two parts of results are one object; of copies, only what is asked for twice is."""
    if args["a"] == args["b"]:
        return True
    one, other = (_part(live[step, "result"], path) for step, *path in (args["a"], args["b"]))
    if isinstance(one, PLAIN) and isinstance(other, PLAIN):
        return bool(one == other)
    return one is other and not copied


def _part(node: Any, path: list[Any]) -> Any:
    for name in path:
        node = node[name]
    return node
