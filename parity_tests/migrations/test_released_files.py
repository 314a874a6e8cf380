"""Files of every released schema open, verify, answer and go on. `make_file.py` tells how they were made."""

import shutil
from pathlib import Path

import pytest

from amfs_sqlite import HANDOFF, SearchQuery, SqliteAdapter
from amfs_sqlite.sqlite import migrate
from parity_tests.drafts import at, draft, outcome
from parity_tests.ledger import proves

FILES = sorted((Path(__file__).parent / "files").glob("schema_*.db"))


@pytest.fixture(params=FILES, ids=lambda file: file.stem)
def released(request: pytest.FixtureRequest, path: str) -> str:
    """A copy of a file as an older release left it."""
    shutil.copyfile(request.param, path)
    Path(path).chmod(0o600)
    return path


@proves("migrations.released-files")
def test_there_is_a_file_of_every_schema() -> None:
    assert [file.name for file in FILES] == [f"schema_{n}.db" for n in range(1, migrate.NEWEST + 1)]


@proves("migrations.released-files")
async def test_a_file_of_an_older_release_verifies(released: str) -> None:
    async with SqliteAdapter(released) as adapter:
        report = await adapter.verify()
        assert (await adapter.describe()).schema_version == migrate.NEWEST
    assert report.findings == ()
    assert (report.key_count, report.version_count, report.commit_count, report.outcome_count) == (5, 6, 8, 3)


@proves("migrations.released-files")
async def test_a_file_of_an_older_release_answers_as_it_did(released: str) -> None:
    async with SqliteAdapter(released, outcomes=HANDOFF) as adapter:
        first, second = await adapter.history("svc/api", "limit")
        assert (first.value, first.tags, first.superseded_at) == ({"rate": 100}, ("fact",), second.written_at)
        assert (second.value, second.confidence, second.success_count) == ({"rate": 250}, 0.68, 1)
        words = await adapter.read_at_version("svc/db", "words", 1)
        assert words is not None
        assert words.model_extra == {"custom": {"kept": True}}
        number = await adapter.read_at_version("svc/db", "number", 1)
        assert number is not None
        assert number.value == 10**30
        for text in ("quick fox", "部署", "qui*"):
            page = await adapter.search(SearchQuery(text=text))
            assert [entry.key for entry in page.entries] == ["words"]
        page = await adapter.search(SearchQuery(tag="new"))
        assert [entry.key for entry in page.entries] == ["limit"]
        assert {entry.key for entry in await adapter.list(viewer="alice")} == {
            "limit",
            "words",
            "number",
            "new",
        }
        saved, both, *_ = await adapter.list_commits()
        assert (saved.id, saved.message, both.message) == ("imported", "said later", "both")
        reasons = [effect.reason for each in await adapter.list_outcomes() for effect in each.effects]
        assert reasons == [None, "stale", None]
        repeated = await adapter.recorded_result("request-1", author="eve")
        assert repeated is not None
        assert repeated.commit.id == both.id


@proves("migrations.released-files")
async def test_a_file_of_an_older_release_goes_on(released: str) -> None:
    async with SqliteAdapter(released, outcomes=HANDOFF) as adapter:
        assert (await adapter.write(draft("svc/api", "limit", {"rate": 300}))).version == 3
        (moved,) = await adapter.commit_outcome(outcome("success", at("svc/api", "new"), outcome_ref="run-9"))
        assert moved.success_count == 1
        assert (await adapter.verify()).findings == ()
    async with SqliteAdapter(released) as adapter:
        page = await adapter.search(SearchQuery(text="300"))
        assert [entry.version for entry in page.entries] == [3]
        assert (await adapter.verify()).findings == ()
