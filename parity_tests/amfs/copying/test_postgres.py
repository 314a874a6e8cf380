"""To a real PostgreSQL through the SDK's own adapter, and back."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from amfs_sqlite.sync import SyncSqliteAdapter
from bridge.cli.exits import UNUSABLE
from bridge.cli.main import main
from parity_tests.amfs.copying import postgres_server
from parity_tests.amfs.copying.commands import WAITS, copied, entry, filled, killed_copy, versions
from parity_tests.amfs.programs.processes import TEST_PATIENCE_S, needs
from parity_tests.ledger import proves

MISSING = postgres_server.missing()
EVERYTHING = {"entries": 5, "outcomes": 1, "traces": 1, "events": 1, "agents": 1, "edges": 1}
GRAPH = "003_knowledge_graph.sql"

pytestmark = [
    pytest.mark.timeout(TEST_PATIENCE_S),
    pytest.mark.skipif(MISSING is not None, reason=str(MISSING)),
    needs("amfs_postgres", "amfs-adapter-postgres"),
    # The SDK's own way to open its pool.
    pytest.mark.filterwarnings("ignore:the default for the ConnectionPool:DeprecationWarning"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A server of its own, and the folder of its socket."""
    with postgres_server.served() as folder:
        yield folder


@pytest.fixture
def dsn(server: str) -> str:
    """A new database, as the SDK's adapter makes it for itself."""
    return postgres_server.dsn(server, _made(server))


@pytest.fixture
def whole_dsn(server: str) -> str:
    """A new database to which the SDK's migration for the graph was applied, which it leaves to its owner."""
    import amfs_postgres  # noqa: PLC0415 - where it is installed
    import psycopg  # noqa: PLC0415 - where there is a server alone

    dsn = postgres_server.dsn(server, _made(server))
    amfs_postgres.PostgresAdapter(dsn).close()
    assert amfs_postgres.__file__ is not None
    migration = Path(amfs_postgres.__file__).parent / "migrations" / GRAPH
    with psycopg.connect(dsn) as connection:
        connection.execute(migration.read_bytes())
    return dsn


