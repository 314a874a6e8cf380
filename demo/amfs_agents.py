"""The walkthrough's two agents in AMFS's manner: all they know is the AgentMemory they are given.

One of them alone on a file of yours: `MEMORY_DB=shared.db python -m demo.amfs_agents scout`
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from amfs_sqlite import AMFS_0_3, AgentMemory, AmfsError, MemoryEntry, SqliteAdapter
from demo.beliefs import Assessment, Listing, RateLimit, Shape, sure
from demo.console import plain
from demo.job_board import JobBoard
from demo.patience import Patience
from demo.process import FILE_VARIABLE
from demo.scout import FIRST_GUESS, GUESSED, SEEN_ONCE, verdict

INBOX = "handoff/executor"
PACKET = "packet-1"
FOUND = 0.8

Tell = Callable[[str], None]
Agent = Callable[[AgentMemory, Tell], Awaitable[None]]


class Pin(Shape):
    """One version of one entry."""

    path: str
    key: str
    version: int


class Packet(Shape):
    """Work to be handed over. AMFS has no packets, so it is an entry like any other."""

    summary: str
    next_step: str
    pins: tuple[Pin, ...]


async def scout(memory: AgentMemory, tell: Tell) -> None:
    """Write down what the board offers, correct what was wrong, and open a packet."""
    board = JobBoard("morning")
    limit = await hold(memory, f"source/{board.name}", "rate-limit", FIRST_GUESS, confidence=GUESSED)
    tell(sure(limit))
    patience = Patience(board, FIRST_GUESS)
    ids, _ = patience.ask(board.index)
    findings = memory.transaction("what the board offers")
    for listing in [patience.ask(partial(board.listing, each)) for each in ids]:
        reason = f"${listing.budget_usd}, {listing.applicants} applicants"
        opinion = Assessment(verdict=verdict(listing), reason=reason)
        findings.write(listing.path, "facts", listing.model_dump(mode="json"), confidence=FOUND)
        findings.write(listing.path, "assessment", opinion.model_dump(mode="json"), confidence=FOUND)
    await findings.commit()
    assessed = [await read(memory, f"listing/{each}", "assessment") for each in ids]
    for entry in assessed:
        tell(sure(entry))
    if patience.lesson is not None:
        tell(f"a wrong guess: {patience}")
        limit = await hold(memory, limit.entity_path, limit.key, patience.lesson, confidence=SEEN_ONCE)
        tell(sure(limit))
    facts = await read(memory, assessed[0].entity_path, "facts")
    pins = [
        Pin(path=each.entity_path, key=each.key, version=each.version) for each in (facts, assessed[0], limit)
    ]
    packet = Packet(
        summary="one listing, one caveat", next_step=f"apply for {facts.entity_path}", pins=tuple(pins)
    )
    opened = await hold(memory, INBOX, PACKET, packet, confidence=1.0, tags=("open",))
    tell(f"{opened.ref}: {packet.summary}; next: {packet.next_step}")


async def executor(memory: AgentMemory, tell: Tell) -> None:
    """Read the packet and what it names, act on that, and say how each turned out."""
    packet = Packet.model_validate((await read(memory, INBOX, PACKET)).value)
    tell(f"{INBOX}/{PACKET}: {packet.summary}; next: {packet.next_step}")
    facts, assessment, limit = [await read(memory, pin.path, pin.key) for pin in packet.pins]
    for pin, entry in zip(packet.pins, (facts, assessment, limit), strict=True):
        tell(sure(entry))
        if entry.version != pin.version:
            tell(f"that was pinned at v{pin.version}")
    listing = Listing.model_validate(facts.value)
    patience = Patience(JobBoard("afternoon"), RateLimit.model_validate(limit.value))
    receipt = patience.ask(partial(patience.board.apply, listing.id, listing.deliverable))
    heard = str(patience if patience.lesson is None else patience.lesson)
    memory.record_context(patience.board.name, heard)
    tell(f"applied for {listing.path}, receipt {receipt}")
    await report(memory, tell, receipt, "success", assessment)
    await report(memory, tell, receipt, "success" if patience.lesson is None else "failure", limit)
    explained = await memory.explain(receipt)
    for each in explained.causal_entries:
        before = ", before its outcome" if each.entry.version > each.read_version else ""
        tell(f"explain {receipt}: {each.entry.ref} was read at v{each.read_version}{before}")
    for context in explained.external_contexts:
        tell(f"explain {receipt}: {context.label} said {context.summary}")


async def hold(
    memory: AgentMemory, path: str, key: str, value: Shape, *, confidence: float, tags: Sequence[str] = ()
) -> MemoryEntry:
    """Write a value; the entry as it stands then."""
    return await memory.write(
        path, key, value.model_dump(mode="json"), confidence=confidence, pattern_refs=tags
    )


async def read(memory: AgentMemory, path: str, key: str) -> MemoryEntry:
    """The current version of what must be there. Raises LookupError where it is not."""
    entry = await memory.read(path, key)
    if entry is None:
        raise LookupError(f"there is no {path}/{key}; run the scout on the same memory first")
    return entry


async def report(memory: AgentMemory, tell: Tell, ref: str, outcome: str, entry: MemoryEntry) -> None:
    """Commit one outcome of one entry."""
    (moved,) = await memory.commit_outcome(ref, outcome, [f"{entry.entity_path}/{entry.key}"])
    change = f"confidence {entry.confidence:.2f} -> {moved.confidence:.3f}"
    tell(f"{outcome} on {entry.entity_path}/{entry.key}: {change}, now v{moved.version}")


AGENTS: dict[str, Agent] = {"scout": scout, "executor": executor}


def main(arguments: Sequence[str] | None = None) -> int:
    """Let one agent do its work on the file that MEMORY_DB names; the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    path = os.environ.get(FILE_VARIABLE)
    if len(given) != 1 or given[0] not in AGENTS or not path:
        usage = f"{FILE_VARIABLE}=shared.db python -m demo.amfs_agents {'|'.join(AGENTS)}"
        print(f"usage: {usage}", file=sys.stderr)
        return 2
    try:
        asyncio.run(_at_work(path, given[0]))
    except (AmfsError, LookupError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


async def _at_work(path: str, name: str) -> None:
    async with SqliteAdapter(path, outcomes=AMFS_0_3) as adapter:
        memory = AgentMemory(f"{name}-agent", adapter=adapter)
        await AGENTS[name](memory, lambda text: print(plain(text)))


if __name__ == "__main__":
    sys.exit(main())
