"""What a giver asks for, checked: every limit has a name and an error that says it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from amfs_sqlite.errors import InvalidArgumentError
from amfs_sqlite.models import EntryRef
from amfs_sqlite.rules.hashing import canonical_json, digest
from amfs_sqlite.rules.limits import check_name
from amfs_sqlite.rules.visibility import is_system
from bridge.errors import ReservedPathError
from bridge.session import MAX_AGENT_CHARACTERS

MAX_SUMMARY_CHARACTERS = 10_000
MAX_STEPS = 100
MAX_QUESTIONS = 100
MAX_STEP_CHARACTERS = 4_000
MAX_PINS = 1_000
MAX_IDEMPOTENCY_KEY_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class Request:
    """A packet as it was asked for. ``refs`` None is everything the session touched."""

    summary: str
    next_steps: tuple[str, ...]
    open_questions: tuple[str, ...]
    refs: tuple[EntryRef, ...] | None
    to_agent: str | None

    @classmethod
    def checked(
        cls,
        summary: str,
        next_steps: Sequence[str],
        open_questions: Sequence[str],
        refs: Sequence[EntryRef] | None,
        to_agent: str | None,
    ) -> Self:
        """The request. Raises InvalidArgumentError and ReservedPathError."""
        _check_text(summary, "summary", MAX_SUMMARY_CHARACTERS)
        _check_texts(next_steps, "next_steps", MAX_STEPS)
        _check_texts(open_questions, "open_questions", MAX_QUESTIONS)
        if to_agent is not None:
            check_name(to_agent, "to_agent", MAX_AGENT_CHARACTERS)
            if not to_agent:
                raise InvalidArgumentError(
                    "to_agent", "is empty; name an agent, or leave it out for whoever comes"
                )
        for ref in refs or ():
            if is_system(ref.entity_path):
                raise ReservedPathError(ref.entity_path)
        return cls(
            summary=summary,
            next_steps=tuple(next_steps),
            open_questions=tuple(open_questions),
            refs=None if refs is None else tuple(refs),
            to_agent=to_agent,
        )

    def digest(self) -> str:
        """What an idempotency key of a giver stands for."""
        refs = None if self.refs is None else [ref.to_wire() for ref in self.refs]
        parts = [self.summary, self.next_steps, self.open_questions, refs, self.to_agent]
        return digest(canonical_json(parts))


def check_idempotency_key(idempotency_key: str | None) -> None:
    """A key of 1 to MAX_IDEMPOTENCY_KEY_CHARACTERS, or None."""
    if idempotency_key is None:
        return
    check_name(idempotency_key, "idempotency_key", MAX_IDEMPOTENCY_KEY_CHARACTERS)
    if not idempotency_key:
        raise InvalidArgumentError("idempotency_key", "is empty; give a key or none")


def check_pin_count(count: int) -> None:
    """At most MAX_PINS."""
    if count > MAX_PINS:
        raise InvalidArgumentError(
            "refs", f"are {count}; the limit is {MAX_PINS}: name the ones the next agent needs"
        )


def _check_texts(texts: Sequence[str], argument: str, limit: int) -> None:
    if isinstance(texts, str):
        raise InvalidArgumentError(argument, "is one text; it must be a list of texts")
    if len(texts) > limit:
        raise InvalidArgumentError(argument, f"are {len(texts)}; the limit is {limit}")
    for text in texts:
        _check_text(text, argument, MAX_STEP_CHARACTERS)


def _check_text(text: str, argument: str, limit: int) -> None:
    check_name(text, argument, limit)
    if not text.strip():
        raise InvalidArgumentError(argument, "is empty; say it in a few words")
