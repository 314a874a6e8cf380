"""What the subcommands have in common: their options, and the way from a question to an answer."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from amfs_sqlite.errors import InvalidArgumentError
from bridge.cli.exits import EXIT_CODES
from bridge.cli.layout import Row
from bridge.cli.output import Output
from bridge.cli.store import OWNER, Store, WhereMissing, ask
from bridge.settings import SETTINGS, Setting

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

PLACE = ("db", "namespace", "mode", "busy_timeout_s")
# What the command's owner has otherwise than an agent.
MEANINGS = {"agent": "the name that changes are signed with"}
DEFAULTS = {"agent": OWNER}
METAVARS = {"db": "PATH", "busy_timeout_s": "SECONDS"}

EPILOG = "\b\nExit codes:\n" + "\n".join(f"  {code:>3}  {meaning}" for code, meaning in EXIT_CODES.items())


class CommandGroup(click.Group):
    """Lists its commands as they were added, not by the alphabet."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click passes it
        return list(self.commands)


def setting_options(*names: str) -> Callable[[F], F]:
    """Options for these settings, before or behind the subcommand's name; the last one given counts."""

    def decorated(function: F) -> F:
        for setting in reversed([each for each in SETTINGS if each.name in names]):
            function = _setting_option(setting)(function)
        return function

    return decorated


def json_option(function: F) -> F:
    """Whether to answer a program."""
    return click.option("--json", "as_json", is_flag=True, help="Answer with one JSON document.")(function)


def full_option(function: F) -> F:
    """Whether to show hashes and long lists whole."""
    return click.option("--full", is_flag=True, help="Show hashes, ids and long lists whole.")(function)


def limit_option(default: int) -> Callable[[F], F]:
    """How many to show."""
    return click.option(
        "--limit",
        type=click.IntRange(min=1),
        default=default,
        show_default=True,
        metavar="N",
        help="Show at most so many.",
    )


def asked(question: Callable[[Store], Awaitable[T]], *, where_missing: WhereMissing = "refuse") -> T:
    """What the store answers, on the settings given to this command."""
    return ask(given_settings(), question, where_missing=where_missing)


@contextmanager
def typed_as(argument: str, name: str) -> Iterator[None]:
    """Errors about this argument of an operation name it as it is typed here, and options too."""
    try:
        yield
    except InvalidArgumentError as refused:
        if refused.argument != argument:
            raise
        raise InvalidArgumentError(name, refused.problem.replace("force=True", "--force")) from refused


def given_settings() -> dict[str, str]:
    """The settings given to this command as text, by name."""
    return _given(click.get_current_context())


def answer(
    document: Callable[[], Mapping[str, Any]], rows: Callable[[Output], Iterable[Row]], *, as_json: bool
) -> Output:
    """Say it: the document to a program, or the rows to people."""
    output = Output()
    if as_json:
        output.document(document())
    else:
        output.show(rows(output))
    return output


def page(found: Sequence[T], limit: int) -> tuple[Sequence[T], T | None]:
    """Of one more than asked for, those to show, and the last of them if there are more behind it.

    >>> page([1, 2, 3], 2), page([1, 2], 2)
    (([1, 2], 2), ([1, 2], None))
    """
    shown = found[:limit]
    return shown, shown[-1] if len(found) > limit else None


def given_arguments(context: click.Context, *names: str) -> list[str]:
    """Those of these settings that were given before the subcommand's name, as arguments again."""
    given = _given(context)
    flags = {setting.name: setting.flag for setting in SETTINGS if setting.name in names}
    return [f"{flag}={given[name]}" for name, flag in flags.items() if name in given]


def _given(context: click.Context) -> dict[str, str]:
    given: dict[str, str] = context.find_root().ensure_object(dict)
    return given


def _setting_option(setting: Setting) -> Callable[[F], F]:
    def keep(context: click.Context, parameter: click.Parameter, text: str | None) -> None:
        if text is not None and parameter.name is not None:
            _given(context)[parameter.name] = text

    said = MEANINGS.get(setting.name, setting.meaning)
    default = DEFAULTS.get(setting.name, setting.default)
    meaning = f"{said[0].upper()}{said[1:]} [{setting.variable}; {default}]."
    if setting.is_switch:
        return click.option(
            setting.flag,
            setting.name,
            is_flag=True,
            flag_value="on",
            default=None,
            expose_value=False,
            callback=keep,
            help=meaning,
        )
    return click.option(
        setting.flag,
        setting.name,
        metavar=METAVARS.get(setting.name, "NAME"),
        expose_value=False,
        callback=keep,
        help=meaning,
    )
