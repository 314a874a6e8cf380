"""`run` and `install-hook`: the programs of the AMFS Python SDK, unmodified, on this adapter."""

import py_compile
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from importlib.util import cache_from_source, find_spec
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import click

from amfs_sqlite.errors import AmfsError, quoted
from bridge.cli import sdk_hook
from bridge.cli.layout import Row, fact
from bridge.cli.options import EPILOG, PLACE, answer, given_arguments, json_option
from bridge.cli.output import Output
from bridge.cli.programs import PASSED_ON

# The SDK's programs, and what is installed to have them.
PROGRAMS = {"amfs": "amfs-cli", "amfs-mcp-server": "amfs-mcp-server", "amfs-http": "amfs-http-server"}
SDK = ("amfs", "amfs_core")
CHILD = "bridge.cli.sdk_child"

HOOK_MODULE = "amfs_sqlite_hook"
# One that finds no module says nothing: it is run whenever Python starts.
PTH = (
    f"import sys; exec('try:\\n from {HOOK_MODULE} import {sdk_hook.RegistrationFinder.__name__} as finder\\n"
    "except ImportError: pass\\nelse: sys.meta_path.insert(0, finder)')\n"
)


class HookRefusedError(AmfsError):
    """The folder of this Python's packages cannot be changed. ``path`` is where the change was to be."""

    code = "hook"

    def __init__(self, path: str, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(
            f"{quoted(path, 400)} cannot be changed: {problem}; use an environment of your own,"
            " or start programs with 'amfs-sqlite run'"
        )


@dataclass(frozen=True, slots=True)
class Program:
    """A console script that is to be run in this process, with its arguments."""

    script: EntryPoint
    arguments: tuple[str, ...]

    def start(self) -> NoReturn:
        """Run it as if it had been started itself: what it raises and how it ends is its own."""
        from amfs_sqlite.sync import register

        register()
        sys.argv = [self.script.name, *self.arguments]
        began = ModuleType("__main__")
        began.__spec__ = find_spec(CHILD)
        sys.modules["__main__"] = began
        sys.exit(self.script.load()())


@click.command(context_settings=PASSED_ON)
@click.argument("program")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def run(context: click.Context, program: str, arguments: Sequence[str]) -> Program:
    """Run a program of the AMFS Python SDK on this adapter.

    PROGRAM is amfs, amfs-mcp-server, amfs-http, or any other command that is installed beside this one.
    It runs unmodified in this process and knows `adapter: sqlite` in an amfs.yaml, which names the file
    under `options` as `path`; where there is none it does what it does without us. Everything behind
    PROGRAM is the program's own, its exit code too.
    """
    if given := given_arguments(context, *PLACE):
        setting = given[0].partition("=")[0]
        raise click.UsageError(f"{setting} is no setting of the program: an amfs.yaml names the file.")
    _check_sdk()
    return Program(_script(program), tuple(arguments))


@click.command("install-hook", epilog=EPILOG)
@click.option("--remove", is_flag=True, help="Take it out again.")
@json_option
def install_hook(*, remove: bool, as_json: bool) -> None:
    """Have every program of the AMFS Python SDK know this adapter.

    In this environment, its programs and yours then know `adapter: sqlite` in an amfs.yaml, started as
    always. Two files are put among the packages of this Python, and named: a .pth file, and the module
    that it loads whenever Python starts. That does nothing until the SDK is imported, and nothing once
    amfs-sqlite is uninstalled. Needs no MEMORY_DB.

    JSON: {"installed", "changed", "paths"}.
    """
    folder = Path(sysconfig.get_path("purelib"))
    pth, module = folder / f"{HOOK_MODULE}.pth", folder / f"{HOOK_MODULE}.py"
    if remove:
        compiled = Path(cache_from_source(str(module)))
        changed = [path for path in (pth, module, compiled) if _removed(path)]
    else:
        _check_sdk()
        source = Path(sdk_hook.__file__).read_text(encoding="utf-8")
        changed = [path for path, text in ((module, source), (pth, PTH)) if _written(path, text)]
        _compile(module)
    paths = [str(path) for path in (module, pth)]
    document = {"installed": not remove, "changed": bool(changed), "paths": paths}
    answer(lambda: document, lambda out: _rows(out, paths, done=_told(remove, changed)), as_json=as_json)


def _script(program: str) -> EntryPoint:
    """The console script of this name."""
    for script in entry_points(group="console_scripts", name=program):
        return script
    if program in PROGRAMS:
        raise click.UsageError(f"{program} is not installed here: pip install {PROGRAMS[program]}.")
    installed = [name for name in PROGRAMS if entry_points(group="console_scripts", name=name)]
    known = ", ".join(installed) or "none"
    raise click.UsageError(f"{quoted(program)} is no program here. Of the SDK's there are: {known}.")


def _check_sdk() -> None:
    missing = [name for name in SDK if find_spec(name) is None]
    if missing:
        raise click.UsageError("The AMFS Python SDK is not installed here: pip install 'amfs-sqlite[amfs]'.")


def _written(path: Path, text: str) -> bool:
    """Whether this had to be written. It appears whole: another program may be starting meanwhile."""
    with _refusing(path):
        if path.exists() and path.read_text(encoding="utf-8") == text:
            return False
        growing = path.with_suffix(".new")
        growing.write_text(text, encoding="utf-8")
        growing.replace(path)
    return True


def _compile(module: Path) -> None:
    """Compile it now: who starts a program later may not be allowed to, and would do it each time."""
    with _refusing(module):
        py_compile.compile(str(module), doraise=True)


def _removed(path: Path) -> bool:
    """Whether it was there."""
    with _refusing(path):
        try:
            path.unlink()
        except FileNotFoundError:
            return False
    return True


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as failed:
        raise HookRefusedError(str(path), failed.strerror or str(failed)) from failed


def _told(remove: bool, changed: Sequence[Path]) -> str:
    if remove:
        return "removed" if changed else "not there"
    return "installed" if changed else "is there"


def _rows(out: Output, paths: Sequence[str], *, done: str) -> Iterator[Row]:
    for path in paths:
        yield fact(done, out.name(path, "bold"))
