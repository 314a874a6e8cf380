"""What came of the tests, one result each."""

from dataclasses import dataclass
from typing import Literal

from parity_tests.nouns import NOUNS

SHARING = "Sharing"
"""What is no noun, and claimed by a word: that several on one path, in several processes, see one store."""
BASIC = "Lifecycle"
ROWS = (BASIC, *(noun for noun in NOUNS if noun != BASIC), SHARING)
"""All that can be claimed, the most basic first."""

State = Literal["holds", "fails", "not run"]
End = Literal["failed", "hung", "ended"]


@dataclass(frozen=True)
class Problem:
    """Why a test fails.

    ``error`` is what was raised, ``at`` the line of the test, ``raised`` the place in the adapter. ``noun``
    is that of the operation that raised it, where there is one. ``end`` tells whether the test came to an end
    of its own, ``whole`` is all that there is to tell.
    """

    error: str
    at: str = ""
    raised: str = ""
    noun: str = ""
    end: End = "failed"
    whole: str = ""


@dataclass
class Result:
    """What came of one test. ``needs`` are the nouns not claimed that it needs."""

    candidate: str
    noun: str
    test: str
    promises: tuple[str, ...]
    state: State = "holds"
    needs: tuple[str, ...] = ()
    problem: Problem | None = None

    @property
    def name(self) -> str:
        """The test's name, without the candidate that it was run on."""
        return self.test.replace(f"[{self.candidate}-", "[").replace(f"[{self.candidate}]", "")

    @property
    def fault(self) -> str:
        """The noun that a failure counts against: that of the operation that raised it, or the test's."""
        return (self.problem.noun if self.problem else "") or self.noun

    @property
    def was_tried(self) -> bool:
        """Whether it tells anything of its promises; not where an operation of another noun failed."""
        return self.state == "holds" or (self.state == "fails" and self.fault == self.noun)
