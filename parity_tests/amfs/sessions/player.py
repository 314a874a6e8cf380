"""Plays a session through the SDK's AgentMemory on any of its adapters, and writes down every answer."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import amfs_filesystem.adapter
from amfs import AgentMemory
from amfs.memory import _get_sdk_executor
from amfs_core.abc import AdapterABC
from amfs_core.embedder import EmbedderABC
from amfs_core.lifecycle import LifecycleManager
from amfs_core.lock import AdvisoryLock
from amfs_core.models import ConflictPolicy, MemoryEntry
from amfs_filesystem import FilesystemAdapter
from pydantic import BaseModel

from amfs_sqlite.clock import FixedClock
from amfs_sqlite.sync import SyncSqliteAdapter
from parity_tests.amfs.sessions.clock import after, standing
from parity_tests.amfs.sessions.steps import At, Earlier, Session, Step

AT_ONCE_S = 0.02
"""How long the file adapter waits for a lock that it holds itself; 5 s, left to itself, to no other end."""
IDENTITIES = frozenset({"id", "commit_id", "trace_id", "event_id"})
DURATIONS = frozenset({"duration_ms", "session_duration_ms"})


class Letters(EmbedderABC):
    """How often each of a few letters comes, in sevenths: no single precision has them."""

    def embed(self, text: str) -> list[float]:
        return [text.count(letter) / 7 for letter in "aeiorst"]


@contextmanager
def on_files(folder: Path, clock: FixedClock) -> Iterator[AdapterABC]:
    """The SDK's own adapter."""
    impatient = partial(AdvisoryLock, timeout=AT_ONCE_S)
    with patch.object(amfs_filesystem.adapter, "AdvisoryLock", impatient):
        adapter = FilesystemAdapter(folder / "amfs")
        try:
            yield adapter
        finally:
            adapter.close()


@contextmanager
def on_sqlite(folder: Path, clock: FixedClock) -> Iterator[AdapterABC]:
    """Ours."""
    with SyncSqliteAdapter(folder / "memory.db", clock=clock) as adapter:
        yield adapter


def play(session: Session, adapter: AdapterABC, clock: FixedClock) -> list[Any]:
    """The answers of all steps, as JSON, with identities by the step they first came up in."""
    player = _Player(adapter, clock)
    with standing(clock):
        answers = [player.answer(number, step) for number, step in enumerate(session)]
    known: dict[str, str] = {}
    return [_told(answer, known, number) for number, answer in enumerate(answers)]


class _Player:
    def __init__(self, adapter: AdapterABC, clock: FixedClock) -> None:
        self._adapter = adapter
        self._clock = clock
        self._memories: dict[str, AgentMemory] = {}
        self._answers: list[Any] = []

    def answer(self, number: int, step: Step) -> Any:
        self._clock.set(after(number + 1))
        try:
            answer = _json(self._do(step))
        except Exception as error:  # noqa: BLE001 - that it fails is the answer
            answer = {"raises": type(error).__name__}
        _get_sdk_executor().submit(int).result()  # what the SDK logs after the call is logged
        self._answers.append(answer)
        return answer

    def _do(self, step: Step) -> Any:
        memory = self._memory(step.agent)
        args = [self._given(each) for each in step.args]
        options = {name: self._given(each) for name, each in (step.options or {}).items()}
        verb = getattr(self, f"_{step.call}", None)
        if verb is not None:
            return verb(memory, *args, **options)
        found = getattr(memory, step.call)
        return found(*args, **options) if callable(found) else found

    def _memory(self, agent: str) -> AgentMemory:
        if agent not in self._memories:
            self._memories[agent] = AgentMemory(
                agent,
                session_id=f"{agent}-1",
                adapter=self._adapter,
                conflict_policy=ConflictPolicy.RAISE
                if agent == "careful"
                else ConflictPolicy.LAST_WRITE_WINS,
                embedder=Letters() if agent == "reader" else None,
            )
        return self._memories[agent]

    def _given(self, argument: Any) -> Any:
        if isinstance(argument, At):
            return after(argument.second)
        if isinstance(argument, Earlier):
            found = self._answers[argument.step]
            for each in argument.at:
                found = found[each]
            return found
        return argument

    def _transaction(
        self, memory: AgentMemory, writes: Sequence[Sequence[Any]], message: str = "", *, fails: bool = False
    ) -> Any:
        with memory.transaction(message) as transaction:
            for path, key, value, *options in writes:
                transaction.write(path, key, value, **(options[0] if options else {}))
            if fails:
                raise RuntimeError("not to be committed")
        return {"commit": transaction.commit, "entries": transaction.entries}

    def _scope_write(self, memory: AgentMemory, path: str, key: str, value: Any, readonly: bool) -> Any:
        return memory.scope(path, readonly=readonly).write(key, value)

    def _scope_read(self, memory: AgentMemory, path: str, key: str) -> Any:
        return memory.scope(path).read(key)

    def _scope_all(self, memory: AgentMemory, path: str, key: str) -> Any:
        scope = memory.scope(path)
        return [scope.list(), scope.search(), scope.history(key), scope.info()]

    def _sweep(self, memory: AgentMemory) -> Any:
        return LifecycleManager(memory.adapter).sweep()

    def _expired(self, memory: AgentMemory, path: str, key: str) -> Any:
        versions: Sequence[MemoryEntry] = memory.history(path, key)
        return [entry.is_expired() for entry in versions]

    def _read_at_version(self, memory: AgentMemory, path: str, key: str, version: int) -> Any:
        return memory.adapter.read_at_version(path, key, version)

    def _written(self, memory: AgentMemory, path: str, key: str, value: Any, version: int) -> Any:
        """Written to the adapter itself, as a version that the caller names."""
        current = memory.adapter.read(path, key)
        assert current is not None
        return memory.adapter.write(current.model_copy(update={"value": value, "version": version}))

    def _on_adapter(self, memory: AgentMemory, method: str, *args: Any, **options: Any) -> Any:
        return getattr(memory.adapter, method)(*args, **options)


def _json(answer: Any) -> Any:
    if isinstance(answer, BaseModel):
        return answer.model_dump(mode="json")
    if isinstance(answer, Mapping):
        return {str(name): _json(each) for name, each in answer.items()}
    if isinstance(answer, list | tuple):
        return [_json(each) for each in answer]
    return answer.isoformat() if isinstance(answer, datetime) else answer


def _told(answer: Any, known: dict[str, str], step: int) -> Any:
    """The answer without what is drawn at random or measured."""
    if isinstance(answer, list):
        return [_told(each, known, step) for each in answer]
    if not isinstance(answer, dict):
        return known.get(answer, answer) if isinstance(answer, str) else answer
    told: dict[str, Any] = {}
    for name, value in answer.items():
        if name in DURATIONS:
            continue
        if name in IDENTITIES and isinstance(value, str):
            told[name] = known.setdefault(value, f"first of step {step}")
        elif name == "parent_ids":
            told[name] = [known.get(each, f"first of step {step}") for each in value]
        else:
            told[name] = _told(value, known, step)
    return told
