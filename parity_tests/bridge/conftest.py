"""Agents at work on one store: sessions on an adapter of each kind."""

from collections.abc import Callable
from itertools import count

import pytest

from amfs_sqlite import AmfsAdapter, CountedIds, FixedClock
from bridge.session import Session

Begin = Callable[..., Session]


@pytest.fixture
def begin(handoff_adapter: AmfsAdapter, clock: FixedClock) -> Begin:
    """Begins a session of an agent on the one store of the test; each call is a session of its own."""
    ids, numbers = CountedIds(), count(1)

    def session_of(agent: str = "alice", *, lease_s: float | None = None, owner: bool = False) -> Session:
        session_id = f"sess-{next(numbers)}"
        return Session(
            handoff_adapter,
            agent,
            session_id,
            clock=clock,
            ids=ids,
            lease_s=lease_s,
            owner=owner,
        )

    return session_of


@pytest.fixture
def alice(begin: Begin) -> Session:
    return begin("alice")


@pytest.fixture
def bob(begin: Begin) -> Session:
    return begin("bob")
