"""The reference pages are what the code makes of itself, and leave nothing out."""

import importlib
import inspect
import pkgutil
import re
import sqlite3
from pathlib import Path

import pytest
from platformdirs.macos import MacOS
from platformdirs.unix import Unix
from platformdirs.windows import Windows

import amfs_sqlite
from amfs_sqlite import AdapterClosedError, AmfsAdapter, InvalidArgumentError, SqliteAdapter
from amfs_sqlite import protocol as amfs_protocol
from amfs_sqlite.rules.limits import check_whole_number
from bridge import operations
from bridge.cli.main import app
from bridge.mcp_server.server import TOOLS
from parity_tests.docs import generate, pages
from parity_tests.docs.reference import (
    errors,
    limits,
    markdown,
    protocol,
    python,
    schema,
    settings,
    structured,
)
from parity_tests.ledger import proves
from parity_tests.nouns import NOUNS

HOW_TO = "docs/how-to/connect-a-client.md"


@pages.documents_here
@proves("docs.reference")
@pytest.mark.parametrize("page", list(generate.MADE))
def test_a_reference_page_is_what_the_code_makes(page: str) -> None:
    assert pages.text(page) == generate.MADE[page](), "run python -m parity_tests.docs.generate"


@pages.documents_here
@proves("docs.reference")
def test_the_readme_lists_the_tools_that_there_are() -> None:
    assert pages.text(pages.README) == generate.readme(), "run python -m parity_tests.docs.generate"
    (listed,) = [table for table in pages.tables(pages.README) if table[0][0] == "tool"]
    assert [row[0].strip("`") for row in listed[1:]] == list(TOOLS)


@pages.documents_here
def test_the_pages_are_made_by_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tmp_path / pages.README
    made.write_text(pages.text(pages.README), encoding="utf-8")
    for folder in (pages.REFERENCE, pages.EXPLANATION):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    assert generate.main([]) == 0
    assert made.read_text(encoding="utf-8") == generate.readme()
    assert all((tmp_path / page).is_file() for page in generate.MADE)
    assert generate.main(["--what"]) == 2
    made.write_text("# no place for the tools\n", encoding="utf-8")
    with pytest.raises(ValueError, match="no place for the table"):
        generate.main([])


@proves("docs.reference")
def test_every_error_that_can_be_raised_is_listed_under_a_code_of_its_own() -> None:
    assert {type(each) for each in errors.EXAMPLES} == errors.kinds()
    assert len({each.code for each in errors.EXAMPLES}) == len(errors.EXAMPLES)


@proves("docs.reference")
async def test_what_is_shown_of_an_adapter_that_is_not_open_is_what_it_says(tmp_path: Path) -> None:
    said = []
    adapter = SqliteAdapter(tmp_path / "memory.db")
    with pytest.raises(AdapterClosedError) as never_opened:
        await adapter.read("p", "k")
    said.append(f"closed: {never_opened.value}")
    async with adapter:
        pass
    with pytest.raises(AdapterClosedError) as closed:
        await adapter.read("p", "k")
    said.append(f"closed: {closed.value}")
    (section,) = re.findall(r"^## `closed`\n(.*?)^## ", errors.page(), re.MULTILINE | re.DOTALL)
    assert sorted(re.findall(r"^closed: .*$", section, re.MULTILINE)) == sorted(said)


@proves("docs.reference")
def test_every_limit_that_has_a_name_is_told() -> None:
    rows = (*limits.STORE, *limits.HANDOFF)
    told = {(each.module, each.name) for each in rows}
    named = {
        (module, name)
        for module in {each.module for each in rows}
        for name in re.findall(r"^(MAX_[A-Z_]+) = ", inspect.getsource(module), re.MULTILINE)
    }
    assert told <= named
    # What a float holds is no choice of ours, and how long a word is stands below the table.
    assert {name for _, name in named - told} == {"MAX_FLOAT", "MAX_TOKEN_CHARACTERS"}


