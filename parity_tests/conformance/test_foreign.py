"""What keeps every promise in its own way passes."""

import inspect

from amfs_sqlite import AmfsAdapter
from parity_tests.conformance.conftest import Elsewhere
from parity_tests.conformance.foreign import ForeignAdapter
from parity_tests.conformance.results import ROWS
from parity_tests.ledger import proves


@proves("conformance.insides")
def test_a_sound_adapter_with_another_inside_passes_everywhere(elsewhere: Elsewhere) -> None:
    done = elsewhere.run("parity_tests", "--adapter", "parity_tests.conformance.foreign:factory")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [row[0] for row in rows if row[1:2] == ["holds"]] == [*ROWS[:-1]]
    assert [row for row in rows if "fail" in row] == []


@proves("conformance.insides")
def test_it_has_other_signatures_than_the_protocol() -> None:
    seen = {name: inspect.signature(getattr(ForeignAdapter, name)) for name in ("write", "list_commits")}
    for name, signature in seen.items():
        assert not inspect.iscoroutinefunction(getattr(ForeignAdapter, name))
        assert signature != inspect.signature(getattr(AmfsAdapter, name))
