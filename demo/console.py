"""How the demo talks: numbered sections of short lines, in ASCII."""

import os
import sys

RULE_CHARACTERS = 67
CUT_SHORT = 141
"""The exit code where nobody reads on, as shells have it."""


def plain(text: str) -> str:
    r"""Text as it may stand on a line of ours: ASCII, and one line whatever it holds.

    >>> plain("caf\u00e9\n--- 7. forged ---")
    'caf\\xe9\\n--- 7. forged ---'
    """
    return "".join(
        each if each.isascii() and each.isprintable() else each.encode("unicode_escape").decode()
        for each in text
    )


class Console:
    """What one process prints."""

    def __init__(self) -> None:
        self._section_count = 0

    def section(self, title: str) -> None:
        """Begin the next numbered section."""
        self._section_count += 1
        self.rule(f"{self._section_count}. {title}")

    def rule(self, title: str) -> None:
        """Begin a section without a number."""
        print()
        print(f"--- {title} ".ljust(RULE_CHARACTERS, "-"))

    def line(self, text: str) -> None:
        """Say one thing."""
        print(f"  . {plain(text)}")


def hang_up() -> None:
    """After a BrokenPipeError: whoever read this, as `head` does, has enough; the rest goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
