"""Longer stories, drawn by chance: every adapter answers as the oracle beside it does."""

from operator import attrgetter
from pathlib import Path

import pytest

from amfs_sqlite import AMFS_0_3, HANDOFF, AmfsAdapter, FixedClock, OutcomePolicy
from parity_tests import adapters
from parity_tests.ledger import proves
from parity_tests.scenarios.chance import Chance
from parity_tests.scenarios.player import Step, perform
from parity_tests.state import state, text

STEPS = 30
QUESTIONS_PER_STEP = 4
VIEWERS = (None, "alice", "bob")


async def answer_alike(pair: tuple[AmfsAdapter, AmfsAdapter], clock: FixedClock, step: Step) -> str:
    """What both adapters answer."""
    one, other = [text(await perform(adapter, clock, step)) for adapter in pair]
    assert one == other, step
    return one


@proves("scenarios.side-by-side")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("policy", [AMFS_0_3, HANDOFF], ids=attrgetter("name"))
@pytest.mark.parametrize(
    "kind",
    [kind for kind in adapters.KINDS if kind.name != adapters.ORACLE],
    ids=attrgetter("name"),
)
async def test_two_adapters_side_by_side_answer_alike(
    kind: adapters.AdapterKind, policy: OutcomePolicy, seed: int, tmp_path: Path, clock: FixedClock
) -> None:
    openers = [adapters.AdapterOpener(each, tmp_path, clock) for each in (adapters.oracle(), kind)]
    chance = Chance(seed)
    answered = set()
    async with openers[0].opened, openers[1].opened:
        one, other = [await opener(outcomes=policy) for opener in openers]
        for number in range(STEPS):
            answered.add(await answer_alike((one, other), clock, chance.change()))
            for _ in range(QUESTIONS_PER_STEP):
                answered.add(await answer_alike((one, other), clock, chance.question()))
            viewer = VIEWERS[number % len(VIEWERS)]
            assert await state(one, viewer) == await state(other, viewer)
        assert (await one.verify()).ok
    # Answers that are nearly all alike would compare nothing.
    assert len(answered) > STEPS
