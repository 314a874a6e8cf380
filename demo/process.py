"""One agent as one process. All it knows of the other is the file that MEMORY_DB names."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable

from amfs_sqlite import HANDOFF, AmfsError, RandomIds, SqliteAdapter
from bridge.session import Session
from demo.console import CUT_SHORT, Console, hang_up

FILE_VARIABLE = "MEMORY_DB"

Work = Callable[[Session, Console], Awaitable[None]]


def run(agent_id: str, module: str, work: Work) -> int:
    """Let the agent do its work on the file; the exit code."""
    path = os.environ.get(FILE_VARIABLE)
    if not path:
        command = f"{FILE_VARIABLE}=shared.db python -m {module}"
        print(f"{FILE_VARIABLE} names no file; say which one to share: {command}", file=sys.stderr)
        return 2
    try:
        asyncio.run(_at_work(path, agent_id, work))
        sys.stdout.flush()
    except BrokenPipeError:
        hang_up()
        return CUT_SHORT
    except AmfsError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


async def _at_work(path: str, agent_id: str, work: Work) -> None:
    async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
        await work(Session(adapter, agent_id, f"sess-{RandomIds().hex(12)}"), Console())
