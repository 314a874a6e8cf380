"""The board that answers from a file, and the patience it takes."""

from functools import partial

import pytest

from demo.beliefs import RateLimit
from demo.job_board import JobBoard, TooManyRequestsError
from demo.patience import Patience


def test_a_board_that_refused_goes_on_once_the_penalty_is_over() -> None:
    board = JobBoard("morning")
    for _ in range(3):
        board.index()
    for waited_s in (0, 44, 0):
        board.wait(waited_s)
        with pytest.raises(TooManyRequestsError):
            board.index()
    board.wait(1)
    assert board.index()[0] == [482, 517, 553]


def test_patience_that_was_not_needed_teaches_nothing() -> None:
    patience = Patience(JobBoard("morning"), RateLimit(backoff_s=30, reason="a guess"))
    patience.ask(partial(patience.board.listing, 482))
    assert (patience.lesson, str(patience)) == (None, "the board never answered 429")
