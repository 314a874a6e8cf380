"""What is no recording is refused by one line, before it is replayed; what is passed over is told."""

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from parity_tests.golden import __main__ as command
from parity_tests.golden import recordings
from parity_tests.golden.conftest import FOLDER
from parity_tests.golden.replay import MakeAdapter, replay
from parity_tests.golden.stories import Content, call, callback, story, watching, written
from parity_tests.golden.transcript import TranscriptError
from parity_tests.ledger import proves

WRITE = story(written())
CHANGING = FOLDER / "aliasing-live-references.json"
WRONG: tuple[Any, ...] = (None, 5, -1.5, True, "", "nope", [], [1], {}, {"a": 1}, "\ud800", 1e308)

FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "it is no JSON: Expecting value: line 1 column 1 (char 0)"),
    "no JSON": (b"{", "it is no JSON: Expecting property name enclosed in double quotes: line 1 column 2"),
    "not a number": (b'{"clockStart": NaN}', "it is no JSON: it holds NaN"),
    "deep": (b"[" * 100_000, "it nests deeper than 200 levels"),
    "somewhat deep": (b"[" * 201 + b"]" * 201, "it nests deeper than 200 levels"),
    "not UTF-8": (json.dumps(WRITE).encode("utf-16"), "it is not UTF-8"),
    "a list": (b"[]", "it is []: it must be an object"),
    "no member": (b"{}", "name is missing"),
}


def without(name: str) -> Content:
    return {member: value for member, value in WRITE.items() if member != name}


def with_step(**members: Any) -> Content:
    """The recording of one write whose last step has these members instead."""
    content = copy.deepcopy(WRITE)
    content["steps"][-1] |= members
    return content


def with_write(**args: Any) -> Content:
    return with_step(args=WRITE["steps"][-1]["args"] | args)


def without_in_step(name: str) -> Content:
    content = copy.deepcopy(WRITE)
    del content["steps"][-1][name]
    return content


