"""The ledger of deviations: each row is needed, each is shown, and none knows a transcript by name."""

import dataclasses
import inspect
import re

import pytest

from parity_tests import ledger
from parity_tests.golden import deviations, recount, refusals, sdk
from parity_tests.golden.conftest import RECORDED
from parity_tests.golden.deviations import ROWS, Case, Row
from parity_tests.golden.replay import MakeAdapter, replay
from parity_tests.golden.transcript import Answer, Step, Transcript
from parity_tests.ledger import proves

IDS = [row.id for row in ROWS]


@proves("golden.rows")
@pytest.mark.parametrize("row", ROWS, ids=IDS)
async def test_without_a_row_a_transcript_is_not_met(row: Row, reference: MakeAdapter) -> None:
    others = [each for each in ROWS if each is not row]
    for recorded in RECORDED:
        if (await replay(recorded, reference, others)).difference is not None:
            break
    else:
        pytest.fail("no transcript shows this deviation")


@proves("golden.rows")
@pytest.mark.parametrize("row", [row for row in ROWS if row.calls], ids=lambda row: row.id)
async def test_a_row_that_never_applies_excuses_nothing(row: Row, reference: MakeAdapter) -> None:
    never = dataclasses.replace(row, when=_never)
    ledger_with_it = [never if each is row else each for each in ROWS]
    unexplained = [
        recorded.name
        for recorded in RECORDED
        if (await replay(recorded, reference, ledger_with_it)).difference is not None
    ]
    assert unexplained != []


@proves("golden.rows")
@pytest.mark.parametrize("row", [row for row in ROWS if row.tests], ids=lambda row: row.id)
def test_the_tests_that_a_row_names_exist(row: Row) -> None:
    assert set(row.tests) <= ledger.claims().keys()


@proves("golden.rows")
def test_no_row_knows_a_transcript() -> None:
    said = {text for recorded in RECORDED for text in _texts(recorded)}
    code = "".join(inspect.getsource(module) for module in (deviations, recount, refusals, sdk))
    literals = set(re.findall(r'"([^"\n]+)"', code))
    assert {text for text in said & literals if len(text) > 3 and not text.isalpha()} == set()
    assert not any(recorded.name.removesuffix(".json") in code for recorded in RECORDED)


@proves("golden.no-more")
async def test_what_no_side_knows_of_is_never_excused(reference: MakeAdapter) -> None:
    made_up = [
        Step(1, "sdk", "newInMemoryAdapter", {}, "store", Answer(is_void=True)),
        Step(2, "store", "namespace", {}, None, Answer(result="another")),
    ]
    report = await replay(Transcript("made-up", "2026-01-01T00:00:00.000Z", made_up), reference)
    assert report.difference is not None
    assert (report.difference.step.n, report.difference.got) == (2, "default")


def _never(_: Case) -> bool:
    return False


def _texts(recorded: Transcript) -> set[str]:
    named = ("entityPath", "key", "query", "agentId", "outcomeRef", "message")
    return {str(step.args[name]) for step in recorded.steps for name in named if name in step.args}
