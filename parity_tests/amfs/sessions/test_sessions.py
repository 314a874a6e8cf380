"""A session is answered as on the SDK's own file adapter, or the ledger of deviations says why not."""

import contextlib
import copy
import functools
import logging
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from amfs_sqlite.clock import FixedClock
from parity_tests.amfs.sessions import comparison, player
from parity_tests.amfs.sessions.comparison import Difference
from parity_tests.amfs.sessions.entries import ENTRIES
from parity_tests.amfs.sessions.steps import Session, scout
from parity_tests.amfs.sessions.work import WORK
from parity_tests.ledger import proves

SESSIONS: Mapping[str, Session] = MappingProxyType({**ENTRIES, **WORK})


@functools.cache
def played(name: str) -> tuple[list[Any], list[Any]]:
    """The answers of the SDK's file adapter and of ours."""
    answers = []
    for opened in (player.on_files, player.on_sqlite):
        clock = FixedClock()
        with (
            tempfile.TemporaryDirectory() as folder,
            contextlib.chdir(folder),
            opened(Path(folder), clock) as adapter,
        ):
            answers.append(player.play(SESSIONS[name], adapter, clock))
    return answers[0], answers[1]


def compared(name: str, theirs: list[Any], ours: list[Any]) -> Iterator[Difference]:
    """Where they differ."""
    for number, (step, one, other) in enumerate(zip(SESSIONS[name], theirs, ours, strict=True)):
        for at, their_part, our_part in comparison.differences(one, other):
            yield Difference(name, number, step.name, at, their_part, our_part)


def unexplained(name: str, theirs: list[Any], ours: list[Any]) -> list[Difference]:
    """What no row is about."""
    rows = comparison.rows()
    return [each for each in compared(name, theirs, ours) if not any(row.tells(each) for row in rows)]


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """The file adapter logs what it leaves out."""
    caplog.set_level(logging.CRITICAL + 1)


@proves("sdk.sessions")
@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_is_answered_as_on_files_or_a_row_says_why_not(name: str) -> None:
    assert unexplained(name, *played(name)) == []


@proves("sdk.sessions")
def test_every_deviation_is_still_seen() -> None:
    seen = [each for name in SESSIONS for each in compared(name, *played(name))]
    assert [row.id for row in comparison.rows() if not any(map(row.tells, seen))] == []


@proves("sdk.sessions")
@pytest.mark.parametrize(
    ("member", "lie"), [("value", "made up"), ("version", 77), ("confidence", 0.123), ("shared", False)]
)
def test_another_answer_is_noticed(member: str, lie: object) -> None:
    theirs, ours = played("rewriting makes the next version")
    lied = copy.deepcopy(ours)
    lied[4][member] = lie
    (found,) = unexplained("rewriting makes the next version", theirs, lied)
    assert (found.step, found.call, found.at) == (4, "read", member)


@proves("sdk.sessions")
def test_an_answer_that_is_missing_or_too_many_is_noticed() -> None:
    name = "paths and what is below"
    theirs, ours = played(name)
    for lie in (ours[8][:-1], [*ours[8], ours[8][0]], None, {"raises": "ValueError"}):
        assert unexplained(name, theirs, [*ours[:8], lie, *ours[9:]]) != []


def test_every_step_of_an_agent_is_a_call_of_the_memory_or_a_verb() -> None:
    """A slip of the pen would be answered alike on both sides, by an AttributeError."""
    failed = {
        (name, number)
        for name in SESSIONS
        for number, answer in enumerate(played(name)[0])
        if isinstance(answer, dict) and answer.get("raises") in ("AttributeError", "TypeError", "KeyError")
    }
    assert failed == set()
    assert scout.read("svc", "k").name == "read"
    assert scout.on_adapter("stats").name == "stats"
