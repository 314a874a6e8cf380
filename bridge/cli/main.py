"""The command `amfs-sqlite`: looks at a memory, for people and for programs."""

import sys
from collections.abc import Sequence

import click

from amfs_sqlite.errors import AmfsError
from bridge.cli.backups import backup, restore
from bridge.cli.commits import log
from bridge.cli.copying import copy
from bridge.cli.doctor import doctor
from bridge.cli.entries import history, show
from bridge.cli.exits import DONE, INTERRUPTED, WRONG_USE, exit_code
from bridge.cli.integrity import anchor, verify
from bridge.cli.options import EPILOG, PLACE, CommandGroup, setting_options
from bridge.cli.outcomes import outcomes
from bridge.cli.packets import packets
from bridge.cli.programs import demo, mcp
from bridge.cli.retention import archive, erase, prune
from bridge.cli.sdk import Program, install_hook, run
from bridge.cli.search import search
from bridge.cli.statistics import stats
from bridge.cli.store import complain
from bridge.cli.transfer import export, import_

PROGRAM = "amfs-sqlite"
COMPLETION = (
    "\n\nCompletion of commands and options in bash (or zsh, fish):\n\n\b\n"
    '  eval "$(_AMFS_SQLITE_COMPLETE=bash_source amfs-sqlite)"'
)


@click.group(cls=CommandGroup, epilog=EPILOG + COMPLETION)
@click.version_option(package_name=PROGRAM, prog_name=PROGRAM, message="%(prog)s %(version)s")
@setting_options(*PLACE)
def app() -> None:
    """Look at a memory that agents share: one SQLite file, named by --db or MEMORY_DB.

    You are its owner here and see private records too. Looking changes no record; it may leave -lock,
    -wal or -shm beside the file, and brings an older store to the newest schema unless --read-only is given.
    With --json a command answers one JSON document, in ASCII. Errors and warnings are lines on
    standard error: a code, and what to do.
    """


LOOKING = (show, search, history, log, packets, outcomes, verify, anchor, stats, doctor)
KEEPING = (backup, restore, export, import_, copy, erase, prune, archive)
for command in (mcp, demo, *LOOKING, *KEEPING, run, install_hook):
    app.add_command(command)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command on these arguments, or on the process's own; returns its exit code.

    The codes stand in ``bridge.cli.exits``. Errors are one line on standard error, a code and what
    to do.
    """
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        code = app.main(arguments, prog_name=PROGRAM, standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as helped:
        click.echo(helped.format_message())
        complain("usage", "no command was given; above they are listed")
        return WRONG_USE
    except click.UsageError as wrong:
        path = PROGRAM if wrong.ctx is None else wrong.ctx.command_path
        complain("usage", f"{wrong.format_message()} See '{path} --help'.")
        return WRONG_USE
    except SystemExit as ended:
        # A program that was run, or the completion of a shell, ended by itself.
        code = ended.code if isinstance(ended.code, int) else WRONG_USE if ended.code else DONE
    except click.Abort:
        complain("interrupted", "ended before it was done")
        return INTERRUPTED
    except AmfsError as failed:
        complain(failed.code, str(failed))
        return exit_code(failed)
    if isinstance(code, Program):
        # Only now: what it raises is not for the command to tell of.
        code.start()
    return DONE if code is None else int(code)
