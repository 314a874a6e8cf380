"""Problems: of what was raised, the little that tells what is wrong, and whose operation it was."""

import re
import sysconfig
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import parity_tests
from parity_tests.conformance.results import End, Problem
from parity_tests.nouns import CONTEXT, noun_of

TESTS = Path(parity_tests.__file__).parent
CONTRACT = str(TESTS / "contract")
RUNNING = (str(TESTS / "conformance" / "child.py"), str(TESTS / "conformance" / "plugin.py"))
PYTHON = sysconfig.get_paths()["stdlib"]
MESSAGE_LIMIT = 4_000
LINE_LIMIT = 200
WHOLE_LIMIT = 50_000

_DUMPED = re.compile(r'^  File "(.*)", line (\d+) in (\S+)$', re.MULTILINE)


class HungError(Exception):
    """A test was not through in its time."""


@dataclass(frozen=True)
class Place:
    """A place in a program that was under way."""

    path: str
    line: int
    function: str
    text: str = ""

    def __str__(self) -> str:
        return f"{Path(self.path).name}:{self.line} in {self.function}"


def printable(text: str) -> str:
    r"""The text with everything but line ends escaped that cannot be shown.

    >>> printable("a\ud800\x1bb")
    'a\\ud800\\x1bb'
    """
    return "".join(
        each if each == "\n" or each.isprintable() else each.encode("unicode_escape").decode()
        for each in text
    )


def one_line(error: BaseException) -> str:
    """What was raised, in one line of bounded length.

    >>> one_line(OSError("no  space"))
    'OSError: no space'
    """
    return " ".join(_told(error).split())[:LINE_LIMIT]


def problem_of(error: BaseException, end: End = "failed") -> Problem:
    """The problem that was raised."""
    places = list(_places(error))
    beneath = _beneath_a_test(places)
    fault, noun = to_blame(beneath)
    last = next((each for each in reversed(places) if each.path.startswith(CONTRACT)), None)
    return Problem(
        _told(error),
        at=printable(f"{Path(last.path).name}:{last.line}: {last.text}"[:LINE_LIMIT]) if last else "",
        raised=printable(str(fault or _own(beneath) or "")),
        noun=noun,
        end=end,
        whole=printable(_whole(error)[:WHOLE_LIMIT]),
    )


def to_blame(places: Sequence[Place]) -> tuple[Place | None, str]:
    """Of places from the outermost on, where within an operation of an adapter it was last, and whose it is.

    Without such an operation it is (None, "").
    """
    for depth, place in enumerate(places):
        if _is_theirs(place) and place.function not in CONTEXT:
            noun = noun_of(place.function)
            if noun is not None:
                return _own(places[depth:]), noun
    return None, ""


def dumped(text: str) -> list[Place]:
    """The places in a dump of faulthandler, from the outermost on."""
    # The thread that runs the tests was dumped last.
    found = _DUMPED.findall(text.rpartition("most recent call first")[2])
    return [Place(path, int(line), function) for path, line, function in reversed(found)]


def _places(error: BaseException) -> Iterator[Place]:
    while isinstance(error, HungError | TimeoutError) and error.__cause__ is not None:
        error = error.__cause__
    for frame in traceback.extract_tb(error.__traceback__):
        yield Place(frame.filename, frame.lineno or 0, frame.name, frame.line or "")


def _beneath_a_test(places: Sequence[Place]) -> Sequence[Place]:
    """The places from a test or a fixture of ours on, without those of pytest that lead there."""
    first = next((depth for depth, each in enumerate(places) if _is_ours(each)), len(places))
    return places[first:]


def _whole(error: BaseException) -> str:
    """All that Python tells of an error, from a test or a fixture of ours on."""
    trace = error.__traceback__
    while trace is not None and not _is_ours(Place(trace.tb_frame.f_code.co_filename, 0, "")):
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace or error.__traceback__))


def _is_ours(place: Place) -> bool:
    return place.path in RUNNING or Path(place.path).parent in (TESTS, Path(CONTRACT))


def _is_theirs(place: Place) -> bool:
    """Whether it is neither a test of ours, nor pytest's or Python's own."""
    is_pythons = place.path.startswith((PYTHON, "<")) and "site-packages" not in place.path
    return not is_pythons and not _is_ours(place) and Path(place.path).parent.name != "_pytest"


def _own(places: Sequence[Place]) -> Place | None:
    return next((each for each in reversed(places) if _is_theirs(each)), None)


def _told(error: BaseException) -> str:
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - an error of somebody else's may fail at anything
        message = "(its message cannot be read)"
    if isinstance(error, HungError):
        return message
    kind = type(error).__name__
    return printable(f"{kind}: {message}"[:MESSAGE_LIMIT] if message else kind)
