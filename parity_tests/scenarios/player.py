"""Plays stories: calls an adapter step by step, and writes down all that it answers."""

from dataclasses import dataclass, field
from typing import Any

from amfs_sqlite import HANDOFF, AmfsAdapter, AmfsError, FixedClock, OutcomePolicy, SearchQuery
from parity_tests.scenarios.transcript import Transcript
from parity_tests.state import answers

SET_CLOCK = "set the clock"
ALL_PAGES = "search page by page"


@dataclass(frozen=True)
class Step:
    """One call of an operation of the protocol; or of one of the two above, which are ours."""

    operation: str
    arguments: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Story:
    """Named steps, the policy they are played under, and who looks at the end, None being the owner."""

    name: str
    steps: tuple[Step, ...]
    outcomes: OutcomePolicy = HANDOFF
    viewers: tuple[str | None, ...] = (None,)


def call(operation: str, *arguments: Any, **options: Any) -> Step:
    """A step that calls an operation."""
    return Step(operation, arguments, options)


def set_clock(at: str) -> Step:
    """A step that moves the clock, forward or back."""
    return Step(SET_CLOCK, (at,))


def all_pages(viewer: str | None = None, **query: Any) -> Step:
    """A step that follows a search to its last page."""
    return Step(ALL_PAGES, (SearchQuery(**query), viewer))


async def perform(adapter: AmfsAdapter, clock: FixedClock, step: Step) -> Any:
    """What a step returns, or the error it raises."""
    if step.operation == SET_CLOCK:
        clock.set(*step.arguments)
        return None
    if step.operation == ALL_PAGES:
        return await _pages(adapter, *step.arguments)
    try:
        return await getattr(adapter, step.operation)(*step.arguments, **step.options)
    except AmfsError as error:
        return error


async def play(adapter: AmfsAdapter, clock: FixedClock, story: Story) -> str:
    """The transcript of a story: what every step returned, and what each viewer sees at the end."""
    transcript = Transcript()
    for number, step in enumerate(story.steps, start=1):
        transcript.tell(f"{number}. {step.operation}", await perform(adapter, clock, step))
    for viewer in story.viewers:
        transcript.tell(f"seen by {viewer or 'the owner'}", await answers(adapter, viewer))
    return str(transcript)


async def _pages(adapter: AmfsAdapter, query: SearchQuery, viewer: str | None) -> list[dict[str, Any]]:
    pages = []
    cursor: str | None = ""
    while cursor is not None:
        page = await adapter.search(query.model_copy(update={"cursor": cursor}), viewer=viewer)
        cursor = page.next_cursor
        # A cursor is opaque: an adapter may make it as it likes.
        shown = {"found": [str(entry.ref) for entry in page.entries], "more": cursor is not None}
        counts = {"below": page.below_confidence_count, "expired": page.expired_count}
        pages.append(shown | counts)
    return pages
