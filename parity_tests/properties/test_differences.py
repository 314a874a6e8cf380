"""Values drawn by chance: what differs leads from the one to the other."""

from copy import deepcopy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from amfs_sqlite.rules.differences import differences
from amfs_sqlite.rules.hashing import content_hash
from parity_tests.ledger import proves

SCALARS = st.sampled_from([None, True, 1, 1.0, 0, "", "1", "a"])
NAMES = st.sampled_from(["", "a", "a/b", "~", "~1", "0"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


def changed(value: Any, path: str, operation: str, new_value: Any) -> Any:
    """The value after one change, by the rules of RFC 6902."""
    whole = [value]
    inside: Any = whole
    name: Any = 0
    for part in path.split("/")[1:]:
        inside = inside[name]
        name = int(part) if isinstance(inside, list) else part.replace("~1", "/").replace("~0", "~")
    if operation == "remove":
        del inside[name]
    elif operation == "add" and isinstance(inside, list):
        inside.insert(name, new_value)
    else:
        inside[name] = new_value
    return whole[0]


@proves("properties.differences-applied")
@settings(max_examples=200)
@given(old=VALUES, new=VALUES)
def test_what_differs_done_in_order_makes_the_new_value(old: Any, new: Any) -> None:
    found = differences(old, new)
    value = deepcopy(old)
    for each in found:
        # The whole value has AMFS's path of its own.
        path = "" if [each] == found and each.old_value is old else each.path
        value = changed(value, path, each.operation, each.new_value)
    assert content_hash(value) == content_hash(new)
    assert (found == []) == (content_hash(old) == content_hash(new))
    assert len({each.path for each in found}) == len(found)