def _made(server: str) -> str:
    import psycopg  # noqa: PLC0415 - where it is installed

    name = f"copy_{uuid4().hex}"
    with psycopg.connect(postgres_server.dsn(server, "postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return name


@proves("copying.postgres")
def test_a_memory_goes_to_a_database_and_comes_back_as_it_was(tmp_path: Path, whole_dsn: str) -> None:
    source, back = filled(tmp_path / "memory.db"), tmp_path / "back.db"
    there = copied(source, whole_dsn)
    assert there.counts("stored") == EVERYTHING
    assert there.counts("missing") == there.counts("leftOut") == {}
    again = copied(whole_dsn, back)
    assert again.counts("stored") == EVERYTHING
    assert again.counts("missing") == again.counts("leftOut") == {}
    assert [each["value"] for each in versions(back)] == ["ten", 3, WAITS, WAITS, 8]
    for ours, theirs in zip(versions(source), versions(back), strict=True):
        assert ours["provenance"] == theirs["provenance"]
        assert ours["confidence"] == pytest.approx(theirs["confidence"], abs=0.00005)
        assert (ours["version"], ours["success_count"]) == (theirs["version"], theirs["success_count"])


@proves("copying.twice")
def test_a_database_that_holds_it_all_is_not_written_to_again(tmp_path: Path, whole_dsn: str) -> None:
    source = filled(tmp_path / "memory.db")
    with SyncSqliteAdapter(source) as memory:
        # A list without a path leaves out paths of this kind there.
        memory.write(entry("@shared/notes", "k", 1, 5))
    first = copied(source, whole_dsn)
    assert first.counts("missing") == {}
    second = copied(source, whole_dsn)
    assert second.counts("stored") == second.counts("missing") == {}
    assert second.counts("held") == first.counts("stored")
    back = tmp_path / "back.db"
    copied(whole_dsn, back)
    assert copied(whole_dsn, back).counts("stored") == {}


@proves("copying.killed")
@pytest.mark.parametrize(
    ("method", "let_pass"),
    [("commit_outcome", 0), ("write", 0), ("write", 3), ("save_trace", 0), ("log_event", 0)],
)
def test_a_copy_to_a_database_that_was_killed_is_complete_when_it_is_run_again(
    tmp_path: Path, whole_dsn: str, method: str, let_pass: int
) -> None:
    source = filled(tmp_path / "memory.db")
    killed_copy(source, whole_dsn, method, let_pass)
    done = copied(source, whole_dsn)
    held = done.counts("held")
    assert {kind: count + held.get(kind, 0) for kind, count in done.counts("stored").items()} | {
        kind: count for kind, count in held.items() if kind not in done.counts("stored")
    } == EVERYTHING
    assert done.counts("missing") == done.counts("leftOut") == {}
    assert copied(source, whole_dsn).counts("held") == EVERYTHING


@proves("copying.told")
def test_what_a_database_cannot_hold_is_told_and_all_else_is_copied(tmp_path: Path, dsn: str) -> None:
    source = tmp_path / "memory.db"
    with SyncSqliteAdapter(source) as memory:
        memory.write(entry("svc", "nul", "a\0b", 0))
        memory.write(entry("svc", "digits", "123", 1))
        memory.write(entry("svc", "sure", 1, 2, confidence=0.123456789))
        memory.write(entry("svc", "private", 1, 3, "executor", shared=False))
    done = copied(source, dsn)
    assert (done.code, done.report["isComplete"]) == (1, False)
    assert done.left_out().keys() == {"svc/nul@1"}
    assert "Unicode" in done.left_out()["svc/nul@1"]
    assert done.differences("changed") == {"confidence", "value"}
    assert done.differences("absent") == {"content_hash", "integrity_chain", "commit_id"}
    assert (done.counts("stored"), done.counts("missing")) == ({"entries": 3}, {})


@proves("copying.told")
def test_a_kind_that_a_database_has_no_table_for_is_told_and_all_else_is_copied(
    tmp_path: Path, dsn: str
) -> None:
    done = copied(filled(tmp_path / "memory.db"), dsn)
    assert "amfs_knowledge_graph" in (done.reason("edges") or "")
    assert done.counts("leftOut") == {"edges": 1}
    assert done.counts("stored") == {"entries": 5, "outcomes": 1, "traces": 1, "events": 1, "agents": 1}
    assert done.code == 1


@proves("copying.conflicts")
def test_an_address_that_holds_something_else_in_a_database_is_left_alone(tmp_path: Path, dsn: str) -> None:
    other, source = tmp_path / "other.db", tmp_path / "memory.db"
    for path, value, hour in ((other, "theirs", 9), (source, "ours", 0)):
        with SyncSqliteAdapter(path) as memory:
            memory.write(entry("svc", "k", value, hour))
    copied(other, dsn)
    done = copied(source, dsn)
    assert (done.code, done.report["conflictCount"], done.counts("stored")) == (1, 1, {})
    copied(dsn, tmp_path / "back.db")
    assert [each["value"] for each in versions(tmp_path / "back.db")] == ["theirs"]


@proves("copying.dry-run")
def test_a_dry_run_stores_nothing_in_a_database_and_makes_no_tables(
    tmp_path: Path, dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = filled(tmp_path / "memory.db")
    for command in (
        ["copy", str(source), "--to", dsn, "--dry-run"],
        ["copy", dsn, "--to", f"{tmp_path}/b.db"],
    ):
        assert main(command) == UNUSABLE
        said = capsys.readouterr().err
        assert said.startswith("endpoint: 'postgresql:///copy_")
        assert ": has no tables of AMFS; name another database;" in said
    assert not (tmp_path / "b.db").exists()
    with SyncSqliteAdapter(tmp_path / "empty.db"):
        copied(tmp_path / "empty.db", dsn)
    trial, done = copied(source, dsn, "--dry-run"), copied(source, dsn)
    for number in ("stored", "held", "leftOut"):
        assert trial.counts(number) == done.counts(number)


@proves("copying.ends")
def test_a_database_that_is_not_there_ends_the_copy_with_one_line(
    tmp_path: Path, server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    dsn = postgres_server.dsn(server, "nowhere") + "&password=secret"
    assert main(["copy", dsn, "--to", str(tmp_path / "copy.db")]) == UNUSABLE
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert 'database "nowhere" does not exist' in shown.err
    assert "secret" not in shown.err
