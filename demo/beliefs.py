"""What the two agents keep in the memory: the shapes of the values, and what each says in words."""

import json
from typing import Literal

from pydantic import BaseModel, ConfigDict, PositiveInt, TypeAdapter, ValidationError

from amfs_sqlite import EntryNotFoundError, MemoryEntry
from bridge.operations import entries
from bridge.session import Session

SHOWN_CHARACTERS = 80


class Shape(BaseModel):
    """A value that is stored as JSON. Its text is what the value says, in a few words."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Listing(Shape):
    """What a job board says about a job."""

    id: int
    title: str
    client: str
    deliverable: str
    budget_usd: int
    applicants: int

    @property
    def path(self) -> str:
        """Where the memory keeps all that is known about it."""
        return f"listing/{self.id}"

    def __str__(self) -> str:
        return f"{self.title}, ${self.budget_usd}, {self.applicants} applicants"


class Assessment(Shape):
    """Whether a job is worth an application."""

    verdict: Literal["apply", "maybe", "skip"]
    reason: str

    def __str__(self) -> str:
        return f'"{self.verdict}" ({self.reason})'


class RateLimit(Shape):
    """How long to wait when a source answers 429."""

    backoff_s: PositiveInt
    reason: str

    def __str__(self) -> str:
        return f"back off {self.backoff_s}s ({self.reason})"


class ApplicationForm(Shape):
    """What a source wants to read in an application: fields of its listings."""

    fields: tuple[str, ...]

    def __str__(self) -> str:
        return f"name {', '.join(self.fields)}"


class Application(Shape):
    """An application that was sent."""

    receipt: str
    text: str

    def __str__(self) -> str:
        return f"sent, receipt {self.receipt}"


Belief = Listing | Assessment | RateLimit | ApplicationForm | Application

_BELIEF: TypeAdapter[Belief] = TypeAdapter(Belief)


def belief(entry: MemoryEntry | None) -> Belief | None:
    """What an entry holds, or None where it is nothing these agents know."""
    if entry is None:
        return None
    try:
        return _BELIEF.validate_python(entry.value)
    except ValidationError:
        return None


def words(entry: MemoryEntry) -> str:
    """What an entry says."""
    known = belief(entry)
    return json.dumps(entry.value)[:SHOWN_CHARACTERS] if known is None else str(known)


def sure(entry: MemoryEntry) -> str:
    """Which version says what, and how sure that is."""
    return f"{entry.ref}, {entry.confidence:.0%} sure: {words(entry)}"


async def find(session: Session, path: str, key: str) -> MemoryEntry | None:
    """The current version of a record, or None where there is none yet."""
    try:
        return await entries.read(session, path, key)
    except EntryNotFoundError:
        return None


async def hold(
    session: Session, path: str, key: str, value: Shape, *, confidence: float = entries.DEFAULT_CONFIDENCE
) -> MemoryEntry:
    """Remember a belief; the record as it stands then."""
    remembered = await entries.remember(
        session, path, key, value.model_dump(mode="json"), confidence=confidence
    )
    return remembered.entry