@proves("docs.reference")
@pytest.mark.parametrize(
    ("operation", "numbers"),
    [
        ("write", ["{MAX_ADDRESS_CHARACTERS:,} characters", "{MAX_DEPTH} levels", "{MAX_MEMBERS:,}"]),
        ("write", ["16 MiB", "{MAX_TAGS:,} tags"]),
        ("write_batch", ["{MAX_CHANGES:,}"]),
        ("commit", ["{MAX_CHANGES:,}"]),
        ("commit_outcome", ["{MAX_NAME_CHARACTERS:,}", "{MAX_NOTE_CHARACTERS:,}", "{MAX_REFERENCES:,}"]),
        ("search", ["{MAX_QUERY_CHARACTERS:,} characters", "{MAX_PATHS} "]),
    ],
)
def test_an_operation_names_its_limits(operation: str, numbers: list[str]) -> None:
    known = {each.name: getattr(each.module, each.name) for each in limits.STORE}
    assert known["MAX_VALUE_BYTES"] == 16 * 2**20
    said = " ".join((inspect.getdoc(getattr(AmfsAdapter, operation)) or "").split())
    assert [number for number in numbers if number.format(**known) not in said] == []


@pages.documents_here
@proves("docs.reference")
def test_the_largest_whole_number_of_the_table_is_the_largest_that_is_accepted() -> None:
    table, _ = pages.tables("docs/reference/limits.md")
    (largest,) = [int(most.replace(",", "")) for of, most in table if of.startswith("a whole number from 0")]
    check_whole_number(largest, "limit")
    with pytest.raises(InvalidArgumentError):
        check_whole_number(largest + 1, "limit")


@proves("docs.reference")
def test_the_members_of_a_class_are_told_with_what_they_return_and_with_all_that_they_say() -> None:
    page = python.page()
    assert "\n- `async verify() -> VerificationResult`: " in page
    assert "\n- `compute_new_confidence(current_confidence: float, outcome_type: str, " in page
    assert "\n- `make_record(outcome_ref: str, outcome_type: str, " in page
    assert "\n  **With a recall_config the query is not looked for at all**" in page
    assert ">>>" not in page
    assert "MAX_" not in page


@proves("docs.reference")
def test_every_subcommand_has_a_section() -> None:
    sections = re.findall(
        r"^## `amfs-sqlite (.*)`$", generate.MADE["docs/reference/command.md"](), re.MULTILINE
    )
    assert {each.split()[0] for each in sections} == set(app.commands)


@proves("docs.protocol")
def test_every_operation_of_an_adapter_is_in_the_protocol_page_with_what_it_owes() -> None:
    page = protocol.page()
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    assert list(sections) == [noun.__name__ for noun in protocol.nouns()]
    owed = {name for noun in NOUNS.values() for name in dir(noun) if not name.startswith("_")}
    told = [name for noun in protocol.nouns() for name, _ in protocol.operations(noun)]
    assert sorted(told) == sorted(owed)
    for noun in protocol.nouns():
        for name, _ in protocol.operations(noun):
            _, heading, rest = sections[noun.__name__].partition(f"### `{name}`\n")
            assert heading
            # What the page says of an operation is what both adapters' own inherited text says.
            first = (inspect.getdoc(getattr(SqliteAdapter, name)) or "").split("\n\n")[0]
            assert first
            assert markdown.prose(first) in rest


@proves("docs.reference")
def test_every_public_name_and_every_operation_is_told() -> None:
    pages = [generate.MADE[f"docs/reference/{name}.md"]() for name in ("python", "protocol")]
    assert [name for name in amfs_sqlite.__all__ if not any(f"`{name}`" in page for page in pages)] == []
    headings = {name for page in pages for name in re.findall(r"^###+ `(.*)`$", page, re.MULTILINE)}
    for found in pkgutil.iter_modules(operations.__path__):
        module = importlib.import_module(f"{operations.__name__}.{found.name}")
        for name, function in vars(module).items():
            if inspect.iscoroutinefunction(function) and not name.startswith("_"):
                assert f"{found.name}.{name}" in headings
    nouns = [getattr(amfs_protocol, name) for name in amfs_protocol.__all__]
    assert {name for noun in nouns for name in vars(noun) if not name.startswith("_")} <= headings


