"""Agents on one store in memory, in both protocol eras."""

from collections.abc import AsyncIterator

import pytest

from amfs_sqlite import HANDOFF, FixedClock, ReferenceAdapter
from parity_tests.mcp.agents import ERAS, Agent, Agents


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """Each way a client may open."""
    return str(request.param)


@pytest.fixture
async def agents(era: str, clock: FixedClock) -> AsyncIterator[Agents]:
    """Lets agents in, all on one store."""
    async with ReferenceAdapter(outcomes=HANDOFF, clock=clock) as adapter:
        agents = Agents(adapter, clock, era)
        async with agents.clients:
            yield agents


@pytest.fixture
async def scout(agents: Agents) -> Agent:
    """One agent."""
    return await agents("scout")
