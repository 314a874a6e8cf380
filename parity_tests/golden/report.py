"""What a replay came to, as people are told it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from parity_tests.golden.listing import Fault
from parity_tests.golden.transcript import Step

SHOWN_CHARACTERS = 1000
ARGUMENT_CHARACTERS = 100


@dataclass(frozen=True)
class Difference:
    """A step whose answer is neither the recorded one nor explained, or that stored something else."""

    transcript: str
    step: Step
    fault: Fault

    def told(self, kind: str) -> Sequence[str]:
        """The difference, as found on an adapter of this kind, line by line."""
        step, fault = self.step, self.fault
        given = [f"{name}={_shown(value, ARGUMENT_CHARACTERS)}" for name, value in step.args.items()]
        if fault.is_answer:
            labels = ("expected, as recorded", "ours", "why no row explains it")
        else:
            labels = ("expected, from the calls so far", "held by our adapter", "why no row explains it")
        texts = (_shown(fault.expected), _shown(fault.got), fault.reason)
        lines = [f"  {label}: {text}" for label, text in zip(labels, texts, strict=True)]
        call = f"{step.on}.{step.op}({', '.join(given)})"
        first = f"{self.transcript}: step {step.n} on the {kind} adapter: {call}"
        return [first, *lines]


@dataclass
class Report:
    """What a replay came to: the rows that explained something, and the first difference none explains."""

    transcript: str
    rows: set[str] = field(default_factory=set)
    difference: Difference | None = None


def printable(line: str) -> str:
    """A line whose characters can all be shown: others are escaped."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in line)


def _shown(value: Any, most: int = SHOWN_CHARACTERS) -> str:
    """A value as it stands in a recording, cut visibly."""
    whole = json.dumps(_as_in_javascript(value), ensure_ascii=False, default=repr)
    return whole if len(whole) <= most else f"{whole[:most]}... ({len(whole)} characters)"


def _as_in_javascript(value: Any) -> Any:
    """The same with whole numbers as JavaScript writes them, without a point."""
    if isinstance(value, dict):
        return {name: _as_in_javascript(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_as_in_javascript(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
