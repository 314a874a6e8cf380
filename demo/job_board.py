"""A job board that answers from a fixture. Its time passes only when somebody waits."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from demo.beliefs import ApplicationForm, Listing

FIXTURE = Path(__file__).parent / "fixtures" / "boards-example.json"

TimeOfDay = Literal["morning", "midday", "afternoon"]


class Visit(BaseModel):
    """The board at one time of the day.

    It takes ``free_requests``, then refuses one and all that come less than ``penalty_s`` after it.
    """

    free_requests: int
    penalty_s: int
    next_receipt: int
    application_form: ApplicationForm
    listings: tuple[Listing, ...]


class Recording(BaseModel):
    """What the fixture holds."""

    board: str
    visits: dict[TimeOfDay, Visit]


class TooManyRequestsError(Exception):
    """The board answers 429."""


class JobBoard:
    """The board as one visitor meets it. ``index``, ``listing`` and ``apply`` are requests."""

    def __init__(self, time_of_day: TimeOfDay) -> None:
        recording = Recording.model_validate_json(FIXTURE.read_bytes())
        self.name = recording.board
        self._visit = recording.visits[time_of_day]
        self._applications: list[tuple[int, str]] = []
        self._request_count = 0
        self._passed_s = 0
        self._refused_at_s: int | None = None

    def index(self) -> tuple[list[int], ApplicationForm]:
        """The ids of all listings, and what an application must name."""
        self._admit()
        return [each.id for each in self._visit.listings], self._visit.application_form

    def listing(self, listing_id: int) -> Listing:
        """One listing."""
        self._admit()
        return next(each for each in self._visit.listings if each.id == listing_id)

    def apply(self, listing_id: int, text: str) -> str:
        """Send an application; the receipt for it."""
        self._admit()
        self._applications.append((listing_id, text))
        return f"A-{self._visit.next_receipt + len(self._applications) - 1}"

    def wait(self, seconds: int) -> None:
        """Let time pass on the board."""
        self._passed_s += seconds

    def _admit(self) -> None:
        if self._refused_at_s is not None:
            if self._passed_s - self._refused_at_s < self._visit.penalty_s:
                raise TooManyRequestsError
            self._refused_at_s, self._request_count = None, 0
        elif self._request_count == self._visit.free_requests:
            self._refused_at_s = self._passed_s
            raise TooManyRequestsError
        else:
            self._request_count += 1
