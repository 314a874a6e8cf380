"""Steps drawn by chance from small pools, so that they meet often; the same seed draws the same."""

import random
from collections.abc import Callable
from typing import Any

from amfs_sqlite import Commit, EntryRef, MemoryEntry, Outcome, OutcomeRecord, OutcomeType, Write
from amfs_sqlite.models import Change
from parity_tests.drafts import draft, outcome
from parity_tests.scenarios.player import Step, all_pages, call, set_clock

PATHS = ["p", "p", "p/q", "pq", "_system/h", "é"]
KEYS = ["k", "k", "q/k", "K"]
AGENTS = ["alice", "bob"]
WORDS = ["blue", "green", "部署方案", "a_b"]
VALUES: list[Any] = ["blue green", {"z": [1.0, None], "a": "green"}, 1, 1.0, "今天部署方案", "blue"]
INSTANTS = [f"2026-0{month}-01" for month in range(1, 7)]
BAD: list[dict[str, Any]] = [{"value": float("nan")}, {"path": ""}, {"confidence": float("inf")}]


class Chance:
    """Draws steps: mostly good ones, some that must fail."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - to be repeated, not to be secret

    def change(self) -> Step:
        """A step that may change something."""
        kinds: list[tuple[Callable[[], Step], int]] = [
            (self._write, 6),
            (self._batch, 2),
            (self._outcome, 5),
            (self._commit, 3),
            (self._save, 2),
            (self._clock, 1),
        ]
        drawn = self.random.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])
        return drawn[0]()

    def question(self) -> Step:
        """A step that only asks."""
        path, key, viewer = self._path(), self._key(), self._viewer()
        limit = self.random.choice([None, 0, 1, 2, 5])
        before = self.random.choice([None, 3, 8, 20])
        return self.random.choice(
            [
                call("read", path, key, min_confidence=self._confidence(), viewer=viewer),
                call("read_at_version", path, key, self._version(), viewer=viewer),
                call("list", path, descendants=self._flip(), viewer=viewer),
                call("list", include_superseded=True, include_system=False, viewer=viewer),
                call("history", path, key, limit=limit, viewer=viewer),
                call("history", path, key, since=self._instant(), until=self._instant()),
                call("history", path, key, after_version=self._version()),
                call("list_commits", limit=limit, before=before, viewer=viewer),
                call("list_outcomes", key=key, limit=limit, before=before, viewer=viewer),
                call("list_outcomes", entity_path=path, outcome_ref="r1", viewer=viewer),
                call("common_ancestor", self._commit_id(), self._commit_id()),
                call("get_commit", self._commit_id(), viewer=viewer),
                call("recorded_result", self._idempotency_key() or "i1", author=self._agent()),
                call("scopes", path, viewer=viewer),
                call("stats", include_system=self._flip(), viewer=viewer),
                self._search(viewer),
                self._search(viewer),
            ]
        )

    def _write(self) -> Step:
        expected = self.random.choice([None, None, 0, 1, 2])
        key = self._idempotency_key()
        return call("write", self._entry(), expected_version=expected, idempotency_key=key)

    def _batch(self) -> Step:
        commit_id = self.random.choice([None, "c1", "c2"])
        entries = [self._entry(commit_id=commit_id) for _ in range(self.random.randrange(4))]
        return call("write_batch", entries, idempotency_key=self._idempotency_key())

    def _outcome(self) -> Step:
        return call("commit_outcome", self._record())

    def _commit(self) -> Step:
        changes: list[Change] = [
            Write(self._entry(), self.random.choice([None, None, None, 0, 1]))
            if self._flip()
            else Outcome(self._record())
            for _ in range(self.random.randrange(1, 5))
        ]
        options = {"message": self.random.choice(WORDS), "idempotency_key": self._idempotency_key()}
        return call("commit", changes, author=self._agent(), **options)

    def _save(self) -> Step:
        parents = [self._commit_id() for _ in range(self.random.randrange(3))]
        fields = {
            "id": self.random.choice(["c1", "c2", "c3", "c4"]),
            "author_agent_id": self._agent(),
            "message": self.random.choice(WORDS),
            "parent_ids": parents,
            "created_at": self._instant(),
        }
        return call("save_commit", Commit.model_validate(fields))

    def _clock(self) -> Step:
        return set_clock(self._instant())

    def _search(self, viewer: str | None) -> Step:
        filters: dict[str, Any] = {
            "entity_path": self._path(),
            "key": self._key(),
            "tag": self.random.choice(WORDS),
            "text": self.random.choice([*WORDS, "gre*", '"blue green"', "部署", "1", '"']),
            "min_confidence": self._confidence(),
            "include_system": False,
            "sort_by": "oldest",
        }
        asked = self.random.sample(sorted(filters), self.random.randrange(3))
        chosen = {name: filters[name] for name in asked}
        return all_pages(viewer, limit=self.random.choice([1, 2, None]), **chosen)

    def _entry(self, **fields: Any) -> MemoryEntry:
        named: dict[str, Any] = {
            "path": self._path(),
            "key": self._key(),
            "value": self.random.choice(VALUES),
            "agent": self._agent(),
            "confidence": self._confidence(),
            "shared": self.random.random() < 0.7,
            "tags": tuple(self.random.sample(WORDS, self.random.randrange(3))),
            "ttl_at": self._instant() if self.random.random() < 0.2 else None,
        }
        if self.random.random() < 0.05:
            named |= self.random.choice(BAD)
        return draft(**named, **fields)

    def _record(self) -> OutcomeRecord:
        named: list[EntryRef | str] = []
        for _ in range(self.random.randrange(4)):
            path, key = self._path(), self._key()
            version = self.random.choice([None, None, 1, 2])
            ref = EntryRef(entity_path=path, key=key, version=version)
            named.append(ref if self.random.random() < 0.3 else f"{path}/{key}")
        return outcome(
            self.random.choice([*OutcomeType, "success", "success", "great"]),
            *named,
            outcome_ref=self.random.choice(["r1", "r2", "r3", "r4"]),
            agent=self._agent(),
            causal_confidence=self.random.choice([1.0, 1.0, 0.5]),
        )

    def _path(self) -> str:
        return self.random.choice(PATHS)

    def _key(self) -> str:
        return self.random.choice(KEYS)

    def _agent(self) -> str:
        return self.random.choice(AGENTS)

    def _viewer(self) -> str | None:
        return self.random.choice([None, *AGENTS, "carol"])

    def _version(self) -> int:
        return self.random.randrange(6)

    def _confidence(self) -> float:
        return self.random.choice([0.0, 0.25, 0.5, 0.8, 1.0])

    def _instant(self) -> str:
        return self.random.choice(INSTANTS)

    def _commit_id(self) -> str:
        return self.random.choice(["c1", "c2", "c3", "c4", f"{self.random.randrange(2, 9):016x}"])

    def _idempotency_key(self) -> str | None:
        return self.random.choice([None, None, None, "i1", "i2"])

    def _flip(self) -> bool:
        return self.random.random() < 0.5