@proves("docs.reference")
def test_each_tool_is_told_with_the_operations_behind_it() -> None:
    told = {tool.strip("`"): found.replace("`", "").split(", ") for tool, found in python.tool_rows()}
    assert list(told) == list(TOOLS)
    assert [set(told[name]) for name in ("remember", "handoff", "resume", "memory_stats")] == [
        {"entries.remember"},
        {"packets.give", "references.resolve_all"},
        {"packets.take", "packets.peek"},
        {"statistics.stats", "integrity.verify"},
    ]


@proves("docs.reference")
def test_every_table_and_column_of_a_file_is_in_the_schema_page() -> None:
    page = schema.page()
    sections = dict(re.findall(r"^## `(\w+)`\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    with sqlite3.connect(":memory:") as connection:
        connection.executescript(schema.source())
        made = connection.execute(
            "SELECT type, name, tbl_name FROM sqlite_master WHERE sql IS NOT NULL"
        ).fetchall()
        tables = [name for kind, name, _ in made if kind == "table" and not name.startswith("text_index_")]
        assert list(sections) == tables
        for table in tables:
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            listed = re.findall(r"^\| `(\w+)` \|", sections[table], re.MULTILINE)
            assert listed == ([] if table == "text_index" else columns)
        indexes = [(name, table) for kind, name, table in made if kind == "index"]
        assert indexes
        assert [name for name, table in indexes if f"Index `{name}`" not in sections[table]] == []


@pytest.mark.parametrize(
    "line", ["DROP TABLE meta;", "CREATE TABLE meta (\n    FOREIGN KEY (name)\n) STRICT;"]
)
def test_a_schema_that_cannot_be_read_is_no_page(line: str) -> None:
    with pytest.raises(ValueError, match="no known form"):
        list(schema.parts(f"{line}\n".splitlines()))


@proves("docs.default-file")
def test_the_default_file_lies_where_the_pages_say(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    monkeypatch.setattr("platformdirs.windows.get_win_folder", lambda _: str(tmp_path / "local"))
    for system, kind in (("Linux", Unix), ("macOS", MacOS), ("Windows", Windows)):
        said = settings.DEFAULT_FILES[system].replace("%LOCALAPPDATA%", str(tmp_path / "local"))
        found = kind("amfs-sqlite", appauthor=False).user_data_path / "memory.db"
        assert found == Path(said.replace("\\", "/")).expanduser()


@pages.documents_here
@proves("docs.default-file")
def test_the_how_to_has_the_same_default_files() -> None:
    assert settings.default_files() in pages.text(HOW_TO)


@pages.documents_here
@proves("docs.reference")
def test_every_code_in_the_table_of_troubles_is_an_error() -> None:
    (troubles,) = [table for table in pages.tables(HOW_TO) if table[0][0] == "what you see"]
    codes = [row[0].strip("`") for row in troubles[1:] if row[0].startswith("`")]
    assert codes
    assert set(codes) <= {each.code for each in errors.EXAMPLES}


@proves("docs.reference")
def test_every_member_of_a_structured_answer_is_explained() -> None:
    rows = re.findall(r"^\| `(\S+)` \| [^|]+ \| (.*)$", structured.page(), re.MULTILINE)
    assert rows
    # Counts by state and by kind, which the object above them explains.
    counts = ("packets.", "checked.")
    assert [name for name, meaning in rows if meaning == "|" and not name.startswith(counts)] == []


@pages.documents_here
@proves("docs.reference")
def test_the_readme_has_an_example_of_each_package_as_the_python_page_says() -> None:
    said = " ".join(python.page().split())
    assert "The [README](../../README.md#use-it-from-python) has an example of each." in said
    samples = [block.text for block in pages.blocks(pages.README) if block.language == "python"]
    for name in ("SqliteAdapter", "AgentMemory"):
        assert any(f"{name}(" in sample and "bridge" not in sample for sample in samples)
    assert any("from bridge." in sample for sample in samples)
