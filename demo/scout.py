"""The first agent: crawls a job board, writes down what it found, hands over, and looks again.

Alone on a file of yours: `MEMORY_DB=shared.db python -m demo.scout`
"""

import sys
from collections.abc import Sequence
from functools import partial
from typing import Literal

from amfs_sqlite import MemoryEntry
from bridge.operations import packets
from bridge.operations.packets import Packet, Taken
from bridge.session import Session
from demo.beliefs import Assessment, Listing, RateLimit, belief, find, hold, sure
from demo.console import Console
from demo.job_board import JobBoard
from demo.patience import Patience
from demo.process import run
from demo.ritual import hand_over, pick_up, report

AGENT = "scout-agent"
COLLEAGUE = "executor-agent"

GOOD_BUDGET_USD = 500
FAIR_BUDGET_USD = 300
MANY_APPLICANTS = 20

FIRST_GUESS = RateLimit(backoff_s=30, reason="a guess")
GUESSED = 0.5
SEEN_ONCE = 0.6

COUNTS = {1: "One listing", 2: "Two listings", 3: "Three listings"}


async def work(session: Session, console: Console) -> None:
    """One day of the scout."""
    waiting = await packets.peek(session)
    taken = await pick_up(session, console) if isinstance(waiting, Taken) else None

    console.section("crawl the job board")
    listings, source = await crawl(session, console, None if taken is None else taken.packet)

    console.section("write down what is worth an application")
    assessed = [(each, await assess(session, console, each)) for each in listings]
    worthy = [(listing, entry) for listing, entry in assessed if is_worthy(entry)]

    console.section("hand over, pinned to exact versions")
    packet = await give(session, console, worthy, source)

    console.section("look again, after the handoff")
    later = JobBoard("midday")
    for listing, _ in worthy:
        await assess(session, console, later.listing(listing.id))
    console.line(f"packet {packet.id} keeps its pins: versions are added, never overwritten")


async def crawl(
    session: Session, console: Console, packet: Packet | None
) -> tuple[list[Listing], list[MemoryEntry]]:
    """Read the board; also returns what is held about the board itself, its rate limit first."""
    board = JobBoard("morning")
    path = f"source/{board.name}"
    known = await find(session, path, "rate-limit")
    limit = belief(known)
    if known is None or not isinstance(limit, RateLimit):
        limit = FIRST_GUESS
        known = await hold(session, path, "rate-limit", limit, confidence=GUESSED)
    console.line(sure(known))
    patience = Patience(board, limit)
    ids, form = patience.ask(board.index)
    listings = [patience.ask(partial(board.listing, each)) for each in ids]
    console.line(f"{len(listings)} listings read; {patience}")
    proven = [] if limit is FIRST_GUESS else patience.outcomes(known.ref)
    await report(session, console, proven, packet)
    if patience.lesson is not None:
        known = await hold(session, path, "rate-limit", patience.lesson, confidence=SEEN_ONCE)
        console.line(sure(known))
    return listings, [known, await hold(session, path, "application-form", form)]


async def assess(session: Session, console: Console, listing: Listing) -> MemoryEntry:
    """Hold a listing and what it is worth; what is known already is not written again."""
    before = belief(await find(session, listing.path, "facts"))
    standing = await find(session, listing.path, "assessment")
    if before == listing and standing is not None:
        console.line(f"{listing.path}/assessment v{standing.version} stands: nothing changed")
        return standing
    await hold(session, listing.path, "facts", listing)
    reason = f"${listing.budget_usd}, {listing.applicants} applicants"
    if isinstance(before, Listing) and before != listing:
        reason = changes(before, listing)
    opinion = Assessment(verdict=verdict(listing), reason=reason)
    entry = await hold(session, listing.path, "assessment", opinion)
    console.line(f"{listing.path}/assessment v{entry.version}: {opinion}")
    return entry


async def give(
    session: Session,
    console: Console,
    worthy: Sequence[tuple[Listing, MemoryEntry]],
    source: Sequence[MemoryEntry],
) -> Packet:
    """Hand over what the next agent needs, pinned to the versions meant."""
    limit = belief(source[0])
    backoff = f"{limit.backoff_s}s backoff" if isinstance(limit, RateLimit) else "backoff"
    count = COUNTS.get(len(worthy), f"{len(worthy)} listings")
    return await hand_over(
        session,
        console,
        COLLEAGUE,
        f"{count} worth an application, one source caveat",
        next_steps=[
            f"Draft an application for {each.path} ({each.title}, ${each.budget_usd})" for each, _ in worthy
        ],
        open_questions=[f"Is the {backoff} enough, or does the board keep a longer penalty window?"],
        refs=[entry.ref for entry in (*(entry for _, entry in worthy), *source)],
    )


def is_worthy(entry: MemoryEntry) -> bool:
    """Whether an assessment says to apply."""
    opinion = belief(entry)
    return isinstance(opinion, Assessment) and opinion.verdict == "apply"


def verdict(listing: Listing) -> Literal["apply", "maybe", "skip"]:
    """What the scout makes of a listing."""
    if listing.budget_usd < FAIR_BUDGET_USD:
        return "skip"
    if listing.budget_usd < GOOD_BUDGET_USD or listing.applicants >= MANY_APPLICANTS:
        return "maybe"
    return "apply"


def changes(before: Listing, after: Listing) -> str:
    """What happened to a listing, in words."""
    found = []
    if after.budget_usd != before.budget_usd:
        way = "down" if after.budget_usd < before.budget_usd else "up"
        found.append(f"budget edited {way} to ${after.budget_usd}")
    more = after.applicants - before.applicants
    if more > 0:
        found.append(f"{more} more applicants arrived")
    elif more < 0:
        found.append(f"{-more} applicants withdrew")
    return " and ".join(found) or "the text was edited"


if __name__ == "__main__":
    sys.exit(run(AGENT, "demo.scout", work))
