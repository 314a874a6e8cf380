"""What a session is made of: steps of agents, as data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ON_ADAPTER = "on_adapter"
"""The verb that calls a method of the adapter, which is its first argument."""


@dataclass(frozen=True)
class Step:
    """One call: by whom, of what, and with which arguments."""

    agent: str
    call: str
    args: Sequence[Any] = ()
    options: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        """The call as the ledger of deviations names it: of the memory, a verb, or of the adapter."""
        return str(self.args[0]) if self.call == ON_ADAPTER else self.call


@dataclass(frozen=True)
class Earlier:
    """An argument taken from the answer of the step of this number, from 0, by a path of members."""

    step: int
    at: Sequence[str | int]


@dataclass(frozen=True)
class At:
    """An argument: the instant so many seconds after the beginning. Each step begins one second later."""

    second: float


Session = Sequence[Step]


class Agent:
    """Makes steps: ``scout.write("svc", "retries", 3)`` is the step in which scout does so.

    A name of two parts, as ``scout.scope_write``, is a verb of the player; see `player.py`.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, call: str) -> Callable[..., Step]:
        def step(*args: Any, **options: Any) -> Step:
            return Step(self._name, call, args, options)

        return step


scout, executor, critic = Agent("scout"), Agent("executor"), Agent("critic")
careful = Agent("careful")
"""Will not write over what another one wrote since it read."""
reader = Agent("reader")
"""Has an embedder."""
