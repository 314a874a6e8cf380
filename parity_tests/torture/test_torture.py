"""One round of each scenario of the torture harness: nothing is lost, doubled or unnoticed."""

from operator import attrgetter

import pytest
from click.testing import CliRunner

from benchmarks.torture import __main__ as torture
from benchmarks.torture import crew, page
from benchmarks.torture.rounds import Round, Scenario, Tally
from parity_tests.docs import pages
from parity_tests.ledger import proves

PAGE = "docs/explanation/reliability.md"
SHORT = "short"


@proves("torture.holds")
@pytest.mark.timeout(2 * crew.PATIENCE_S)
@pytest.mark.parametrize("scenario", torture.SCENARIOS, ids=attrgetter("name"))
def test_nothing_is_lost_or_doubled_or_unnoticed(scenario: Scenario) -> None:
    tally = Tally()
    torture.play(scenario, tally, SHORT, is_short=True)
    assert tally.faults == []
    assert (tally.lost, tally.doubled, tally.unnoticed) == (0, 0, 0)
    assert tally.rounds or tally.notes


def failing(tally: Tally) -> Scenario:
    """A scenario that comes to this."""

    def come_to_it(round_: Round) -> None:
        for name in ("rounds", "lost", "doubled", "unnoticed"):
            setattr(round_.tally, name, getattr(tally, name))
        round_.tally.faults.extend(tally.faults)

    return Scenario("made up", "It comes to this.", 1, 1, come_to_it)


@proves("torture.ends-with-1")
@pytest.mark.parametrize(
    ("tally", "code"),
    [
        (Tally(rounds=1), 0),
        (Tally(rounds=1, lost=1), 1),
        (Tally(rounds=1, doubled=1), 1),
        (Tally(rounds=1, unnoticed=1), 1),
        (Tally(rounds=1, faults=["it does not hold"]), 1),
    ],
    ids=["nothing", "lost", "doubled", "unnoticed", "a-fault"],
)
def test_whatever_must_not_be_ends_it_with_1(
    tally: Tally, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torture, "SCENARIOS", (failing(tally),))
    assert CliRunner().invoke(torture.main, ["--quick"]).exit_code == code


@proves("torture.ends-with-1")
def test_what_a_round_raises_is_told_with_what_repeats_it() -> None:
    def raising(_: Round) -> None:
        raise LookupError("nothing there")

    tally = Tally()
    torture.play(Scenario("made up", "It raises.", 1, 1, raising), tally, "7/3")
    assert tally.faults == ["made up 7/3: LookupError: nothing there"]


@proves("torture.ends-with-1")
def test_an_unknown_scenario_is_refused_with_those_that_there_are() -> None:
    answered = CliRunner().invoke(torture.main, ["--only", "flood"])
    assert answered.exit_code == 2
    assert "kills: writers" in answered.output


@proves("torture.page")
def test_the_page_tells_of_every_scenario() -> None:
    rows, *_ = pages.tables(PAGE)
    told = [row[0] for row in rows[1:]]
    assert told == [f"**{each.name}** {each.says}" for each in torture.SCENARIOS]
    assert tuple(rows[0]) == page.HEADINGS


@proves("torture.page")
def test_the_page_tells_of_a_run_without_a_failure() -> None:
    rows, *_ = pages.tables(PAGE)
    columns = [rows[0].index(name) for name in ("lost", "twice", "unnoticed", "other faults")]
    assert [row[0] for row in rows[1:] if any(row[column] != "0" for column in columns)] == []
    assert " requests acknowledged, 0 failures." in pages.text(PAGE)
