"""Every story reads the same on every adapter, and as it did before."""

import pytest
from syrupy.assertion import SnapshotAssertion

from amfs_sqlite import FixedClock
from parity_tests.adapters import AdapterOpener
from parity_tests.ledger import proves
from parity_tests.scenarios.player import Story, play
from parity_tests.scenarios.stories import STORIES


@proves("scenarios.one-snapshot")
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
async def test_a_story_reads_the_same_everywhere(
    open_adapter: AdapterOpener, clock: FixedClock, story: Story, snapshot: SnapshotAssertion
) -> None:
    adapter = await open_adapter(outcomes=story.outcomes)
    assert await play(adapter, clock, story) == snapshot(name=story.name)
