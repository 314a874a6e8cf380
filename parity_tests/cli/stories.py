"""A store that agents have worked on, for the command to look at."""

import hashlib
from datetime import timedelta
from pathlib import Path
from typing import Any

from amfs_sqlite import HANDOFF, EntryRef, FixedClock, SqliteAdapter
from bridge.operations import entries, outcomes, packets
from bridge.session import Session
from parity_tests.drafts import draft

HOSTILE_KEY = "key\nnot_found: a second line\x1b[31m\u202e"
HOSTILE_VALUE = "first\n\x1b]0;title\x07\x9b2J\u2028\u202egnp\u2066\x00\x7f\u200b\U000e0041 last"


class ScatteredIds:
    """Identifiers that are the same in every run and differ from their first digit on."""

    def __init__(self) -> None:
        self.count = 0

    def hex(self, digits: int) -> str:
        self.count += 1
        return hashlib.sha256(b"%d" % self.count).hexdigest()[:digits]


class Desk:
    """Agents at work on one file, a minute between what they do."""

    def __init__(self, adapter: SqliteAdapter, clock: FixedClock) -> None:
        self.adapter = adapter
        self.clock = clock
        self.ids = ScatteredIds()

    def session(self, agent: str, *, lease_s: float | None = None) -> Session:
        """A session of an agent, a minute later than what was before."""
        self.clock.set(self.clock.now() + timedelta(minutes=1))
        return Session(self.adapter, agent, f"{agent}-1", clock=self.clock, ids=self.ids, lease_s=lease_s)


async def handover(path: Path) -> None:
    """A scout hands three records over and edits one; the executor takes them and reports."""
    clock = FixedClock("2026-01-01T09:00:00Z")
    async with SqliteAdapter(path, outcomes=HANDOFF, clock=clock, ids=ScatteredIds()) as adapter:
        desk = Desk(adapter, clock)
        scout = desk.session("scout")
        apply = {"verdict": "apply", "fee": 900}
        await entries.remember(scout, "listing/482", "assessment", apply, tags=["job"])
        await entries.remember(scout, "listing/553", "assessment", "apply: price monitor", confidence=0.7)
        await entries.remember(scout, "source/boards", "rate-limit", "60 s after 429", confidence=0.6)
        await entries.remember(scout, "notes", "draft", [1, None], shared=False)
        scout = desk.session("scout")
        refs = [EntryRef(entity_path="listing/553", key="assessment")]
        refs += [EntryRef(entity_path="source/boards", key="rate-limit")]
        await packets.give(
            scout,
            "Two listings worth an application",
            next_steps=["Draft an application for listing/553"],
            open_questions=["Is a backoff of 60 s enough?"],
            refs=refs,
        )
        await entries.remember(desk.session("scout"), "listing/553", "assessment", "maybe: fee cut to $400")
        executor = desk.session("executor")
        taken = await packets.take(executor)
        assert isinstance(taken, packets.Taken)
        await outcomes.record_outcome(
            desk.session("executor"),
            "success",
            "run-7",
            refs=[EntryRef(entity_path="listing/482", key="assessment")],
            note="invited to talk",
        )
        executor = desk.session("executor")
        await outcomes.record_outcome(
            executor,
            "failure",
            "run-8",
            refs=[pin.ref for pin in taken.packet.pins],
            handoff_id=taken.packet.id,
        )
        await packets.give(desk.session("executor"), "Ask again in a week", refs=[], to_agent="scout")
        await packets.give(desk.session("executor"), "Anybody: sort the notes", refs=[])
        await packets.take(desk.session("third agent", lease_s=600))


async def hostile(path: Path) -> None:
    """Names and texts that try to be something else on a terminal, wherever text can stand."""
    clock = FixedClock("2026-01-01T09:00:00Z")
    async with SqliteAdapter(path, outcomes=HANDOFF, clock=clock, ids=ScatteredIds()) as adapter:
        desk = Desk(adapter, clock)
        session = desk.session(f"agent {HOSTILE_VALUE}")
        await entries.remember(
            session, f"scope {HOSTILE_KEY}", HOSTILE_KEY, HOSTILE_VALUE, tags=[HOSTILE_KEY], shared=False
        )
        await entries.remember(session, "plain", HOSTILE_KEY, {HOSTILE_KEY: [HOSTILE_VALUE]})
        await entries.remember(session, "caf\u00e9/\u6771\u4eac", "\u2603", "na\u00efve \u4eca\u5929")
        more: dict[str, Any] = {
            "artifact_refs": [{"uri": HOSTILE_VALUE, "label": HOSTILE_KEY}],
            "ttl_at": "2126-01-01",
            HOSTILE_KEY: HOSTILE_VALUE,
        }
        await adapter.write(draft("plain", "more", **more))
        await packets.give(
            session,
            HOSTILE_VALUE,
            next_steps=[HOSTILE_VALUE],
            open_questions=[HOSTILE_VALUE],
            to_agent=f"agent {HOSTILE_VALUE}",
        )
        await outcomes.record_outcome(session, "failure", HOSTILE_KEY, note=HOSTILE_VALUE)
