"""The pages hang together: links lead somewhere, the index names all, and what is named exists."""

import doctest
import re
import runpy
from pathlib import PurePosixPath
from types import ModuleType

import pytest

from parity_tests.docs import pages, samples
from parity_tests.docs.commands import CLONE_SCRIPTS, project_targets
from parity_tests.docs.reference import limits, markdown
from parity_tests.ledger import proves

ALL = pages.names()
PLAIN_FILE = re.compile(r"[\w./-]+\.(?:py|sql|txt|md|toml)")
# Files of the reader's own that the pages tell of.
THEIRS = {"CLAUDE.md", "AGENTS.md", "~/.codex/config.toml", "scout.py", "noon.py", "executor.py"}


@pages.documents_here
@proves("docs.pages")
@pytest.mark.parametrize("page", ALL)
def test_every_link_leads_somewhere(page: str) -> None:
    for target in pages.links(page):
        if target.startswith("https://"):
            continue
        path, _, place = target.partition("#")
        found = (pages.ROOT / page).parent / path if path else pages.ROOT / page
        assert found.exists(), f"{page} links to {target}"
        if place:
            name = found.resolve().relative_to(pages.ROOT).as_posix()
            assert place in {markdown.anchor(heading) for heading in pages.headings(name)}, (
                f"{page} links to {target}"
            )


@pages.documents_here
@proves("docs.pages")
def test_the_index_names_every_page() -> None:
    named = {(PurePosixPath("docs") / target).as_posix() for target in pages.links(pages.INDEX)}
    numbered = {page for page in ALL if re.match(r"docs/decisions/\d", page)}
    assert {*ALL} - named - numbered == {pages.README, pages.INDEX}
    decisions = {f"docs/decisions/{target}" for target in pages.links("docs/decisions/README.md")}
    assert decisions == numbered


@pages.documents_here
@proves("docs.pages")
def test_a_decision_is_listed_under_its_title() -> None:
    (listed,) = pages.tables("docs/decisions/README.md")
    told = [(*re.findall(r"\[(\d{4})\]\((.*)\)", link), title) for link, title in listed if link]
    assert told
    for (number, file), title in told:
        assert pages.title(f"docs/decisions/{file}") == f"{number} {title}"


@pages.documents_here
@proves("docs.pages")
@pytest.mark.parametrize("page", ALL)
def test_every_file_of_ours_that_a_page_names_exists(page: str) -> None:
    for span in pages.spans(page):
        if PLAIN_FILE.fullmatch(span) and span not in THEIRS:
            places = [pages.ROOT / span, pages.ROOT / "amfs_sqlite" / span]
            assert any(place.is_file() for place in places), f"{page} names {span}"


@pages.documents_here
@proves("docs.pages")
def test_the_readme_lists_the_targets_that_there_are() -> None:
    listed = [
        row[0].strip("`")
        for table in pages.tables(pages.README)
        for row in table
        if row[0].startswith("`make ")
    ]
    assert {each.removeprefix("make ") for each in listed} == project_targets()


@pages.documents_here
@proves("docs.pages")
def test_the_commands_of_a_clone_lie_where_its_setup_puts_them() -> None:
    venv = runpy.run_path(str(pages.ROOT / "dev.py"))["VENV"]
    assert f"{venv.relative_to(pages.ROOT)}/bin/" == CLONE_SCRIPTS
    assert f"`{venv.name}\\Scripts\\amfs-sqlite`" in pages.text(pages.README)


@pages.documents_here
@proves("docs.pages")
def test_the_first_screen_of_the_readme_has_the_two_commands() -> None:
    first = pages.blocks(pages.README)[0]
    assert first.text.splitlines() == ["make demo", "make test"]
    assert first.line <= 24


@pytest.mark.parametrize("module", [limits, markdown, samples])
def test_the_examples_of_what_reads_and_makes_pages_are_true(module: ModuleType) -> None:
    assert doctest.testmod(module) == (0, {limits: 1, markdown: 3, samples: 2}[module])
