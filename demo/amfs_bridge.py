"""One handoff in AMFS's manner, on two adapters side by side: `python -m demo.amfs_bridge`."""

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from amfs_sqlite import (
    AMFS_0_3,
    HANDOFF,
    OUTCOME_MULTIPLIERS,
    AgentMemory,
    AmfsAdapter,
    AmfsError,
    Commit,
    MemoryEntry,
    OutcomeType,
    ReferenceAdapter,
    SqliteAdapter,
    VerificationResult,
)
from demo.amfs_agents import AGENTS
from demo.beliefs import words
from demo.console import CUT_SHORT, Console, hang_up, plain
from demo.process import FILE_VARIABLE

ROOT = Path(__file__).parents[1]
HASH_CHARACTERS = 8
LOG_LIMIT = 4
NAME_CHARACTERS, COLUMN_CHARACTERS = 42, 15
SUCCEEDED = ("listing/482", "assessment")
FAILED = ("source/boards-example", "rate-limit")

INTRODUCTION = """\
The same two agents, twice, through AgentMemory with the outcome policy of AMFS 0.3:
on the reference adapter, in the memory of this process, and on SQLite, in one file, each agent
there in a process of its own. A line marked "both" was told word for word by both.
Under that policy a failure raises confidence, and a success lowers it: section 5 says why."""


@dataclass(frozen=True)
class Findings:
    """What stands on an adapter when both agents are done."""

    succeeded: Sequence[MemoryEntry]
    failed: Sequence[MemoryEntry]
    log: Sequence[Commit]
    entry_count: int
    verified: VerificationResult


