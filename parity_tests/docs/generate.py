"""Makes the reference pages, and that of deviations, from the code: `python -m parity_tests.docs.generate`.

The table of tools in the README is made with them. A test holds all of them to what this makes.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from parity_tests.docs import pages
from parity_tests.docs.reference import (
    command,
    coverage,
    deviations,
    deviations_sdk,
    errors,
    limits,
    protocol,
    python,
    schema,
    settings,
    structured,
    tools,
)

MADE: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        f"{pages.REFERENCE}/tools.md": tools.page,
        f"{pages.REFERENCE}/command.md": command.page,
        f"{pages.REFERENCE}/python.md": python.page,
        f"{pages.REFERENCE}/protocol.md": protocol.page,
        f"{pages.REFERENCE}/settings.md": settings.page,
        f"{pages.REFERENCE}/errors.md": errors.page,
        f"{pages.REFERENCE}/limits.md": limits.page,
        f"{pages.REFERENCE}/schema.md": schema.page,
        f"{pages.REFERENCE}/structured.md": structured.page,
        f"{pages.REFERENCE}/amfs-coverage.md": coverage.page,
        f"{pages.EXPLANATION}/deviations.md": deviations.page,
        f"{pages.EXPLANATION}/deviations-sdk.md": deviations_sdk.page,
    }
)
"""The pages that are made, and what makes each."""

TOOLS_BEGIN = "<!-- tools: made by `python -m parity_tests.docs.generate` -->\n\n"
TOOLS_END = "\n\n<!-- /tools -->"


def readme() -> str:
    """The README with the table of tools that there are."""
    before, _, rest = pages.text(pages.README).partition(TOOLS_BEGIN)
    _, end, after = rest.partition(TOOLS_END)
    if not end:
        raise ValueError(f"{pages.README} has no place for the table of tools")
    return f"{before}{TOOLS_BEGIN}{tools.overview()}{end}{after}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages; the exit code."""
    if sys.argv[1:] if arguments is None else arguments:
        sys.stderr.write("usage: python -m parity_tests.docs.generate\n")
        return 2
    for page, made in [*MADE.items(), (pages.README, readme)]:
        (pages.ROOT / page).write_text(made(), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
