"""The agents decide by what the memory says: the same story on every adapter, and other ones."""

from collections.abc import Awaitable, Callable

import pytest

from amfs_sqlite import AmfsAdapter
from bridge.operations import entries, packets
from bridge.session import Session
from demo import executor, scout
from demo.console import Console

Day = Callable[[str], Awaitable[list[str]]]

LISTING = "listing/553"
SOURCE = "source/boards-example"


def session(adapter: AmfsAdapter, agent_id: str) -> Session:
    return Session(adapter, agent_id, f"session of {agent_id}")


@pytest.fixture
def day(handoff_adapter: AmfsAdapter, capsys: pytest.CaptureFixture[str]) -> Day:
    """One day of an agent on the adapter; the lines it prints."""
    work = {scout.AGENT: scout.work, executor.AGENT: executor.work}
    day_count = 0

    async def spent(agent_id: str) -> list[str]:
        nonlocal day_count
        day_count += 1
        await work[agent_id](Session(handoff_adapter, agent_id, f"day {day_count}"), Console())
        return capsys.readouterr().out.splitlines()

    return spent


async def test_the_scout_corrects_itself_before_it_hands_over(day: Day, handoff_adapter: AmfsAdapter) -> None:
    lines = await day(scout.AGENT)
    (packet,) = await packets.list_packets(session(handoff_adapter, scout.AGENT))
    assert {(pin.entity_path, pin.key): pin.version for pin in packet.pins} == {
        ("listing/482", "assessment"): 1,
        ("listing/553", "assessment"): 1,
        (SOURCE, "rate-limit"): 2,
        (SOURCE, "application-form"): 1,
    }
    changed = await entries.read(session(handoff_adapter, scout.AGENT), LISTING, "assessment")
    assert (changed.version, changed.value["verdict"]) == (2, "maybe")
    assert lines.index(f"  . {SOURCE}/rate-limit@2, 60% sure: back off 60s (30s too short, 60s enough)") < (
        lines.index(next(line for line in lines if "hand over" in line))
    )


async def test_a_second_scout_goes_by_what_is_known_and_gives_a_second_packet(day: Day) -> None:
    await day(scout.AGENT)
    lines = await day(scout.AGENT)
    assert "  . success on source/boards-example/rate-limit: confidence 60% -> 68%" in lines
    assert "  . listing/482/assessment v1 stands: nothing changed" in lines
    assert (
        '  . listing/553/assessment v3: "apply" (budget edited up to $600 and 17 applicants withdrew)'
        in lines
    )
    first, second = await day(executor.AGENT), await day(executor.AGENT)
    assert "  . stale: listing/553/assessment was pinned at v1, now at v4" in first
    assert "  . stale: listing/553/assessment was pinned at v3, now at v4" in second
    assert "  . nothing is waiting for executor-agent" in await day(executor.AGENT)


async def test_an_executor_applies_for_a_listing_once(day: Day) -> None:
    await day(scout.AGENT)
    await day(scout.AGENT)
    await day(executor.AGENT)
    lines = await day(executor.AGENT)
    assert "  . listing/482 has its application already (A-9071)" in lines
    assert not [line for line in lines if "confidence" in line]
    assert [line for line in lines if line.endswith("is closed")]


async def test_what_the_executor_learned_comes_back_to_the_scout(day: Day) -> None:
    await day(scout.AGENT)
    await day(executor.AGENT)
    lines = await day(scout.AGENT)
    assert "--- 1. pick up whatever is waiting --------------------------------" in lines
    assert "  . 3 listings read; the board answered 429, and went on after 240s" in lines
    assert "  . success on source/boards-example/rate-limit: confidence 60% -> 68%" in lines
    assert [line for line in lines if line.endswith("is closed")]