MALFORMED: dict[str, tuple[Content, str]] = {
    "no steps": (WRITE | {"steps": []}, "steps is []: it must not be empty"),
    "steps are no list": (WRITE | {"steps": "abc"}, "steps is 'abc': it must be a list"),
    "no clock": (without("clockStart"), "clockStart is missing"),
    "clock of null": (WRITE | {"clockStart": None}, "clockStart is None: it must be a text"),
    "clock of a number": (WRITE | {"clockStart": 5}, "clockStart is 5: it must be a text"),
    "clock of no instant": (WRITE | {"clockStart": "soon"}, "clockStart is 'soon': it must be an instant"),
    "another SDK": (WRITE | {"sdkVersion": "1.0"}, "sdkVersion is '1.0': the ledger of deviations is about"),
    "an SDK alike": (WRITE | {"sdkVersion": "0.30"}, "sdkVersion is '0.30': the ledger of deviations is"),
    "a step that is none": (WRITE | {"steps": [5]}, "step 1: it is 5: it must be an object"),
    "a step missing": (
        WRITE | {"steps": [WRITE["steps"][0], *WRITE["steps"][2:]]},
        "step 2: n is 3: steps are numbered from 1, one by one; one is missing or moved",
    ),
    "n of a list": (with_step(n=[3]), "step 3: n is [3]: steps are numbered"),
    "n of true": (
        WRITE | {"steps": [WRITE["steps"][0] | {"n": True}]},
        "step 1: n is True: it must be a whole number",
    ),
    "nobody": (with_step(on="nobody"), "step 3: on is 'nobody': no earlier step makes 'nobody'"),
    "on of a list": (with_step(on=["mem"]), "step 3: on is ['mem']: it must be a text"),
    "no such member": (
        with_step(on="mem.engine"),
        "step 3: on is 'mem.engine': mem, of the kind memory, has",
    ),
    "no such operation": (with_step(op="fly"), "step 3: mem is of the kind memory, which has no 'fly'"),
    "an operation of another": (with_step(op="commit"), "step 3: mem is of the kind memory, which has no"),
    "op of an object": (with_step(op={}), "step 3: op is {}: it must be a text"),
    "op that is no name": (with_step(op="__init__"), "step 3: op is '__init__': it must be the name"),
    "args of null": (with_step(args=None), "step 3: args is None: it must be an object"),
    "args of a list": (with_step(args=[1]), "step 3: args is [1]: it must be an object"),
    "no args": (without_in_step("args"), "step 3: args is missing"),
    "an argument missing": (with_step(args={"entityPath": "p"}), "step 3: args.key is missing"),
    "an argument of another type": (with_write(key=5), "step 3: args.key is 5: it must be a text"),
    "an option of another type": (
        with_write(options={"patternRefs": ["a", 5]}),
        "step 3: args.patternRefs[1] is 5: it must be a text",
    ),
    "options of a text": (
        with_write(options="x"),
        "step 3: args.options is 'x': it must be an object or null",
    ),
    "as of a list": (with_step(**{"as": []}), "step 3: as is []: it must be a text"),
    "a name for what is not made": (
        with_step(**{"as": "it"}),
        "step 3: as is 'it': write makes nothing that could be named",
    ),
    "a name taken": (
        story(call("mem", "scope", entityPath="p") | {"as": "store"}),
        "step 3: as is 'store', which is the name of something else already",
    ),
    "no answer": (without_in_step("result"), "step 3: it must have either a result or an error"),
    "two answers": (
        with_step(error="no", errorType="Error"),
        "step 3: it must have either a result or an error",
    ),
    "an error without its type": (
        story({"on": "mem", "op": "stats", "args": {}, "error": "no"}),
        "step 3: error and errorType must both be texts",
    ),
    "a result that is undefined": (
        with_step(resultIsUndefined=True),
        "step 3: resultIsUndefined, and yet there is a result",
    ),
    "nonJson nowhere": (
        with_step(nonJson=[{"path": "$.values[0]", "js": "NaN"}]),
        "step 3: nonJson: the result has no place '$.values[0]'",
    ),
    "nonJson at what is JSON": (
        with_step(nonJson=[{"path": "$.key", "js": "NaN"}]),
        "step 3: nonJson: at '$.key' the result holds 'k'",
    ),
    "a memory without a known session": (
        story(call("sdk", "newAgentMemory", {"agentId": "b"}, agentId="b") | {"as": "other"}),
        "step 3: sessionId is missing",
    ),
    "an adapter that is none": (
        story(call("sdk", "newOutcomeBackPropagator", adapter="mem") | {"as": "it"}),
        "step 3: args name 'mem': no adapter of this name is made before",
    ),
    "a watch for nobody": (story(watching()), "step 3: args name 'heard': no callback of this name is made"),
    "a callback of no kind": (
        story(callback("sing")),
        "step 3: args.kind is 'sing': input should be 'collect'",
    ),
    "a callback without its members": (story(callback("cancel")), "step 3: args.handle is missing"),
    "a callback that cancels nothing": (
        story(callback("cancel", handle="it"), watching()),
        "step 3: args name 'it': no watch of this name is made before",
    ),
    "a callback that writes too little": (
        story(callback("write", on="mem", args={"key": "k"})),
        "step 3: args.entityPath is missing",
    ),
    "changing a later step": (
        story(call("sdk", "mutate", step=4, target="result", path=["value"], value=1)),
        "step 3: args name step 4, which is no earlier step",
    ),
    "comparing no step": (
        story(call("sdk", "sameObject", True, a=["value"], b=[1])),
        "step 3: args name step 'value', which is no earlier step",
    ),
}
"""Recordings that are not of the form, and what is said of each."""

UNPLAYABLE: dict[str, tuple[Content, str]] = {
    "a name that comes on too late": (
        story(
            callback("addWatch", on="mem", entityPath="p", callback="heard", **{"as": "later"}),
            watching(),
            call("later", "cancel") | {"resultIsUndefined": True},
        ),
        "step 5: 'later' is not there yet",
    ),
    "a watch cancelled before it is set up": (
        story(
            callback("cancel", handle="later"),
            watching(),
            written(),
            watching() | {"as": "later"},
        ),
        "step 5: the watch 'later' is not set up yet",
    ),
    "callbacks without end": (
        story(
            callback("write", on="mem", args={"entityPath": "p", "key": "k", "value": 1}),
            watching(),
            written(),
        ),
        "step 5: its callbacks write without end",
    ),
    "a change into what is no entry": (
        story(written(), call("sdk", "mutate", step=3, target="result", path=["confidence"], value="x")),
        "step 4: confidence is 'x': it must be a number",
    ),
}
"""Recordings of the form of which a step cannot be played after those before it."""