def main(arguments: Sequence[str] | None = None) -> int:
    """Tell it; the exit code."""
    if sys.argv[1:] if arguments is None else arguments:
        print("usage: python -m demo.amfs_bridge", file=sys.stderr)
        return 2
    try:
        with tempfile.TemporaryDirectory(prefix="amfs-sqlite-bridge-") as folder:
            asyncio.run(tell(str(Path(folder, "shared.db"))))
        sys.stdout.flush()
    except BrokenPipeError:
        hang_up()
        return CUT_SHORT
    except AmfsError as error:
        print(error, file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as failed:
        return failed.returncode
    return 0


async def tell(path: str) -> None:
    """Play both halves on both adapters, and compare what they said and hold."""
    console = Console()
    print(INTRODUCTION)
    async with ReferenceAdapter(outcomes=AMFS_0_3) as adapter:
        for name in AGENTS:
            told = [await in_this_process(name, adapter), in_a_process_of_its_own(name, path)]
            console.section(f"the {name}")
            for line in side_by_side(*told):
                console.line(line)
        reference = await look_into(adapter)
    async with SqliteAdapter(path, outcomes=AMFS_0_3) as reopened:
        sqlite = await look_into(reopened)
    async with ReferenceAdapter(outcomes=AMFS_0_3) as anew:
        left_count = (await look_into(anew)).entry_count
    console.section("what both hold")
    for line in compared(reference, sqlite):
        console.line(line)
    console.section("what SQLite adds")
    for line in added(sqlite, left_count):
        console.line(line)
    console.section("why a success lowers confidence here")
    for line in explained(sqlite):
        console.line(line)


async def in_this_process(name: str, adapter: AmfsAdapter) -> list[str]:
    """What an agent says at work on this adapter."""
    told: list[str] = []
    await AGENTS[name](AgentMemory(f"{name}-agent", adapter=adapter), lambda text: told.append(plain(text)))
    return told


def in_a_process_of_its_own(name: str, path: str) -> list[str]:
    """What an agent says at work on this file. Raises CalledProcessError where it fails."""
    done = subprocess.run(  # noqa: S603 - this interpreter, on a module of this package
        [sys.executable, "-m", "demo.amfs_agents", name],
        cwd=ROOT,
        env={**os.environ, FILE_VARIABLE: path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        encoding="ascii",
        check=True,
    )
    return done.stdout.splitlines()


async def look_into(adapter: AmfsAdapter) -> Findings:
    """What stands on this adapter, read by somebody who took no part."""
    memory = AgentMemory("reader", adapter=adapter)
    return Findings(
        succeeded=await memory.history(*SUCCEEDED),
        failed=await memory.history(*FAILED),
        log=await memory.commit_log(),
        entry_count=(await memory.stats()).total_entries,
        verified=await memory.verify(),
    )


def side_by_side(reference: Sequence[str], sqlite: Sequence[str]) -> Iterator[str]:
    """The lines of both: once where they are the same, else each with who said it."""
    for left, right in zip_longest(reference, sqlite):
        if left == right:
            yield f"both      {left}"
            continue
        if left is not None:
            yield f"reference {left}"
        if right is not None:
            yield f"SQLite    {right}"


def compared(reference: Findings, sqlite: Findings) -> Iterator[str]:
    """A table of what the two hold, and how much of it agrees."""
    left, right = dict(facts(reference)), dict(facts(sqlite))
    yield row("", "reference", "SQLite")
    names = left | right
    for name in names:
        yield row(name, left.get(name, "-"), right.get(name, "-"))
    agreeing = [name for name in names if left.get(name) == right.get(name)]
    yield f"{len(agreeing)} of {len(names)} rows agree"


def facts(found: Findings) -> Iterator[tuple[str, str]]:
    """The rows of the table."""
    for versions in (found.succeeded, found.failed):
        for each in versions:
            yield f"{each.ref}", f"{each.confidence:.3f}"
    for name, shown in (("content hash", "content_hash"), ("integrity chain", "integrity_chain")):
        for each in found.failed:
            yield f"{each.ref.key}@{each.version} {name}", (getattr(each, shown) or "none")[:HASH_CHARACTERS]
    yield "current entries", f"{found.entry_count}"
    yield "commits", f"{len(found.log)}"
    yield "versions that verify", f"{found.verified.valid} of {found.verified.total_checked}"


def row(name: str, left: str, right: str) -> str:
    """A row of the table."""
    return f"{name:<{NAME_CHARACTERS}}{left:<{COLUMN_CHARACTERS}}{right}".rstrip()


def added(found: Findings, left_count: int) -> Iterator[str]:
    """What is in the file beside what AMFS's own in-memory adapter has."""
    yield "hashes, chain and commits: AMFS's own in-memory adapter has none; both of ours compute"
    yield "them, and SQLite has them still, after both agents' processes have ended:"
    for each in found.failed:
        chain = (each.integrity_chain or "")[:HASH_CHARACTERS]
        yield f"v{each.version} by {each.agent_id}: {words(each)} [{chain}]"
    yield f"the last {LOG_LIMIT} of {len(found.log)} commits, newest first:"
    for commit in found.log[:LOG_LIMIT]:
        done = ", ".join(f"{each.entity_path}/{each.key}@{each.version}" for each in commit.entries)
        yield f"#{commit.sequence} {commit.author_agent_id}: {commit.message or done}"
    broken = len(found.verified.corrupted) + len(found.verified.chain_breaks)
    yield f"verified from the file: {found.verified.total_checked} versions, {broken} findings"
    yield f"opened anew, the reference holds {left_count} entries, and the file {found.entry_count}"


def explained(found: Findings) -> Iterator[str]:
    """The arithmetic of this contract on the two entries, and that of the policy for handoffs."""
    success, failure = OUTCOME_MULTIPLIERS[OutcomeType.SUCCESS], OUTCOME_MULTIPLIERS[OutcomeType.FAILURE]
    yield "AMFS 0.3: new confidence = confidence x multiplier x causal confidence, in a new version"
    yield from arithmetic(found.succeeded, "success", success)
    yield from arithmetic(found.failed, "failure", failure)
    yield f"{success:.2f} is below 1 and {failure:.2f} above it, so success lowers and failure raises"
    yield "confidence begins as how sure the author is, and is a signal of risk from then on: what was"
    yield "part of failures stands out, what goes well fades; so nothing ends it at 1:"
    yield from past_one(found.failed[-1], failure)
    yield "AMFS_0_3 keeps to that, since agents that move over rely on it; where confidence is to"
    yield "mean trust, open the store as our server and command line do, with"
    yield "SqliteAdapter(path, outcomes=HANDOFF):"
    for outcome, versions in ((OutcomeType.SUCCESS, found.succeeded), (OutcomeType.FAILURE, found.failed)):
        before = versions[-2].confidence
        yield f"HANDOFF on {outcome.value}: {before:.2f} -> {HANDOFF.after(before, outcome, 1.0):.2f}"


def past_one(entry: MemoryEntry, multiplier: float) -> Iterator[str]:
    """How many more failures take an entry past 1."""
    confidence, count = entry.confidence, 0
    while confidence <= 1:
        confidence, count = confidence * multiplier, count + 1
    yield f"{count} more failures would take {entry.confidence:.3f} to {confidence:.3f}"


def arithmetic(versions: Sequence[MemoryEntry], outcome: str, multiplier: float) -> Iterator[str]:
    """What the last outcome did to an entry."""
    before, after = versions[-2], versions[-1]
    place = f"{after.entity_path}/{after.key}"
    yield f"{outcome} on {place}: {before.confidence:.2f} x {multiplier:.2f} = {after.confidence:.3f}"


if __name__ == "__main__":
    sys.exit(main())
