"""Two agents as two processes on one file, and what the file holds in the end: `python -m demo`."""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from amfs_sqlite import HANDOFF, AmfsError, Commit, SqliteAdapter
from bridge.operations import commits, entries, integrity
from bridge.session import Session
from demo.beliefs import words
from demo.command import typed_command
from demo.console import CUT_SHORT, Console, hang_up, plain
from demo.process import FILE_VARIABLE

ROOT = Path(__file__).parents[1]
LOG_LIMIT = 6
CHAIN_CHARACTERS = 8
RATE_LIMIT = ("source/boards-example", "rate-limit")

DESCRIPTION = "Two agents as two processes on one file, and what the file holds in the end."
INTRODUCTION = """\
Two agents, two processes, one SQLite file: nothing else passes between them.
Watch listing/553: it changes after the handoff and before the pickup.
"""
INVITATION = """
Keep a file and look around in it; played again, the scout starts from what it was handed back:
$ {command} demo --db demo.db
$ {command} log --db demo.db
$ {command} demo --db demo.db"""


def main(arguments: Sequence[str] | None = None, *, program: str = "python -m demo") -> int:
    """Run the demo, under the name it was started by; the exit code."""
    parser = argparse.ArgumentParser(prog=program, description=DESCRIPTION)
    parser.add_argument("--db", metavar="PATH", help="the file to use, and to keep")
    db: str | None = parser.parse_args(arguments).db
    if db is not None and (not db.strip() or db == ":memory:"):
        parser.error("--db must name a file: two processes cannot share anything else")
    try:
        code = tell(db)
        sys.stdout.flush()
    except BrokenPipeError:
        hang_up()
        return CUT_SHORT
    except AmfsError as error:
        print(error, file=sys.stderr)
        return 1
    return code


def tell(db: str | None) -> int:
    """The whole story, on this file or on a temporary one; the exit code."""
    if db is not None:
        return walk(str(Path(db).expanduser().resolve()))
    with tempfile.TemporaryDirectory(prefix="amfs-sqlite-demo-") as folder:
        code = walk(str(Path(folder, "shared.db")), "  # temporary; --db PATH keeps one")
    if code == 0:
        print(INVITATION.format(command=plain(typed_command())))
    return code


def walk(path: str, remark: str = "") -> int:
    """Both agents, one after the other, and then a look at the file."""
    print(f"{INTRODUCTION}\n$ export {FILE_VARIABLE}={plain(path)}{remark}")
    for module in ("demo.scout", "demo.executor"):
        print(f"\n$ python -m {module}", flush=True)
        code = subprocess.run(  # noqa: S603 - this interpreter, on modules of this package
            [sys.executable, "-m", module],
            cwd=ROOT,
            env={**os.environ, FILE_VARIABLE: path},
            stdin=subprocess.DEVNULL,
            check=False,
        ).returncode
        if code:
            return code
    return asyncio.run(look_into(path))


async def look_into(path: str) -> int:
    """Say what the file holds: every belief, every change, and whether all of it still holds."""
    console = Console()
    async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
        session = Session(adapter, "demo", "", owner=True)
        scope, key = RATE_LIMIT
        console.rule("the file now: what became of one belief")
        console.line(f"{scope}/{key}, each version hashed with the one before it")
        for entry in await entries.history(session, scope, key):
            chain = (entry.integrity_chain or "")[:CHAIN_CHARACTERS]
            console.line(
                f"v{entry.version} by {entry.agent_id}, {entry.confidence:.0%} sure: {words(entry)} [{chain}]"
            )
        console.rule("the file now: the last changes, newest first")
        for commit in await commits.log(session, limit=LOG_LIMIT):
            console.line(f"#{commit.sequence} {commit.author_agent_id}: {told(commit)}")
        console.rule("the file now: verified")
        report = await integrity.verify(session)
        console.line(
            f"recomputed {report.version_count} versions of {report.key_count} records,"
            f" {report.outcome_count} outcomes, {report.commit_count} commits"
        )
        for finding in report.findings:
            console.line(finding.message)
        if report.ok:
            console.line("every hash, link and count is as it was written")
    return 0 if report.ok else 1


def told(commit: Commit) -> str:
    """What a commit did, in a few words."""
    moved = [f"{each.entity_path}/{each.key} now {each.confidence_after:.0%}" for each in commit.effects]
    written = [f"{each.entity_path}/{each.key}@{each.version}" for each in commit.entries]
    return "; ".join([*([commit.message] if commit.message else written), *moved])


if __name__ == "__main__":
    sys.exit(main())
