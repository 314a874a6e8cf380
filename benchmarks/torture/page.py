"""The page about reliability: its figures are those of the run that wrote it."""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from string import Template

from benchmarks.reporting import machine
from benchmarks.torture.rounds import Scenario, Tally
from benchmarks.torture.telling import OTHERWISE, told

HEADINGS = (
    "what happens",
    "rounds",
    "acknowledged",
    "lost",
    "twice",
    "unnoticed",
    "other faults",
    "otherwise",
)
VERDICTS = ("refused", "reported", "older", "derived", "harmless", "unnoticed")


def write(path: Path, scenarios: Sequence[Scenario], tallies: Mapping[str, Tally], command: str) -> None:
    """Write the page of a run."""
    on = machine()
    page = Template(files(__package__).joinpath("reliability.md").read_text(encoding="utf-8"))
    path.write_text(
        page.substitute(
            command=command,
            machine=f"{on['system']} {on['architecture']}, {on['cores']} cores, Python {on['python']},"
            f" SQLite {on['sqlite']}",
            scenarios=_table(HEADINGS, [_scenario(each, tallies[each.name]) for each in scenarios]),
            damages=_table(("damage", *VERDICTS), [*_damages(tallies)]),
            faults=_faults(tallies),
            failures=f"{sum(each.failures for each in tallies.values()):,}",
            rounds=f"{sum(each.rounds for each in tallies.values()):,}",
            acknowledged=f"{sum(each.acknowledged for each in tallies.values()):,}",
        ),
        encoding="utf-8",
    )


def _scenario(scenario: Scenario, tally: Tally) -> Sequence[str]:
    figures = (
        tally.rounds,
        tally.acknowledged,
        tally.lost,
        tally.doubled,
        tally.unnoticed,
        len(tally.faults),
    )
    otherwise = told({name: getattr(tally, name) for name in ("refused", "reported", *OTHERWISE)})
    if not tally.rounds:
        otherwise = "; ".join(tally.notes)
    named = f"**{scenario.name}** {scenario.says}"
    return [named, *(f"{each:,}" for each in figures), otherwise]


def _damages(tallies: Mapping[str, Tally]) -> Sequence[Sequence[str]]:
    return [
        [damage, *(f"{verdicts[each]:,}" for each in VERDICTS)]
        for tally in tallies.values()
        for damage, verdicts in sorted(tally.damages.items())
    ]


def _faults(tallies: Mapping[str, Tally]) -> str:
    """The first fault of each scenario that has any."""
    found = [
        f"- {tally.faults[0]} ({len(tally.faults):,} in all)" for tally in tallies.values() if tally.faults
    ]
    return "\n".join(found) or "There is none."


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
