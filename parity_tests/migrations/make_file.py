"""Makes the small file that a test opens as an older release wrote it.

`python -m parity_tests.migrations.make_file` writes `files/schema_N.db`, N being the newest schema.
Run it once when a schema is released, and never again for that N: what matters about such a file is
that no newer code has touched it. The file holds one of everything: values of each kind, versions, tags,
private and expiring entries, outcomes, a commit from outside, a description, a repeated request.
"""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from amfs_sqlite import HANDOFF, Change, Commit, CountedIds, FixedClock, Outcome, SqliteAdapter, Write
from amfs_sqlite.clock import instant
from amfs_sqlite.sqlite.migrate import NEWEST
from parity_tests.drafts import at, draft, outcome, private

FOLDER = Path(__file__).parent / "files"


async def fill(path: Path) -> None:
    """Write the story that the file tells."""
    clock = FixedClock("2026-01-01T00:00:00Z")
    async with SqliteAdapter(path, outcomes=HANDOFF, clock=clock, ids=CountedIds()) as adapter:
        await adapter.write(draft("svc/api", "limit", {"rate": 100}, confidence=0.5, tags=("fact",)))
        clock.set("2026-01-02T00:00:00.000001Z")
        await adapter.write(draft("svc/api", "limit", {"rate": 250}, confidence=0.6, tags=("fact", "new")))
        await adapter.write_batch(
            [
                draft("svc/db", "words", "the quick brown fox 今天讨论了部署方案", custom={"kept": True}),
                draft("svc/db", "number", 10**30, ttl_at="2026-02-01"),
                private("svc/db", "secret", [None, 1.5, {"a": "é"}], agent="bob"),
            ]
        )
        await adapter.commit_outcome(outcome("success", at("svc/api", "limit", 2), note="held"))
        await adapter.commit_outcome(outcome("failure", at("svc/api", "limit", 1), outcome_ref="run-2"))
        both: list[Change] = [
            Write(draft("svc/api", "new")),
            Outcome(outcome("failure", at("svc/db", "words"), agent="eve")),
        ]
        await adapter.commit(both, author="eve", message="both", idempotency_key="request-1")
        saved = Commit(id="imported", author_agent_id="eve", created_at=instant("2025-12-31"))
        await adapter.save_commit(saved)
        await adapter.save_commit(saved.model_copy(update={"message": "said later"}))


def main() -> None:
    """Make the file of the newest schema."""
    path = FOLDER / f"schema_{NEWEST}.db"
    if path.exists():
        raise SystemExit(f"{path.name} exists and stays as it is")
    asyncio.run(fill(path))
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("VACUUM")
    (path.parent / f"{path.name}-lock").unlink(missing_ok=True)


if __name__ == "__main__":
    main()
