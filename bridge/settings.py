"""Settings: each one an argument, an environment variable and a default, resolved once.

The faces share this table: what it holds is what `--help` and the documentation list.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn

from platformdirs import user_data_path

from amfs_sqlite.clock import IdSource, RandomIds
from amfs_sqlite.errors import AmfsError, InvalidArgumentError, quoted
from amfs_sqlite.rules.limits import MAX_NAME_CHARACTERS, check_name
from bridge.session import MAX_AGENT_CHARACTERS, MAX_LEASE_S

Durability = Literal["full", "normal"]
Mode = Literal["rw", "ro"]

IN_MEMORY = ":memory:"
SESSION_DIGITS = 12

_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_UNEXPANDED = re.compile(r"\$|%[A-Za-z_]+%")


class SettingError(AmfsError, ValueError):
    """A setting that cannot be accepted; ``source`` is the argument or variable it came from."""

    code = "invalid_setting"

    def __init__(self, source: str, problem: str) -> None:
        self.source = source
        self.problem = problem
        super().__init__(f"{source} {problem}")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a face works with.

    ``db`` is an absolute, resolved path or ``:memory:``; ``lease_s`` None means that claims do not
    run out.
    """

    db: str
    agent: str
    session: str
    namespace: str
    durability: Durability
    mode: Mode
    lease_s: float | None
    busy_timeout_s: float
    structured: bool
    redact_secrets: bool


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table.

    ``parse`` turns text into the value, or raises ValueError with the problem. The argument of a switch
    may stand without a text, which is then 'on'.
    """

    name: str
    flag: str
    variable: str
    default: str
    meaning: str
    parse: Callable[[str], Any]
    is_switch: bool = False


def from_sources(
    arguments: Mapping[str, str | None],
    environment: Mapping[str, str],
    ids: IdSource | None = None,
) -> Settings:
    """The settings: each from its argument, else from its variable, else the default.

    ``arguments`` go by the settings' names; None is not given. ``ids`` names a fresh session.
    Raises SettingError for the first value that cannot be accepted.
    """
    found: dict[str, Any] = {}
    for setting in SETTINGS:
        given = arguments.get(setting.name)
        if given is not None:
            found[setting.name] = _parsed(setting, setting.flag, given)
        elif setting.variable in environment:
            found[setting.name] = _parsed(setting, setting.variable, environment[setting.variable])
    return Settings(
        db=found["db"] if "db" in found else _default_db(),
        agent=found.get("agent", "agent"),
        session=found.get("session") or f"sess-{(ids or RandomIds()).hex(SESSION_DIGITS)}",
        namespace=found.get("namespace", "default"),
        durability=found.get("durability", "full"),
        mode=found.get("mode", "rw"),
        lease_s=found.get("lease_s"),
        busy_timeout_s=found.get("busy_timeout_s", 15.0),
        structured=found.get("structured", False),
        redact_secrets=found.get("redact_secrets", False),
    )


def _parsed(setting: Setting, source: str, text: str) -> Any:
    try:
        return setting.parse(text)
    except ValueError as refused:
        raise SettingError(source, str(refused)) from refused


def _default_db() -> str:
    return str((user_data_path("amfs-sqlite", appauthor=False) / "memory.db").resolve())


def _path(text: str) -> str:
    """An absolute path without symlinks or ``..``, so that one file has one name."""
    if not text.strip():
        _refuse("is empty; name the file, or leave it out for the default one")
    if text == IN_MEMORY:
        return text
    if text.startswith("file:"):
        _refuse(f"is {quoted(text)}; write a path, not a URI")
    if _UNEXPANDED.match(text) or "${" in text:
        _refuse(f"is {quoted(text)}; variables are not expanded here, write ~ or the whole path")
    try:
        path = Path(text).expanduser().resolve()
        is_folder = path.is_dir()
    except (OSError, RuntimeError, ValueError) as impossible:
        raise ValueError(f"is {quoted(text)}, which is no path: {impossible}") from impossible
    if is_folder:
        _refuse(f"is {quoted(str(path))}, a folder; name a file in it")
    return str(path)


def _agent(text: str) -> str:
    return _name(text, MAX_AGENT_CHARACTERS)


def _name(text: str, limit: int = MAX_NAME_CHARACTERS) -> str:
    if not text.strip():
        _refuse("is empty; give a name, or leave it out for the default")
    try:
        check_name(text, "it", limit)
    except InvalidArgumentError as refused:
        raise ValueError(refused.problem) from refused
    return text


def _durability(text: str) -> Durability:
    match text:
        case "full" | "normal":
            return text
        case _:
            return _refuse(f"is {quoted(text)}; it must be full or normal")


def _mode(text: str) -> Mode:
    match text:
        case "rw" | "off":
            return "rw"
        case "ro" | "on":
            return "ro"
        case _:
            return _refuse(f"is {quoted(text)}; it must be rw or ro")


def _switch(text: str) -> bool:
    if text not in ("on", "off"):
        _refuse(f"is {quoted(text)}; it must be on or off")
    return text == "on"


def _timeout(text: str) -> float:
    seconds = _seconds(text)
    if seconds is None:
        _refuse(f"is {quoted(text)}; it must be a number of seconds from 0 to {MAX_LEASE_S:.0f}")
    return seconds


def _lease(text: str) -> float | None:
    if text == "off":
        return None
    seconds = _seconds(text)
    if not seconds:
        _refuse(f"is {quoted(text)}; give a number of seconds above 0, or off; {MAX_LEASE_S:.0f} is the most")
    return seconds


def _seconds(text: str) -> float | None:
    """The number, or None for what is none or too large."""
    if not _SECONDS.fullmatch(text):
        return None
    seconds = float(text)
    return seconds if seconds <= MAX_LEASE_S else None


def _refuse(problem: str) -> NoReturn:
    raise ValueError(problem)


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "db",
        "--db",
        "MEMORY_DB",
        "memory.db in the user's data folder",
        "the file that holds the memory",
        _path,
    ),
    Setting(
        "agent",
        "--agent",
        "AGENT_ID",
        "agent",
        "the name of the agent who reads and writes",
        _agent,
    ),
    Setting(
        "session",
        "--session",
        "MEMORY_SESSION",
        "a fresh one",
        "the session that writes are recorded under",
        _name,
    ),
    Setting(
        "namespace",
        "--namespace",
        "MEMORY_NAMESPACE",
        "default",
        "the namespace within the file",
        _name,
    ),
    Setting(
        "durability",
        "--durability",
        "MEMORY_DURABILITY",
        "full",
        "how safe a write is: full survives a power cut, normal is faster and may lose the last moments",
        _durability,
    ),
    Setting(
        "mode",
        "--read-only",
        "MEMORY_MODE",
        "rw",
        "make, change and migrate nothing, and refuse what would write: ro or rw",
        _mode,
        is_switch=True,
    ),
    Setting(
        "lease_s",
        "--lease-s",
        "MEMORY_LEASE_S",
        "off",
        "seconds after which a claimed packet is open again, or off",
        _lease,
    ),
    Setting(
        "busy_timeout_s",
        "--busy-timeout-s",
        "MEMORY_BUSY_TIMEOUT_S",
        "15",
        "seconds to wait for another process that is writing",
        _timeout,
    ),
    Setting(
        "structured",
        "--structured",
        "MEMORY_STRUCTURED",
        "off",
        "have the tools that read answer an object beside the text, too: on or off",
        _switch,
        is_switch=True,
    ),
    Setting(
        "redact_secrets",
        "--redact-secrets",
        "MEMORY_REDACT_SECRETS",
        "off",
        "take secrets of a known form out of what is stored, before it is: on or off",
        _switch,
        is_switch=True,
    ),
)
"""Every setting, in the order to list them in."""
