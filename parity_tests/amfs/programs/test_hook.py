"""`amfs-sqlite install-hook`: programs that know nothing of us know the adapter."""

import json
import os
import subprocess
import sys
import venv
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from parity_tests.amfs.programs.processes import TEST_PATIENCE_S, Place, needs
from parity_tests.ledger import proves

pytestmark = pytest.mark.timeout(TEST_PATIENCE_S)

KNOWN = "from amfs import factory; print('sqlite' in factory._ADAPTER_REGISTRY)"
LOADED = "import sys; print(*sorted(name for name in sys.modules if name.startswith('amfs')))"
UNINSTALLED = f"""
import sys


class Uninstalled:
    @staticmethod
    def find_spec(name, path, target=None):
        if name == "amfs_sqlite":
            raise ModuleNotFoundError(name, name=name)


sys.meta_path.insert(0, Uninstalled)
{KNOWN}
"""
LIBRARIES = "libraries.pth"
COMMAND = "import sys; from amfs_cli.main import app; sys.argv[0] = 'amfs'; app()"


class Environment:
    """A Python of its own that sees what is installed beside the one that runs the tests."""

    def __init__(self, place: Place) -> None:
        self.place = place
        folder = place.folder.parent / "environment"
        venv.create(folder, symlinks=os.name != "nt")
        scripts = folder / ("Scripts" if os.name == "nt" else "bin")
        self.python = str(scripts / Path(sys.executable).name)
        self.packages = Path(
            self.said("-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
        )
        seen = [path for path in sys.path if Path(path).is_dir()]
        (self.packages / LIBRARIES).write_text("\n".join(seen), encoding="utf-8")

    def said(self, *arguments: str) -> str:
        """What this Python prints, which must end well and complain of nothing."""
        return self.place.said(self.python, *arguments)

    def hook(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """What the command comes to in this environment."""
        return self.place.started(self.python, "-m", "bridge.cli", "install-hook", *arguments)

    def names(self) -> set[str]:
        """What is among the packages and in the folder of what is compiled."""
        found = {path.name for path in self.packages.rglob("*")}
        return found - {LIBRARIES, "__pycache__"}


@pytest.fixture
def environment(place: Place) -> Environment:
    """One without the hook."""
    return Environment(place)


@proves("programs.hook")
def test_with_the_hook_every_program_knows_the_adapter_and_without_it_none(environment: Environment) -> None:
    before = environment.names()
    assert environment.said("-c", KNOWN) == "False\n"
    installed = json.loads(environment.hook("--json").stdout)
    files = {"amfs_sqlite_hook.py", "amfs_sqlite_hook.pth"}
    assert (installed["installed"], installed["changed"]) == (True, True)
    assert {Path(path).name for path in installed["paths"]} == files
    compiled = Path(cache_from_source("amfs_sqlite_hook.py")).name
    assert environment.names() - before == files | {compiled}
    assert environment.said("-c", KNOWN) == "True\n"
    again = environment.hook()
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.split()[:2] == ["is", "there"]
    assert environment.hook("--remove").returncode == 0
    assert environment.names() == before
    assert environment.said("-c", KNOWN) == "False\n"
    assert json.loads(environment.hook("--remove", "--json").stdout)["changed"] is False


@proves("programs.hook")
@needs("amfs_cli", "amfs-cli")
def test_the_sdks_command_started_as_always_works_on_the_file_that_the_configuration_names(
    environment: Environment,
) -> None:
    environment.hook()
    environment.said("-c", COMMAND, "write", "svc/api", "limits/retry", "3")
    assert environment.place.db.exists()
    read = environment.said("-c", COMMAND, "inspect", "read", "svc/api", "limits/retry")
    assert read.splitlines()[-1] == "3"


@proves("programs.hook")
def test_a_program_that_does_not_import_the_sdk_loads_the_hook_alone(environment: Environment) -> None:
    environment.hook()
    assert environment.said("-c", LOADED) == "amfs_sqlite_hook\n"


@proves("programs.hook")
@pytest.mark.parametrize("lost", [(), ("amfs_sqlite_hook.py",)], ids=["nothing", "the module"])
def test_the_hook_says_nothing_once_the_product_is_uninstalled(
    environment: Environment, lost: tuple[str, ...]
) -> None:
    environment.hook()
    assert environment.said("-c", UNINSTALLED) == "False\n"
    for name in (LIBRARIES, *lost):
        (environment.packages / name).unlink()
    assert environment.said("-c", "pass") == ""


@proves("programs.hook-refused")
def test_a_hook_that_cannot_be_written_is_refused_with_what_to_do(environment: Environment) -> None:
    in_the_way = environment.packages / "amfs_sqlite_hook.py"
    in_the_way.mkdir()
    for arguments in ((), ("--remove",)):
        done = environment.hook(*arguments)
        assert (done.returncode, done.stdout) == (4, "")
        assert done.stderr.startswith(f"hook: '{in_the_way}' cannot be changed: ")
        assert done.stderr.endswith("start programs with 'amfs-sqlite run'\n")
    assert environment.said("-c", KNOWN) == "False\n"
