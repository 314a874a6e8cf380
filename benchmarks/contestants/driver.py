"""The benchmark's side of the conversation with a contestant's process."""

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.contestants.environments import UnavailableError, last_line
from benchmarks.contestants.roster import Contestant, Environment
from benchmarks.measuring import Round

CLONE = Path(__file__).parents[2]
ANSWER_TIMEOUT_S = 300.0
LEAVING_S = 10.0
LONGEST_ANSWER_BYTES = 16 * 1024 * 1024


class Driver:
    """A running contestant. What goes wrong is an UnavailableError with the reason."""

    def __init__(self, contestant: Contestant, process: asyncio.subprocess.Process, errors: Path) -> None:
        self.contestant = contestant
        self.can: Mapping[str, Sequence[int]] = {}
        """Numbers of callers for each operation there is."""
        self._process = process
        self._errors = errors

    @classmethod
    async def start(cls, contestant: Contestant, environment: Environment, folder: Path) -> "Driver":
        """Start the process, on a new folder; ``loaded`` follows."""
        await asyncio.to_thread(folder.mkdir)
        errors = folder / "errors.txt"
        module = f"benchmarks.contestants.{contestant.driver}"
        with errors.open("wb") as sink:
            process = await asyncio.create_subprocess_exec(
                *[str(environment.python), "-m", module, str(folder), *environment.arguments],
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=sink,
                env={**os.environ, "PYTHONPATH": str(CLONE)},
                limit=LONGEST_ANSWER_BYTES,
            )
        return cls(contestant, process, errors)

    async def loaded(self) -> None:
        """Wait until everything is stored and every operation has been tried."""
        self.can = await self._answer()

    async def round(self, operation: str, callers: int, count: int, seed: int) -> Round:
        """One round of an operation."""
        asked = {"operation": operation, "callers": callers, "count": count, "seed": seed}
        if self._process.stdin is None:
            raise UnavailableError("it takes no questions")
        try:
            self._process.stdin.write(json.dumps(asked).encode() + b"\n")
            await self._process.stdin.drain()
        except ConnectionError as gone:
            raise UnavailableError(f"it ended: {self._last_words()}") from gone
        return Round(**await self._answer())

    async def stop(self) -> None:
        """End the process, by force where it does not leave."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), LEAVING_S)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()

    async def _answer(self) -> dict[str, Any]:
        if self._process.stdout is None:
            raise UnavailableError("it gives no answers")
        try:
            line = await asyncio.wait_for(self._process.stdout.readline(), ANSWER_TIMEOUT_S)
        except TimeoutError as slow:
            raise UnavailableError(f"no answer within {ANSWER_TIMEOUT_S:.0f} s") from slow
        if not line:
            raise UnavailableError(f"it ended: {self._last_words()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _last_words(self) -> str:
        return last_line(self._errors.read_text(encoding="utf-8", errors="replace"))
