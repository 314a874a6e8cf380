"""Of an error is compared that it is raised, of the SDK's also which, and of our refusals what they name."""

import dataclasses
from typing import Any

import pytest

from amfs_sqlite import AgentMemory
from parity_tests.golden import recordings
from parity_tests.golden.conftest import RECORDED
from parity_tests.golden.replay import MakeAdapter, judging, replay
from parity_tests.golden.stories import AGENT, NOW, Content, call, entry, story, written
from parity_tests.golden.transcript import Transcript
from parity_tests.ledger import proves

RAISING = [
    (recorded, i)
    for recorded in RECORDED
    for i, step in enumerate(recorded.steps)
    if step.recorded.error is not None
]
HALF = "\ud800"
INFINITE = float("inf")


def with_error(recorded: Transcript, i: int, **members: Any) -> Transcript:
    """The transcript with another error at this step."""
    step = recorded.steps[i]
    told = dataclasses.replace(step, recorded=dataclasses.replace(step.recorded, **members))
    return dataclasses.replace(recorded, steps=(*recorded.steps[:i], told, *recorded.steps[i + 1 :]))


def refusing() -> list[Content]:
    """Calls that we refuse, each for one argument."""
    write: Content = {"entityPath": "p", "key": "k", "value": 1}
    record: Content = {"outcomeRef": "r", "outcomeType": "success", "causalEntryKeys": ["p/k"]}
    record |= {"agentId": AGENT, "causalConfidence": 1, "committedAt": NOW}
    addresses = ({"entityPath": ""}, {"key": HALF}, {"key": "k" * 5000})
    values = ({"value": [INFINITE]}, {"value": HALF}, {"confidence": INFINITE}, {"ttlAt": "soon"})
    reports = (
        {"outcomeType": "x"},
        {"causalConfidence": INFINITE},
        {"outcomeRef": HALF},
        {"causalEntryKeys": [HALF]},
    )
    questions = (
        {"since": "soon"},
        {"limit": -1},
        {"limit": 1.5},
        {"minConfidence": INFINITE},
        {"query": HALF},
        {"query": "q" * 5000},
    )
    read = {"entityPath": "p", "key": "k"}
    return [
        *(call("mem", "write", **write | each) for each in (*addresses, *values, {"patternRefs": [HALF]})),
        *(call("store", "write", entry=entry("p", "k", 1) | each) for each in (*addresses, *values)),
        *(call("store", "commitOutcome", record=record | each) for each in reports),
        *(call("mem", "search", options=each) for each in questions),
        call("mem", "history", **read, options={"until": "soon"}),
        call("mem", "read", **read, options={"minConfidence": INFINITE}),
        call("mem", "recall", **read, options={"minConfidence": INFINITE}),
        call("mem", "tree", maxDepth=-1),
        call("mem", "commitLog", limit=-1),
    ]


@proves("golden.errors")
def test_errors_are_recorded() -> None:
    types = {recorded.steps[i].recorded.error_type for recorded, i in RAISING}
    assert types == {"Error", "TypeError"}


@proves("golden.errors")
@pytest.mark.parametrize(("recorded", "i"), RAISING, ids=lambda each: getattr(each, "name", each))
async def test_another_error_than_the_sdk_raises_is_noticed(
    recorded: Transcript, i: int, reference: MakeAdapter
) -> None:
    step = recorded.steps[i]
    another_type = await replay(with_error(recorded, i, error_type="RangeError"), reference)
    assert another_type.difference is not None
    assert another_type.difference.step.n == step.n
    assert "the error RangeError" in another_type.difference.fault.reason
    another_text = await replay(with_error(recorded, i, error="something else"), reference)
    if step.recorded.error_type == "TypeError":
        assert another_text.difference is None  # the engine's own words are not compared
    else:
        assert another_text.difference is not None
        assert "'something else'" in another_text.difference.fault.reason


@proves("golden.errors")
async def test_every_refusal_of_ours_names_the_argument(reference: MakeAdapter) -> None:
    recorded = recordings.parse("refused.json", story(written(), *refusing()))
    async with judging(recorded, reference) as judged:
        for step in recorded.steps:
            sides = await judged.play(step)
            assert sides.fault is None
            if step.n > 3:
                assert sides.ours.arguments, step
                assert judged.misfit(sides, sides.sdk) is None, step


@proves("golden.errors")
async def test_a_refusal_that_names_something_else_is_not_excused(
    reference: MakeAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(self: AgentMemory, *args: Any, **options: Any) -> None:
        raise TypeError("no")

    monkeypatch.setattr(AgentMemory, "write", refuse)
    stored = call("mem", "write", entry("", "k", 1), entityPath="", key="k", value=1)
    report = await replay(recordings.parse("refused.json", story(stored)), reference)
    assert report.difference is not None
    assert "an error that names entity_path" in report.difference.fault.reason


@proves("golden.errors")
async def test_nothing_recorded_where_the_sdk_answers_is_noticed(reference: MakeAdapter) -> None:
    read = call("mem", "read", entityPath="p", key="k") | {"resultIsUndefined": True}
    scope = call("mem", "scope", entityPath="p") | {"resultIsUndefined": True}
    for step in (read, scope):
        report = await replay(recordings.parse("undefined.json", story(written(), step)), reference)
        assert report.difference is not None
        assert "nothing (undefined) is recorded" in report.difference.fault.reason


@proves("golden.errors")
async def test_an_operation_that_the_sdk_does_not_have_raises_on_both_sides(reference: MakeAdapter) -> None:
    raised = {"error": "it is not a function", "errorType": "TypeError", "args": {}}
    met = story({"on": "mem", "op": "fly", **raised}, written())
    assert (await replay(recordings.parse("it.json", met), reference)).difference is None
    ours_alone = story({"on": "store", "op": "close", **raised}, written())
    report = await replay(recordings.parse("it.json", ours_alone), reference)
    assert report.difference is not None
    assert report.difference.step.op == "close"
