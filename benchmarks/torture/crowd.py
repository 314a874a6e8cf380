"""Many processes at work on one file at once, none of them killed."""

from benchmarks.torture import clients, visitors
from benchmarks.torture.checking import examine, settle
from benchmarks.torture.crew import CONTEXT, at_work, seen_through
from benchmarks.torture.journal import told
from benchmarks.torture.kills import place_old_file
from benchmarks.torture.rounds import Round, Scenario
from benchmarks.torture.work import client_of

WRITERS = 4
VISITORS = 2
READERS = 2
REQUESTS = 60
STARTERS = 8


def mixed(round_: Round) -> None:
    """Four write, two come and go, two read, and one snapshot is held from before to after all that."""
    asked = [(client_of(round_, f"w{each}"), REQUESTS) for each in range(WRITERS)]
    guests = [(client_of(round_, f"v{each}"), 6, 5) for each in range(VISITORS)]
    examine(round_.path)
    with (
        at_work(visitors.hold_snapshot, [(round_.path,)]) as (holder,),
        at_work(clients.work_for, asked) as writers,
        at_work(clients.come_and_go, guests) as visiting,
        at_work(visitors.read_on, [(round_.path, 10)] * READERS) as readers,
    ):
        holder.hear()
        seen_through([*writers, *visiting])
        holder.tell("enough")
        for complaint in seen_through([*readers, holder]):
            round_.fault(complaint)
    round_.tally.rounds += 1
    settle(round_)
    _all_answered(round_, WRITERS * REQUESTS + VISITORS * 30)


def first_start(round_: Round) -> None:
    """Eight open at once what is not there yet."""
    _start(round_)
    settle(round_)


def old_schema(round_: Round) -> None:
    """Eight open a file of schema 1 at once."""
    place_old_file(round_.path)
    _start(round_)
    settle(round_)


def _start(round_: Round) -> None:
    together = CONTEXT.Barrier(STARTERS)
    each = [(client_of(round_, f"s{n}"), together) for n in range(STARTERS)]
    with at_work(visitors.start, each) as workers:
        said = [worker.see_through() for worker in workers]
    round_.tally.rounds += 1
    for client, words in enumerate(said):
        if words[:2] != ["opening", "open"] or len(words) != 3:
            round_.fault(f"client {client} came no further than {words}")


def _all_answered(round_: Round, expected: int) -> None:
    said = told(round_.folder)
    if len(said.asked) != expected or said.unanswered():
        round_.fault(f"{len(said.asked)} requests of {expected}, {len(said.unanswered())} without an answer")


SCENARIOS = (
    Scenario("crowd: mixed work", "Writers, readers, guests and one held snapshot at once.", 12, 1, mixed),
    Scenario("crowd: first start", "Eight open a new file at once.", 30, 2, first_start),
    Scenario("crowd: old schema", "Eight open a file of schema 1 at once.", 30, 2, old_schema),
)