def said_of(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What is said of a file that is refused, in one line that begins with its name."""
    assert command.main([str(path)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"{path.name}: ")
    assert told.err.count("\n") == 1
    return told.err.removeprefix(f"{path.name}: ")


@pytest.fixture
def unplayed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is replayed."""

    def forbidden(*_: Any) -> None:
        raise AssertionError("it is replayed")

    monkeypatch.setattr(command, "replay", forbidden)


@proves("golden.form")
@pytest.mark.parametrize(("content", "wrong"), FILES.values(), ids=FILES)
def test_what_is_no_json_object_is_refused(
    content: bytes, wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], unplayed: None
) -> None:
    (tmp_path / "it.json").write_bytes(content)
    assert said_of(tmp_path / "it.json", capsys).startswith(wrong)


@proves("golden.form")
@pytest.mark.parametrize(("content", "wrong"), MALFORMED.values(), ids=MALFORMED)
def test_what_is_not_of_the_form_is_refused_naming_step_and_place(
    content: Content, wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], unplayed: None
) -> None:
    (tmp_path / "it.json").write_text(json.dumps(content), encoding="utf-8")
    assert said_of(tmp_path / "it.json", capsys).startswith(wrong)


@proves("golden.form")
@pytest.mark.parametrize(("content", "wrong"), UNPLAYABLE.values(), ids=UNPLAYABLE)
def test_what_cannot_be_played_after_earlier_steps_is_refused(
    content: Content, wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "it.json").write_text(json.dumps(content), encoding="utf-8")
    assert said_of(tmp_path / "it.json", capsys).startswith(wrong)


@proves("golden.form")
@pytest.mark.parametrize(
    "made",
    [lambda path: path.mkdir(), lambda path: path.symlink_to("nowhere")],
    ids=["a folder", "a dangling link"],
)
def test_what_is_called_a_recording_and_cannot_be_read_is_refused(
    made: Callable[[Path], None], tmp_path: Path, capsys: pytest.CaptureFixture[str], unplayed: None
) -> None:
    made(tmp_path / "it.json")
    assert command.main([str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert told.startswith("it.json: it cannot be read: ")
    assert told.count("\n") == 1


@proves("golden.form")
async def test_whatever_stands_in_a_recording_it_is_replayed_or_refused(reference: MakeAdapter) -> None:
    """Each place of a recording that changes and compares live objects holds another thing."""
    whole = json.loads(CHANGING.read_text(encoding="utf-8"))
    ends = set()
    for i, place in enumerate(_places(whole, ())):
        content = _with(whole, place, WRONG[i % len(WRONG)])
        try:
            report = await replay(recordings.parse("it.json", content), reference)
        except TranscriptError as refused:
            assert str(refused)  # noqa: PT017 - what else is raised fails the test
            ends.add("refused")
        else:
            ends.add("met" if report.difference is None else "differs")
    assert ends == {"met", "differs", "refused"}


@proves("golden.passed-over")
@pytest.mark.parametrize(
    ("content", "told"),
    [
        (WRITE | {"colour": 1}, "'colour' is no member of a recording: passed over"),
        (with_step(colour=1), "step 3: 'colour' is no member of a step: passed over"),
        (with_write(colour=1), "step 3: 'colour' is no argument of write: passed over"),
        (with_write(options={"colour": 1}), "step 3: 'colour' is no argument of write: passed over"),
        (
            with_write(confidence=1, entity_path="q"),
            "step 3: 'entity_path' is no argument of write: passed over",
        ),
    ],
    ids=["in the file", "in a step", "in arguments", "in options", "in our spelling"],
)
def test_what_no_operation_takes_is_passed_over_and_told(
    content: Content, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "it.json").write_text(json.dumps(content), encoding="utf-8")
    assert command.main([str(tmp_path)]) == 0
    assert capsys.readouterr().err == f"note: it.json: {told}\n"


@proves("golden.passed-over")
def test_of_the_recordings_that_come_with_this_nothing_is_passed_over() -> None:
    assert [recordings.load(path).notes for path in recordings.files(FOLDER)] == [()] * len(
        list(FOLDER.glob("*.json"))
    )


def _places(node: Any, place: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if place:
        yield place
    named = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for name, inner in named:
        if name != "result":
            yield from _places(inner, (*place, name))


def _with(node: Any, place: tuple[Any, ...], value: Any) -> Any:
    if not place:
        return value
    changed = copy.copy(node)
    changed[place[0]] = _with(node[place[0]], place[1:], value)
    return changed
