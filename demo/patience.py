"""Asking a board that answers 429: waiting, trying again, and what that says of the limit gone by."""

from collections.abc import Callable
from typing import TypeVar

from amfs_sqlite import EntryRef
from demo.beliefs import RateLimit
from demo.job_board import JobBoard, TooManyRequestsError
from demo.ritual import Outcome

AnswerT = TypeVar("AnswerT")


class Patience:
    """Goes by a rate limit for as long as it works, and by twice, four times … as much if it does not."""

    def __init__(self, board: JobBoard, limit: RateLimit) -> None:
        self.board = board
        self.limit = limit
        self._tried_at_s: list[int] = []
        """Seconds from the last refusal that came unexpected to each try after it."""

    def ask(self, request: Callable[[], AnswerT]) -> AnswerT:
        """Make the request until it is answered."""
        tried_at_s: list[int] = []
        while True:
            try:
                answer = request()
            except TooManyRequestsError:
                last_s = tried_at_s[-1] if tried_at_s else 0
                tried_at_s.append(2 * last_s or self.limit.backoff_s)
                self.board.wait(tried_at_s[-1] - last_s)
            else:
                self._tried_at_s = tried_at_s or self._tried_at_s
                return answer

    def __str__(self) -> str:
        if not self._tried_at_s:
            return "the board never answered 429"
        *refused_at_s, answered_at_s = self._tried_at_s
        again = "".join(f", 429 again after {each}s" for each in refused_at_s)
        return f"the board answered 429{again}, and went on after {answered_at_s}s"

    def outcomes(self, limit: EntryRef) -> list[Outcome]:
        """What happened to the limit gone by: a success, a failure, or nothing that tells."""
        if not self._tried_at_s:
            return []
        return [("success" if self.lesson is None else "failure", [limit])]

    @property
    def lesson(self) -> RateLimit | None:
        """The limit to go by from now on, if the one gone by was too short."""
        if len(self._tried_at_s) < 2:
            return None
        *_, refused_at_s, answered_at_s = self._tried_at_s
        reason = f"{refused_at_s}s too short, {answered_at_s}s enough"
        return RateLimit(backoff_s=answered_at_s, reason=reason)
