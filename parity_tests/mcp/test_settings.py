"""Settings: argument before variable before default, and one line for what cannot be accepted."""

from importlib.metadata import version
from pathlib import Path

import pytest

from amfs_sqlite import CountedIds
from bridge import settings
from bridge.mcp_server.main import main
from bridge.settings import SETTINGS, SettingError, from_sources
from parity_tests.ledger import proves


def problem(arguments: dict[str, str | None], environment: dict[str, str] | None = None) -> str:
    with pytest.raises(SettingError) as refused:
        from_sources(arguments, environment or {})
    message = str(refused.value)
    assert refused.value.code == "invalid_setting"
    assert "\n" not in message
    return message


@proves("mcp.settings")
def test_an_argument_wins_over_its_variable_and_that_over_the_default() -> None:
    environment = {"AGENT_ID": "from-variable", "MEMORY_NAMESPACE": "team"}
    found = from_sources({"agent": "from-argument", "namespace": None}, environment)
    assert (found.agent, found.namespace, found.durability) == ("from-argument", "team", "full")
    assert (found.lease_s, found.busy_timeout_s) == (None, 15.0)


@proves("mcp.settings")
def test_every_setting_has_an_argument_a_variable_and_a_meaning() -> None:
    assert [each.name for each in SETTINGS] == list(settings.Settings.__dataclass_fields__)
    assert len({each.flag for each in SETTINGS}) == len({each.variable for each in SETTINGS}) == len(SETTINGS)
    assert all(each.flag.startswith("--") and each.meaning and each.default for each in SETTINGS)


@proves("mcp.settings")
def test_each_run_without_a_session_gets_a_fresh_one() -> None:
    ids = CountedIds()
    sessions = [from_sources({}, {}, ids).session for _ in range(2)]
    assert sessions == ["sess-000000000001", "sess-000000000002"]


@proves("mcp.settings-path")
def test_the_default_file_lies_in_the_users_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "user_data_path", lambda name, **_: Path("/data") / name)
    assert Path(from_sources({}, {}).db) == Path("/data/amfs-sqlite/memory.db").resolve()


@proves("mcp.settings-path")
@pytest.mark.parametrize(
    ("given", "resolved"),
    [
        ("~/m.db", "HOME/m.db"),
        ("m.db", "CWD/m.db"),
        ("sub/../m.db", "CWD/m.db"),
        ("./a b/ü.db", "CWD/a b/ü.db"),
        ("link/m.db", "CWD/real/m.db"),
        ("link.db", "CWD/real.db"),
        ("/abs/m.db", "/abs/m.db"),
        ("a$b.db", "CWD/a$b.db"),
        (":memory:", ":memory:"),
    ],
)
def test_a_path_becomes_the_one_name_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, resolved: str
) -> None:
    home, here = tmp_path / "home", tmp_path / "here"
    (here / "real").mkdir(parents=True)
    (here / "link").symlink_to(here / "real")
    (here / "link.db").symlink_to(here / "real.db")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.chdir(here)
    expected = resolved.replace("HOME", str(home)).replace("CWD", str(here))
    if resolved != ":memory:":
        expected = str(Path(expected).resolve())
    assert from_sources({"db": given}, {}).db == expected
    assert from_sources({}, {"MEMORY_DB": given}).db == expected
    assert not home.exists()


@proves("mcp.settings")
@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("db", "", "is empty"),
        ("db", "  ", "is empty"),
        ("db", ".", "a folder"),
        ("db", "$HOME/m.db", "variables are not expanded"),
        ("db", "${HOME}/m.db", "variables are not expanded"),
        ("db", "/x/${NAME}.db", "variables are not expanded"),
        ("db", "%APPDATA%/m.db", "variables are not expanded"),
        ("db", "file:m.db?mode=ro", "not a URI"),
        ("db", "~nobody-of-this-name/m.db", "is no path"),
        ("db", "a\0b", "is no path"),
        ("agent", "", "is empty"),
        ("agent", "\t", "is empty"),
        ("agent", "a" * 1001, "the limit is 1000"),
        ("agent", "a\udcff", "lone surrogate"),
        ("session", "", "is empty"),
        ("namespace", " ", "is empty"),
        ("durability", "fast", "must be full or normal"),
        ("durability", "FULL", "must be full or normal"),
        ("durability", "", "must be full or normal"),
        ("lease_s", "0", "seconds above 0, or off"),
        ("lease_s", "-1", "number of seconds"),
        ("lease_s", "soon", "number of seconds"),
        ("busy_timeout_s", "nan", "number of seconds"),
        ("busy_timeout_s", "1_0", "number of seconds"),
        ("busy_timeout_s", "1e9", "number of seconds"),
        ("busy_timeout_s", "9" * 400, "number of seconds"),
    ],
)
def test_a_value_that_cannot_be_accepted_is_named_with_where_it_came_from(
    name: str, given: str, says: str
) -> None:
    setting = next(each for each in SETTINGS if each.name == name)
    by_argument = problem({name: given})
    assert by_argument.startswith(f"{setting.flag} ")
    assert says in by_argument
    by_variable = problem({}, {setting.variable: given})
    assert by_variable.startswith(f"{setting.variable} ")
    assert says in by_variable


@proves("mcp.settings")
def test_a_number_of_seconds_may_have_a_fraction() -> None:
    found = from_sources({"lease_s": "0.5", "busy_timeout_s": "0"}, {"MEMORY_LEASE_S": "9"})
    assert (found.lease_s, found.busy_timeout_s) == (0.5, 0.0)
    assert from_sources({"lease_s": "off"}, {"MEMORY_LEASE_S": "9"}).lease_s is None


@proves("mcp.settings")
@pytest.mark.parametrize(
    ("argv", "variable", "named"),
    [
        (["--durability", "fast"], None, "--durability"),
        (["--db", ""], None, "--db"),
        ([], ("MEMORY_DB", " "), "MEMORY_DB"),
        ([], ("AGENT_ID", ""), "AGENT_ID"),
        (["--durable", "full"], None, "--durable"),
        (["memory.db"], None, "memory.db"),
        (["--db"], None, "--db"),
    ],
)
def test_the_command_refuses_a_wrong_setting_in_one_line(
    argv: list[str],
    variable: tuple[str, str] | None,
    named: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if variable is not None:
        monkeypatch.setenv(*variable)
    try:
        code: object = main(argv)
    except SystemExit as ended:
        code = ended.code
    said = capsys.readouterr()
    assert code == 2
    assert said.out == ""
    assert said.err.startswith("amfs-sqlite-mcp: ")
    assert said.err.count("\n") == 1
    assert named in said.err


@proves("mcp.settings-ascii")
def test_the_help_names_every_argument_and_variable_in_ascii(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    said = capsys.readouterr().out
    assert ended.value.code == 0
    assert said.isascii()
    assert [each.flag for each in SETTINGS if each.flag not in said] == []
    assert [each.variable for each in SETTINGS if each.variable not in said] == []


@proves("mcp.settings-ascii")
def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"amfs-sqlite-mcp {version('amfs-sqlite')}\n"
