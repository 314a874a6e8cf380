"""Every recorded answer of the real SDK is ours too, or the ledger says why it is not."""

from pathlib import Path

import pytest

from parity_tests.golden import adapters
from parity_tests.golden.alterations import altered
from parity_tests.golden.replay import MakeAdapter, is_compared, judging, replay
from parity_tests.golden.transcript import Transcript
from parity_tests.ledger import proves


@proves("golden.replay")
@pytest.mark.parametrize("kind", list(adapters.KINDS))
async def test_a_recorded_transcript_is_met_or_explained(
    recorded: Transcript, kind: str, tmp_path: Path
) -> None:
    report = await replay(recorded, adapters.KINDS[kind](tmp_path))
    assert report.difference is None, report.difference.told(kind)


@proves("golden.both-sides")
async def test_both_sides_answer_every_step_as_recorded_and_as_we_do(
    recorded: Transcript, reference: MakeAdapter
) -> None:
    async with judging(recorded, reference) as judged:
        for step in recorded.steps:
            sides = await judged.play(step)
            assert sides.fault is None, f"step {step.n}"
            if is_compared(step):
                assert judged.misfit(sides, step.recorded) is None, f"step {step.n}"


@proves("golden.no-more")
async def test_no_altered_recording_is_excused(recorded: Transcript, reference: MakeAdapter) -> None:
    async with judging(recorded, reference) as judged:
        for step in recorded.steps:
            sides = await judged.play(step)
            assert judged.unexplained(sides, step.recorded) is None
            if is_compared(step):
                for what, answer in altered(step.recorded):
                    if judged.is_met(sides, answer):
                        continue  # altered to what we answer, which is no difference
                    assert judged.unexplained(sides, answer), f"step {step.n}: {what}"
