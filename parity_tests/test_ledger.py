"""The ledger and the tests hold each other to their word."""

import inspect
from pathlib import Path

import pytest

from amfs_sqlite import protocol
from parity_tests import ledger

LINE = 'rule = { says = "It holds.", source = ["Entries.read", "B71"] }'
TEST = '@proves("entries.rule")\nasync def test_it_holds(adapter): ...\n'


def made_up(root: Path, line: str = LINE, test: str = TEST) -> Path:
    files = {"behaviours/entries.toml": line, "contract/test_entries.py": test}
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True)
        (root / path).write_text(content, encoding="utf-8")
    return root


def test_every_claim_is_in_the_ledger() -> None:
    assert ledger.unknown_claims() == []


def test_every_behaviour_has_a_test() -> None:
    assert ledger.unproved() == []


def test_every_contract_test_proves_a_behaviour() -> None:
    assert ledger.silent_tests() == []


def test_every_source_exists() -> None:
    assert ledger.unfounded() == []


def test_every_behaviour_is_said_in_one_sentence_or_more() -> None:
    behaviours = ledger.behaviours().values()
    assert [each.id for each in behaviours if not each.says.endswith(".")] == []


def test_every_operation_of_the_protocol_has_a_behaviour() -> None:
    nouns = [getattr(protocol, name) for name in protocol.__all__ if name != "AmfsAdapter"]
    operations = {
        f"{noun.__name__}.{name}"
        for noun in nouns
        for name, member in vars(noun).items()
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property))
    }
    named = {source for each in ledger.behaviours().values() for source in each.source}
    assert operations - named == set()


@pytest.mark.parametrize(
    ("line", "test", "fault"),
    [
        (LINE, TEST.replace("rule", "other"), ledger.unknown_claims),
        (LINE, TEST.replace("rule", "other"), ledger.unproved),
        (LINE, TEST.replace("entries.rule", "entries"), ledger.unknown_claims),
        (LINE, "def test_it_holds(adapter): ...\n", ledger.silent_tests),
        (LINE, "# entries.rule\n", ledger.unproved),
        (LINE.replace("Entries.read", "Entries.reed"), TEST, ledger.unfounded),
        (LINE.replace("B71", "B7"), TEST, ledger.unfounded),
        (LINE.replace('"Entries.read", "B71"', ""), TEST, ledger.unfounded),
        (LINE.replace("Entries.read", "bridge.nothing.at.all"), TEST, ledger.unfounded),
    ],
)
def test_a_fault_of_the_ledger_is_found(tmp_path: Path, line: str, test: str, fault: object) -> None:
    assert callable(fault)
    assert len(fault(made_up(tmp_path, line, test))) == 1


@pytest.mark.parametrize(
    "test",
    [
        TEST,
        f"class TestIt:\n    {TEST.replace(chr(10), chr(10) + '    ')}",
        TEST.replace("@", '@parametrize("x", [param(1, marks=').replace('")', '"))])', 1),
    ],
)
def test_a_sound_ledger_is_left_alone(tmp_path: Path, test: str) -> None:
    root = made_up(tmp_path, test=test)
    faults = ledger.unknown_claims(root) + ledger.unproved(root) + ledger.silent_tests(root)
    assert faults + ledger.unfounded(root) == []
