"""What a child that runs the tests tells its parent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from parity_tests.conformance.results import Result


@dataclass(frozen=True)
class Doing:
    """What is under way before the first test, and for how long it may be."""

    what: str
    timeout_s: float


@dataclass(frozen=True)
class Refused:
    """There is nothing that could be tried, and why; ``code`` is the exit code."""

    why: str
    code: int


@dataclass(frozen=True)
class Lacking:
    """For every noun the operations that are not implemented."""

    missing: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Collected:
    """So many tests will be run."""

    count: int


@dataclass(frozen=True)
class Begun:
    """A test is under way, of which nothing has come yet."""

    result: Result


@dataclass(frozen=True)
class Ended:
    """What came of a test. If it ``breaks_off``, the child has ended with it."""

    result: Result
    breaks_off: bool = False


@dataclass(frozen=True)
class Finished:
    """All tests were run, but those that were not; why there might have been more."""

    not_run: Sequence[Result]
    broken: Sequence[str]


Message = Doing | Refused | Lacking | Collected | Begun | Ended | Finished
