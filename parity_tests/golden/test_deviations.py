"""The ledger of deviations: each row is needed, each is shown, and none knows a transcript by name."""

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from parity_tests import ledger
from parity_tests.golden import javascript
from parity_tests.golden.conftest import RECORDED
from parity_tests.golden.deviations import ROWS, Case, Row
from parity_tests.golden.replay import MakeAdapter, replay
from parity_tests.golden.transcript import Answer, Step, Transcript
from parity_tests.ledger import proves

IDS = [row.id for row in ROWS]


async def is_too_short(ledger_of_rows: Sequence[Row], make: MakeAdapter) -> bool:
    """Whether some transcript shows a difference that these rows do not explain."""
    for recorded in sorted(RECORDED, key=lambda each: len(each.steps)):
        if (await replay(recorded, make, ledger_of_rows)).difference is not None:
            return True
    return False


@proves("golden.rows")
@pytest.mark.parametrize("row", ROWS, ids=IDS)
async def test_without_a_row_a_transcript_is_not_met(row: Row, reference: MakeAdapter) -> None:
    assert await is_too_short([each for each in ROWS if each is not row], reference)


@proves("golden.rows")
@pytest.mark.parametrize("row", [row for row in ROWS if row.calls], ids=lambda row: row.id)
async def test_a_row_that_never_applies_excuses_nothing(row: Row, reference: MakeAdapter) -> None:
    never = dataclasses.replace(row, when=_never)
    assert await is_too_short([never if each is row else each for each in ROWS], reference)


@proves("golden.rows")
@pytest.mark.parametrize("row", [row for row in ROWS if row.tests], ids=lambda row: row.id)
def test_the_tests_that_a_row_names_exist(row: Row) -> None:
    assert set(row.tests) <= ledger.claims().keys()


@proves("golden.rows")
def test_no_row_knows_a_transcript() -> None:
    said = {text for recorded in RECORDED for text in _texts(recorded)}
    modules = [path for path in Path(__file__).parent.glob("*.py") if not path.name.startswith("test_")]
    code = "".join(path.read_text(encoding="utf-8") for path in modules)
    literals = set(re.findall(r'"([^"\n]+)"', code))
    known = {text for text in said & literals if len(text) > 3 and not text.isalpha()}
    assert known == {javascript.PROTOTYPE}  # a name of the language
    assert not any(recorded.name.removesuffix(".json") in code for recorded in RECORDED)


@proves("golden.no-more")
async def test_what_no_side_knows_of_is_never_excused(reference: MakeAdapter) -> None:
    made_up = [
        Step(1, "sdk", "newInMemoryAdapter", {}, "store", Answer(is_void=True)),
        Step(2, "store", "namespace", {}, None, Answer(result="another")),
    ]
    report = await replay(Transcript("made-up", "2026-01-01T00:00:00.000Z", made_up), reference)
    assert report.difference is not None
    assert (report.difference.step.n, report.difference.fault.got) == (2, "default")


def _never(_: Case) -> bool:
    return False


def _texts(recorded: Transcript) -> set[str]:
    named = ("entityPath", "key", "query", "agentId", "outcomeRef", "message")
    return {str(step.args[name]) for step in recorded.steps for name in named if name in step.args}
