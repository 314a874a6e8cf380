"""The second agent: knows nothing but what it picks up, acts on that, and hands back.

Alone on a file of yours: `MEMORY_DB=shared.db python -m demo.executor`
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from amfs_sqlite import EntryRef, MemoryEntry
from bridge.operations import entries
from bridge.operations.packets import Taken
from bridge.session import Session
from demo.beliefs import (
    Application,
    ApplicationForm,
    Assessment,
    Listing,
    RateLimit,
    Shape,
    belief,
    find,
    hold,
    sure,
    words,
)
from demo.console import Console
from demo.job_board import JobBoard
from demo.patience import Patience
from demo.process import run
from demo.ritual import Outcome, decline, hand_over, pick_up, report, say_steps

AGENT = "executor-agent"

SEEN_ONCE = 0.6

InHand = Mapping[tuple[str, str], MemoryEntry]
ShapeT = TypeVar("ShapeT", bound=Shape)


@dataclass(frozen=True)
class Sent:
    """An application, and the assessment that it relied on."""

    application: Application
    relied_on: EntryRef


async def work(session: Session, console: Console) -> None:
    """From one packet to the next."""
    taken = await pick_up(session, console)
    if taken is None:
        console.line("for some work, run on the same file: python -m demo.scout")
        return

    console.section("read the pinned records")
    for record in taken.records:
        console.line(sure(record))

    console.section("re-read anything the warning touched")
    in_hand = await reread(session, console, taken)
    limits, forms = holding(RateLimit, in_hand), holding(ApplicationForm, in_hand)
    if not limits or not forms:
        await decline(session, console, taken.packet)
        return

    console.section("act on what is left")
    (limit, rate_limit), (_, form) = limits[0], forms[0]
    patience = Patience(JobBoard("afternoon"), rate_limit)
    sent = await act(session, console, patience, form, in_hand)

    console.section("report what actually happened")
    happened: list[Outcome] = [("success", [each.relied_on]) for each in sent]
    await report(session, console, happened + patience.outcomes(limit.ref), taken.packet)

    console.section("hand back")
    if patience.lesson is not None:
        path, key = limit.entity_path, limit.key
        learned = await hold(session, path, key, patience.lesson, confidence=SEEN_ONCE)
        console.line(sure(learned))
    opinions = holding(Assessment, in_hand)
    dropped = [entry.entity_path for entry, opinion in opinions if opinion.verdict != "apply"]
    await hand_back(session, console, taken.packet.from_agent, patience, sent=sent, dropped=dropped)


async def reread(session: Session, console: Console, taken: Taken) -> InHand:
    """What to go by: what was pinned, but of what has moved on the version that stands there now."""
    in_hand = {(each.entity_path, each.key): each for each in taken.records}
    for stale in taken.stale:
        path, key = stale.entity_path, stale.key
        if stale.current_version is None:
            in_hand.pop((path, key), None)
            console.line(f"{path}/{key} is left out: {stale.change}")
            continue
        in_hand[path, key] = now = await entries.read(session, path, key)
        opinion = belief(now)
        name = path if isinstance(opinion, Assessment) else f"{path}/{key}"
        console.line(f"{name} v{now.version} now says {words(now)}")
        if isinstance(opinion, Assessment) and opinion.verdict != "apply":
            console.line(f"dropping {path} - acting on the pinned v{stale.pinned_version} would be wrong")
    if not taken.stale:
        console.line("there was no warning: what is pinned still stands")
    return in_hand


async def act(
    session: Session, console: Console, patience: Patience, form: ApplicationForm, in_hand: InHand
) -> list[Sent]:
    """Apply for every listing that is worth it."""
    sent = []
    for assessment, opinion in holding(Assessment, in_hand):
        if opinion.verdict == "apply":
            application = await apply(session, console, patience, form, assessment.entity_path)
            if application is not None:
                sent.append(Sent(application, assessment.ref))
    if not sent:
        console.line("there is nothing to send")
    return sent


async def apply(
    session: Session, console: Console, patience: Patience, form: ApplicationForm, path: str
) -> Application | None:
    """Draft an application from what is known of the listing, and send it; once for each listing."""
    earlier = belief(await find(session, path, "application"))
    if isinstance(earlier, Application):
        console.line(f"{path} has its application already ({earlier.receipt})")
        return None
    listing = belief(await find(session, path, "facts"))
    if not isinstance(listing, Listing):
        console.line(f"{path} has no facts to draft an application from")
        return None
    text = draft(form, listing)
    console.line(f"draft for {path}: {text}")
    receipt = patience.ask(partial(patience.board.apply, listing.id, text))
    console.line(f"sent; {patience}")
    application = Application(receipt=receipt, text=text)
    entry = await hold(session, path, "application", application)
    console.line(f"{entry.ref}: {application}")
    return application


async def hand_back(
    session: Session,
    console: Console,
    to_agent: str,
    patience: Patience,
    *,
    sent: Sequence[Sent],
    dropped: Sequence[str],
) -> None:
    """Tell the giver what became of the packet, and what was learned."""
    done = [f"applied for {each.relied_on.entity_path}" for each in sent]
    done += [f"dropped {each}" for each in dropped]
    next_steps = [f"Watch for an answer to {each.application.receipt}" for each in sent]
    if patience.lesson is not None:
        done.append(f"{patience.limit.backoff_s}s too short")
        next_steps.append(f"Crawl {patience.board.name} with a backoff of {patience.lesson.backoff_s}s")
    summary = ", ".join(done) or "nothing was left to do"
    packet = await hand_over(
        session,
        console,
        to_agent,
        summary[0].upper() + summary[1:],
        next_steps=next_steps,
        open_questions=[f"Is {each} worth another look later?" for each in dropped],
    )
    say_steps(console, packet)


def draft(form: ApplicationForm, listing: Listing) -> str:
    """An application: what the form asks for, as the listing has it."""
    facts = listing.model_dump(mode="json")
    return ", ".join(f"{field} {facts[field]}" for field in form.fields if field in facts)


def holding(shape: type[ShapeT], in_hand: InHand) -> list[tuple[MemoryEntry, ShapeT]]:
    """The records in hand that hold a belief of this shape, each with it."""
    known = [(each, belief(each)) for each in in_hand.values()]
    return [(entry, each) for entry, each in known if isinstance(each, shape)]


if __name__ == "__main__":
    sys.exit(run(AGENT, "demo.executor", work))
