"""`packets`: what was handed over, and the owner's hand in it."""

from collections.abc import Iterator, Sequence

import click
from rich.text import Text

from amfs_sqlite.clock import spelled
from bridge import rendering
from bridge.cli import records
from bridge.cli.layout import Row, blank, fact
from bridge.cli.options import (
    EPILOG,
    PLACE,
    CommandGroup,
    answer,
    asked,
    full_option,
    json_option,
    limit_option,
    page,
    setting_options,
)
from bridge.cli.output import Output
from bridge.operations import packets as handoffs
from bridge.operations.packets import PACKET_STATES, Packet, PacketState

STYLES: dict[PacketState, str] = {"open": "green", "claimed": "yellow", "closed": "dim", "cancelled": "dim"}
SUMMARY_BYTES = 400
SIGNED = (*PLACE, "agent")

id_argument = click.argument("handoff_id", metavar="ID")


@click.group(cls=CommandGroup, epilog=EPILOG, invoke_without_command=True)
@setting_options(*PLACE)
@click.pass_context
def packets(context: click.Context) -> None:
    """List, show, release or cancel handoff packets.

    Without a command they are listed.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_packets)


@packets.command("list", epilog=EPILOG)
@click.option("--state", type=click.Choice(PACKET_STATES), help="Only packets in this state.")
@limit_option(handoffs.LIST_LIMIT)
@json_option
@setting_options(*PLACE)
def list_packets(state: PacketState | None, limit: int, *, as_json: bool) -> None:
    """List the packets in the order they were given.

    JSON: {"packets": [as in packets show], "more": whether there are more than --limit}.
    """
    found = asked(lambda store: handoffs.list_packets(store.session, state=state, limit=limit + 1))
    shown, last = page(found, limit)
    answer(
        lambda: {"packets": [packet.to_wire() for packet in shown], "more": last is not None},
        lambda out: _rows(out, shown, last),
        as_json=as_json,
    )


@packets.command(epilog=EPILOG)
@id_argument
@full_option
@json_option
@setting_options(*PLACE)
def show(handoff_id: str, *, full: bool, as_json: bool) -> None:
    """Show one packet with all it says and pins; claims nothing.

    JSON: {"packet": {"id", "summary", "nextSteps", "openQuestions", "pins": [{"entityPath", "key",
    "version", "contentHash"}], "fromAgent", "toAgent", "sessionId", "createdAt", "state",
    "claimedBy", "claimedAt", "leaseUntil", "closedAt", "outcomeRef"}}.
    """
    packet = asked(lambda store: handoffs.show(store.session, handoff_id))
    _tell(packet, full=full, as_json=as_json)


@packets.command(epilog=EPILOG)
@id_argument
@json_option
@setting_options(*SIGNED)
def release(handoff_id: str, *, as_json: bool) -> None:
    """Open a claimed packet again, whoever holds it.

    JSON: {"packet": as in packets show}.
    """
    packet = asked(lambda store: handoffs.release(store.session, handoff_id))
    _tell(packet, full=False, as_json=as_json)


@packets.command(epilog=EPILOG)
@id_argument
@json_option
@setting_options(*SIGNED)
def cancel(handoff_id: str, *, as_json: bool) -> None:
    """Withdraw an open packet for good, whoever gave it.

    JSON: {"packet": as in packets show}.
    """
    packet = asked(lambda store: handoffs.cancel(store.session, handoff_id))
    _tell(packet, full=False, as_json=as_json)


def _tell(packet: Packet, *, full: bool, as_json: bool) -> None:
    answer(lambda: {"packet": packet.to_wire()}, lambda out: _facts(out, packet, full=full), as_json=as_json)


def _rows(out: Output, shown: Sequence[Packet], last: Packet | None) -> Iterator[Row]:
    if not shown:
        yield Row((out.text("no packets"),))
        return
    headings = ("packet", "state", "from", "to", "given", "")
    yield Row(tuple(out.text(each, "dim") for each in headings), heading=True)
    for packet in shown:
        cells = (
            out.name(packet.id, "bold"),
            out.text(packet.state, STYLES[packet.state]),
            out.name(packet.from_agent),
            _addressee(out, packet),
            out.at(packet.created_at),
            out.text(rendering.counted(len(packet.pins), "pin")),
        )
        yield Row(cells, rail="  ")
        yield Row((out.line(packet.summary, limit_bytes=SUMMARY_BYTES),), "  ", "  ")
        if packet.state == "claimed":
            yield Row((_claim(out, packet),), "  ", "  ")
    yield blank()
    count = rendering.counted(len(shown), "packet")
    more = "" if last is None else "; more: a larger --limit"
    yield Row((out.text(f"{count}, oldest first{more}", "dim"),))


def _facts(out: Output, packet: Packet, *, full: bool) -> Iterator[Row]:
    yield fact("packet", out.name(packet.id, "bold"), out.text(packet.state, STYLES[packet.state]))
    yield fact("from", out.name(packet.from_agent), *_session(out, packet))
    yield fact("to", _addressee(out, packet))
    yield fact("given", out.text(spelled(packet.created_at)))
    if packet.claimed_by is not None:
        yield fact("claimed", _claim(out, packet))
    if packet.closed_at is not None:
        yield fact(packet.state, out.text(spelled(packet.closed_at)))
    if packet.outcome_ref is not None:
        yield fact("outcome", out.name(packet.outcome_ref))
    texts = [("summary", packet.summary)]
    texts += [("next", step) for step in packet.next_steps]
    texts += [("open", question) for question in packet.open_questions]
    for label, text in texts:
        yield from records.text(out, label, text)
    for pin in packet.pins:
        pinned = records.ref(out, pin.entity_path, pin.key, pin.version)
        yield fact("pinned", pinned, out.hash(pin.content_hash, full=full))
    if not packet.pins:
        yield fact("pinned", out.text("nothing"))


def _session(out: Output, packet: Packet) -> list[Text]:
    return [out.name(packet.session_id, "dim")] if packet.session_id else []


def _addressee(out: Output, packet: Packet) -> Text:
    return out.text("(anyone)", "dim") if packet.to_agent is None else out.name(packet.to_agent)


def _claim(out: Output, packet: Packet) -> Text:
    words = [out.text("by"), out.name(packet.claimed_by or "")]
    if packet.claimed_at is not None:
        words += [out.text("at"), out.at(packet.claimed_at)]
    if packet.lease_until is not None:
        words += [out.text("until"), out.at(packet.lease_until)]
    return Text(" ").join(words)
