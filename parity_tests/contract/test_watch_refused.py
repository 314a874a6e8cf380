"""What watches and followers are refused, and that it disturbs nobody."""

from pathlib import Path
from typing import Any

import pytest

from amfs_sqlite import AmfsAdapter, InvalidArgumentError
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.listeners import Listener

NO_TEXT = [42, b"p", Path("p"), ["p"]]


@proves("watch.refused")
@pytest.mark.parametrize("argument", ["entity_path", "viewer"])
@pytest.mark.parametrize("given", NO_TEXT, ids=repr)
async def test_a_watch_on_what_is_no_text_is_refused_and_the_others_hear_all(
    adapter: AmfsAdapter, argument: str, given: Any
) -> None:
    listener = Listener()
    await adapter.watch(None, listener)
    with pytest.raises(InvalidArgumentError) as refused:
        await adapter.watch(**({"entity_path": None, "callback": listener} | {argument: given}))
    assert refused.value.argument == argument
    for _ in range(3):
        await adapter.write(draft())
    assert listener.heard == ["k@1", "k@2", "k@3"]


@proves("changes.refused")
@pytest.mark.parametrize("argument", ["entity_path", "viewer", "after"])
@pytest.mark.parametrize("given", NO_TEXT, ids=repr)
async def test_following_what_is_no_text_is_refused(adapter: AmfsAdapter, argument: str, given: Any) -> None:
    await adapter.write(draft())
    options: dict[str, Any] = {argument: given}
    with pytest.raises(InvalidArgumentError) as refused:
        await anext(adapter.changes(follow=False, **options))
    assert refused.value.argument == argument
