"""The command `amfs-sqlite-mcp`: an MCP server on standard input and output."""

import argparse
import logging
import os
import signal
import sys
import threading
from collections.abc import Sequence
from importlib.metadata import version
from typing import NoReturn

import anyio

from amfs_sqlite.errors import AmfsError
from amfs_sqlite.rules.confidence import HANDOFF
from amfs_sqlite.sqlite import SqliteAdapter
from bridge.session import Session
from bridge.settings import SETTINGS, Setting, Settings, from_sources

PROGRAM = "amfs-sqlite-mcp"
FAILURE = 1
USAGE_ERROR = 2
# From the beginning of the end to the process' exit at the latest. Nothing acknowledged is lost by it.
END_S = 2.5

_ENDING_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

logger = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> int:
    """Serve one client until it leaves, or a signal ends it.

    Returns 0 then, 1 where the store cannot be used, 2 for an argument or variable that cannot be
    accepted. Answers `--help` and `--version`. It is all that its process does: END_S after the end
    began the process exits, whatever still hangs.
    """
    given = _parser().parse_args(argv)
    try:
        settings = from_sources(vars(given), os.environ)
    except AmfsError as refused:
        _say(f"{refused.code}: {refused}")
        return USAGE_ERROR
    for each in _ENDING_SIGNALS:
        signal.signal(each, signal.default_int_handler)
    try:
        return _serve(settings)
    except KeyboardInterrupt:
        return 0


def _serve(settings: Settings) -> int:
    # Only now: neither --help nor a wrong setting should wait for the SDK.
    from bridge.mcp_server.stdio import claim_standard_streams  # noqa: PLC0415 - mcp is slow to import, and only serving needs it

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format=f"{PROGRAM}: %(message)s")
    try:
        source, sink = claim_standard_streams()
    except OSError as closed:
        _say(f"standard input and output are needed: {closed}")
        return FAILURE
    if os.isatty(source):
        _say("waiting for an MCP client on standard input; see --help")
    return anyio.run(_serve_client, settings, source, sink)


async def _serve_client(settings: Settings, source: int, sink: int) -> int:
    from bridge.mcp_server.server import build_server  # noqa: PLC0415 - mcp is slow to import, and only serving needs it
    from bridge.mcp_server.stdio import connected  # noqa: PLC0415 - mcp is slow to import, and only serving needs it
    from bridge.mcp_server.workplace import Workplace  # noqa: PLC0415 - mcp is slow to import, and only serving needs it

    stop = anyio.Event()
    async with anyio.create_task_group() as watching:
        watching.start_soon(_stop_on_signal, stop)
        watching.start_soon(_end_after, stop)
        try:
            adapter = _adapter(settings)
            await adapter.open()
            try:
                session = Session(
                    adapter,
                    settings.agent,
                    settings.session,
                    lease_s=settings.lease_s,
                    redact_secrets=settings.redact_secrets,
                )
                server = build_server(Workplace(session, settings, adapter.describe))
                async with connected(source, sink, stop) as (incoming, outgoing):
                    await server.serve(incoming, outgoing)
            finally:
                with anyio.CancelScope(shield=True):
                    await adapter.close()
        except AmfsError as failed:
            _say(f"{failed.code}: {failed}")
            return FAILURE
        finally:
            watching.cancel_scope.cancel()
    return 0


def _adapter(settings: Settings) -> SqliteAdapter:
    return SqliteAdapter(
        settings.db,
        namespace=settings.namespace,
        outcomes=HANDOFF,
        durability=settings.durability,
        mode=settings.mode,
        busy_timeout_s=settings.busy_timeout_s,
    )


async def _stop_on_signal(stop: anyio.Event) -> None:
    if sys.platform == "win32":
        return
    with anyio.open_signal_receiver(*_ENDING_SIGNALS) as signals:
        async for _ in signals:
            stop.set()


async def _end_after(stop: anyio.Event) -> None:
    await stop.wait()
    timer = threading.Timer(END_S, _end_now)
    timer.daemon = True
    timer.start()


def _end_now() -> NoReturn:
    """Something can still not be woken: a client that reads nothing, or another process' lock."""
    logger.warning("not everything ended in %s s; what was acknowledged is kept", END_S)
    os._exit(0)


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE_ERROR, f"{PROGRAM}: {message}; see --help\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog=PROGRAM,
        description="Memory and handoff for agents, as an MCP server on standard input and output.",
        epilog="Every setting can also be given as the environment variable named beside it.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {version('amfs-sqlite')}")
    for setting in SETTINGS:
        _add(parser, setting)
    return parser


def _add(parser: argparse.ArgumentParser, setting: Setting) -> None:
    if setting.is_switch:
        parser.add_argument(
            setting.flag, dest=setting.name, nargs="?", const="on", metavar="off", help=_help(setting)
        )
    else:
        parser.add_argument(
            setting.flag, dest=setting.name, metavar=setting.name.upper(), help=_help(setting)
        )


def _help(setting: Setting) -> str:
    return f"{setting.meaning} ({setting.variable}; default: {setting.default})".replace("%", "%%")


def _say(message: str) -> None:
    sys.stderr.write(f"{PROGRAM}: {message}\n")
