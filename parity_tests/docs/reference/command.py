"""docs/reference/command.md, from the subcommands that the command has."""

from collections.abc import Iterator, Sequence

import click

from bridge.cli.exits import EXIT_CODES
from bridge.cli.main import app
from bridge.cli.options import PLACE
from parity_tests.docs.reference import markdown

TITLE = "The command amfs-sqlite"
PROGRAM = "amfs-sqlite"

INTRODUCTION = """
`amfs-sqlite` is for the owner of the file: it shows private records too, and releases or cancels
anybody's packet. Looking changes no record; it may leave `-lock`, `-wal` or `-shm` beside the file, and
migrates an older one unless `--read-only` is given. Errors are one line on standard error: a code, what
is wrong, what to do ([errors](errors.md)).
"""

PLACES = """
Before or behind the subcommand's name these settings can be given ([settings](settings.md)):
"""

OUTPUT = """
What is stored is shown with every character that could not be seen, or could command a terminal, as
an escape. Colour goes to terminals alone, and `NO_COLOR` turns it off. `--json` answers one ASCII
document instead, with the wire names; its shape stands at each command.
"""


def page() -> str:
    """The page."""
    context = click.Context(app, info_name=PROGRAM)
    shared = [each for each in app.params if each.name in PLACE]
    codes = [[f"`{code}`", meaning] for code, meaning in EXIT_CODES.items()]
    return markdown.page(
        TITLE,
        INTRODUCTION,
        PLACES,
        _options(context, shared),
        OUTPUT,
        "## Exit codes",
        markdown.table(["code", "meaning"], codes),
        *_commands(context, app),
    )


def _commands(context: click.Context, group: click.Group) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.commands[name]
        below = click.Context(command, info_name=name, parent=context)
        yield f"## `{below.command_path}`"
        if isinstance(command, click.Group):
            yield markdown.prose(_said(command))
            yield from _commands(below, command)
            continue
        yield markdown.block("text", " ".join([below.command_path, *command.collect_usage_pieces(below)]))
        yield markdown.prose(_said(command))
        own = [each for each in command.params if isinstance(each, click.Option) and each.name not in PLACE]
        if own:
            yield _options(below, own)


def _said(command: click.Command) -> str:
    """What a command's help says, without click's own marks."""
    return (command.help or "").replace("\b", "").replace("JSON: ", "With `--json`: ")


def _options(context: click.Context, options: Sequence[click.Parameter]) -> str:
    records = [record for each in options if (record := each.get_help_record(context))]
    return markdown.table(["option", "meaning"], [[f"`{names}`", said] for names, said in records])
