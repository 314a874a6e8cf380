"""The server is sent what comes by chance, and a server that cannot bear it is noticed."""

import json
import sys
from pathlib import Path
from random import Random

import pytest

from amfs_sqlite import HANDOFF, SqliteAdapter
from parity_tests.fuzzing import visits
from parity_tests.fuzzing.lines import Line, Lines
from parity_tests.fuzzing.visits import BrokenServerError, Visit, found, spelled, visit
from parity_tests.ledger import proves

KEPT = found()
# A server that answers everything, until it hears of a bomb.
FAKE = """
import json, sys
for line in sys.stdin.buffer:
    if b"bomb" in line:
        {on_bomb}
    try:
        message = json.loads(line)
    except ValueError:
        continue
    if "id" in message:
        print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], "result": {{}}}}), flush=True)
"""
BROKEN = {
    "dies": ("sys.exit(3)", "the server"),
    "falls silent": ("continue", "no answer to "),
    "prints": ("print('hello', flush=True)", "a line that is no JSON"),
    "answers otherwise": ("print('{}', flush=True)", "a line that is no message"),
    "fails": ("print('Traceback (most recent call last):', file=sys.stderr, flush=True)", "a traceback"),
}


@proves("fuzzing.server")
@pytest.mark.parametrize("seed", range(4))
async def test_whatever_it_is_sent_the_server_answers_and_serves_on(tmp_path: Path, seed: int) -> None:
    lines = Lines(Random(seed))  # noqa: S311 - what it draws is no secret
    with visit(tmp_path / "memory.db") as server:
        for _ in range(10):
            server.send([lines.next() for _ in range(30)])
        server.leave()
    async with SqliteAdapter(tmp_path / "memory.db", outcomes=HANDOFF) as adapter:
        assert (await adapter.verify()).ok
        assert await adapter.list()


@proves("fuzzing.found")
def test_what_a_server_once_failed_on_is_borne(tmp_path: Path) -> None:
    assert len(KEPT) > 10
    with visit(tmp_path / "memory.db") as server:
        for name, lines in KEPT:
            assert name
            server.send(lines)
        server.leave()


def sent_on(server: Visit, line: Line) -> None:
    """What a server tells on its standard error is heard a little later than its answer."""
    for _ in range(500):
        server.send([line])


@proves("fuzzing.noticed")
@pytest.mark.parametrize("how", BROKEN)
def test_a_server_that_breaks_is_noticed_with_what_broke_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    on_bomb, problem = BROKEN[how]
    command = (sys.executable, "-c", FAKE.format(on_bomb=on_bomb))
    bomb = Line(json.dumps({"jsonrpc": "2.0", "id": 5, "method": "bomb"}).encode(), 5)
    with visit(tmp_path / "none.db", command) as server:
        server.send([Line(b"nothing of the kind")])
        if how == "falls silent":
            monkeypatch.setattr(visits, "PATIENCE_S", 0.2)
        with pytest.raises(BrokenServerError) as broken:
            sent_on(server, bomb)
    assert broken.value.problem.startswith(problem)
    assert broken.value.lines == (bomb.content,)


@proves("fuzzing.noticed")
def test_a_server_that_holds_too_much_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "_memory_bytes", lambda _: visits.MOST_MEMORY_BYTES + 1)
    with (
        visit(tmp_path / "none.db", (sys.executable, "-c", FAKE.format(on_bomb="pass"))) as server,
        pytest.raises(BrokenServerError, match="holds"),
    ):
        server.send([])


@proves("fuzzing.noticed")
def test_the_same_seed_draws_the_same_lines() -> None:
    def drawn(seed: int) -> list[Line]:
        lines = Lines(Random(seed))  # noqa: S311 - what it draws is no secret
        return [lines.next() for _ in range(200)]

    assert drawn(1) == drawn(1) != drawn(2)
    assert all(b"\n" not in line.content for line in drawn(1))
    assert sum(line.answered is not None for line in drawn(1)) > 40


@proves("fuzzing.noticed")
def test_what_is_kept_reads_back_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "found.jsonl"
    kept.write_text(spelled("seed 7", [b"\x00\xff", b"{}"]) + "\n", encoding="ascii")
    monkeypatch.setattr(visits, "FOUND", kept)
    assert found() == [("seed 7", [Line(b"\x00\xff"), Line(b"{}")])]