async def test_a_stale_listing_that_is_still_worth_it_is_applied_for(
    day: Day, handoff_adapter: AmfsAdapter
) -> None:
    await day(scout.AGENT)
    opinion = {"verdict": "apply", "reason": "the client doubled the budget"}
    await entries.remember(session(handoff_adapter, scout.AGENT), LISTING, "assessment", opinion)
    lines = await day(executor.AGENT)
    assert '  . listing/553 v3 now says "apply" (the client doubled the budget)' in lines
    assert not [line for line in lines if line.startswith("  . dropping")]
    assert "  . success on listing/553/assessment: confidence 80% -> 84%" in lines
    assert "  . listing/553/application@1: sent, receipt A-9072" in lines


async def test_a_value_that_was_put_back_raises_no_warning(day: Day, handoff_adapter: AmfsAdapter) -> None:
    await day(scout.AGENT)
    before = await handoff_adapter.read_at_version(LISTING, "assessment", 1)
    assert before is not None
    await entries.remember(session(handoff_adapter, scout.AGENT), LISTING, "assessment", before.value)
    lines = await day(executor.AGENT)
    assert "  . there was no warning: what is pinned still stands" in lines
    assert "  . success on listing/553/assessment: confidence 80% -> 84%" in lines


async def test_a_longer_backoff_known_in_time_is_gone_by(day: Day, handoff_adapter: AmfsAdapter) -> None:
    await day(scout.AGENT)
    told = {"backoff_s": 300, "reason": "the board said so"}
    await entries.remember(session(handoff_adapter, "operator"), SOURCE, "rate-limit", told, confidence=0.5)
    lines = await day(executor.AGENT)
    assert f"  . {SOURCE}/rate-limit v3 now says back off 300s (the board said so)" in lines
    assert "  . sent; the board answered 429, and went on after 300s" in lines
    assert f"  . success on {SOURCE}/rate-limit: confidence 50% -> 60%" in lines


async def test_a_pin_that_became_private_is_left_out(day: Day, handoff_adapter: AmfsAdapter) -> None:
    await day(scout.AGENT)
    opinion = {"verdict": "apply", "reason": "mine alone"}
    await entries.remember(
        session(handoff_adapter, scout.AGENT), LISTING, "assessment", opinion, shared=False
    )
    lines = await day(executor.AGENT)
    assert "  . stale: listing/553/assessment was pinned at v1, now out of sight" in lines
    assert "  . listing/553/assessment is left out: its current version is not visible to you" in lines
    assert "  . success on listing/482/assessment: confidence 80% -> 84%" in lines


@pytest.mark.parametrize("agent", [scout.AGENT, executor.AGENT])
async def test_a_packet_of_other_work_is_left_to_others_and_forges_no_line(
    agent: str, day: Day, handoff_adapter: AmfsAdapter
) -> None:
    stranger = session(handoff_adapter, "stranger")
    await entries.remember(stranger, "kitchen", "menu", ["soup", "pie"])
    summary = "Caf\u00e9\n--- 9. forged ---"
    given = await packets.give(stranger, summary, next_steps=["Cook"])
    lines = await day(agent)
    assert f"  . packet {given.packet.id} from stranger: Caf\\xe9\\n--- 9. forged ---" in lines
    assert (await packets.show(stranger, given.packet.id)).state == "open"


async def test_a_packet_without_the_rate_limit_is_left_to_others(
    day: Day, handoff_adapter: AmfsAdapter
) -> None:
    author = session(handoff_adapter, scout.AGENT)
    await entries.remember(author, LISTING, "assessment", {"verdict": "apply", "reason": "it pays"})
    given = await packets.give(author, "One listing", to_agent=executor.AGENT)
    lines = await day(executor.AGENT)
    assert [line for line in lines if f"{given.packet.id} is open again" in line]
    assert (await packets.show(author, given.packet.id)).state == "open"


async def test_an_executor_that_was_cut_off_is_told_what_it_still_holds(
    day: Day, handoff_adapter: AmfsAdapter
) -> None:
    await day(scout.AGENT)
    taken = await packets.take(session(handoff_adapter, executor.AGENT))
    assert isinstance(taken, packets.Taken)
    lines = await day(executor.AGENT)
    command = f"amfs-sqlite packets release {taken.packet.id}"
    assert f"  . it holds {taken.packet.id}; to open that again: {command}" in lines
