"""What is stored and asked for in every benchmark: values of some 320 bytes, addresses, words."""

import random
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

WORD_COUNT = 5_000
WORDS_PER_VALUE = 27
KEYS_PER_PATH = 100
AGENT = "bench"

VOCABULARY: Sequence[str] = tuple(f"{'bcdfghjklmnprstvw'[n % 17]}o{n:x}a" for n in range(WORD_COUNT))
"""The first word is the most common one."""
COMMON_WORD = VOCABULARY[0]
RARE_WORD = VOCABULARY[WORD_COUNT // 2]

_CHANCES = tuple(accumulate(1 / (rank + 1) for rank in range(WORD_COUNT)))
"""Zipf's law: the word of rank n comes 1/n times as often as the first."""


class Workload:
    """Values and addresses drawn by chance; the same seed draws the same."""

    def __init__(self, seed: int = 0) -> None:
        self.random = random.Random(seed)  # noqa: S311 - to be repeated, not to be secret

    def value(self) -> dict[str, Any]:
        """A value of some 320 bytes as compact JSON."""
        words = self.random.choices(VOCABULARY, cum_weights=_CHANCES, k=WORDS_PER_VALUE)
        return {
            "summary": " ".join(words[:20]),
            "details": {"steps": words[20:], "attempt": self.random.randrange(100), "cost": 0.25},
            "done": self.random.random() < 0.5,
        }

    def values(self, count: int) -> list[dict[str, Any]]:
        """So many values, made before the clock runs."""
        return [self.value() for _ in range(count)]

    def addresses(self, count: int, key_count: int) -> list[tuple[str, str]]:
        """So many addresses out of the first ``key_count``."""
        return [address(self.random.randrange(key_count)) for _ in range(count)]


def address(number: int) -> tuple[str, str]:
    """The path and key of this number: ``KEYS_PER_PATH`` keys to a path.

    >>> address(205)
    ('area/2', 'key-5')
    """
    return f"area/{number // KEYS_PER_PATH}", f"key-{number % KEYS_PER_PATH}"
