"""Two agents on one store of each kind."""

import pytest

from amfs_sqlite import AgentMemory, AmfsAdapter, FixedClock


@pytest.fixture
def alice(adapter: AmfsAdapter, clock: FixedClock) -> AgentMemory:
    """An agent's memory."""
    return AgentMemory("alice", adapter=adapter, session_id="s-alice", clock=clock)


@pytest.fixture
def bob(adapter: AmfsAdapter, clock: FixedClock) -> AgentMemory:
    """Another agent's memory, on the same store."""
    return AgentMemory("bob", adapter=adapter, session_id="s-bob", clock=clock)
