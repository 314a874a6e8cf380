"""docs/reference/settings.md, from the table of settings."""

from bridge.settings import SETTINGS
from parity_tests.docs.reference import markdown

TITLE = "Settings"

DEFAULT_FILES = {
    "Linux": "~/.local/share/amfs-sqlite/memory.db",
    "macOS": "~/Library/Application Support/amfs-sqlite/memory.db",
    "Windows": r"%LOCALAPPDATA%\amfs-sqlite\memory.db",
}
"""Where the default file lies; a test asks the library that finds the place."""

INTRODUCTION = """
Every setting is an argument and an environment variable. An argument wins over its variable, and that
over the default. A value that cannot be accepted ends the start with code 2 and one line that names
where it came from.
"""

WHO = """
`amfs-sqlite-mcp` takes all of them. The command `amfs-sqlite` takes `--db`, `--namespace`, `--read-only`
and `--busy-timeout-s`, before or behind the subcommand's name, and `--agent` where it changes a packet. It
reads the variables of the others too. `--read-only` stands alone; its variable is `ro` or `rw`.
"""

DEFAULT_FILE = """
## The file

A path may be relative (to the folder the program is started in) or begin with `~`. Variables in it are
not expanded. Folders and links are resolved, so that one file has one name; `memory_stats` and
`amfs-sqlite stats` say it. Missing folders are made, for this user alone (0700), and so is the file
(0600).

Where no file is named, it is this one:
"""

XDG = """
On Linux `XDG_DATA_HOME` moves it, if it is set.
"""


def page() -> str:
    """The page."""
    rows = [[f"`{each.flag}`", f"`{each.variable}`", each.default, each.meaning] for each in SETTINGS]
    return markdown.page(
        TITLE,
        INTRODUCTION,
        markdown.table(["argument", "variable", "default", "meaning"], rows),
        WHO,
        DEFAULT_FILE,
        default_files(),
        XDG,
    )


def default_files() -> str:
    """A table of where the default file lies."""
    rows = [[system, markdown.code(path)] for system, path in DEFAULT_FILES.items()]
    return markdown.table(["system", "file"], rows)
