"""A session that redacts: what reaches the store, what is counted and refused, and what a server says."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from amfs_sqlite import (
    HANDOFF,
    AmfsAdapter,
    FixedClock,
    InvalidArgumentError,
    ReferenceAdapter,
    SqliteAdapter,
)
from bridge.cli.main import main
from bridge.operations import entries, outcomes, packets, retention
from bridge.session import Session
from bridge.settings import from_sources
from parity_tests.drafts import draft
from parity_tests.ledger import proves
from parity_tests.mcp.agents import Agents
from parity_tests.mcp.processes import server
from parity_tests.security.secrets import EVERY, LETTERS, of

TOKEN = f"ghp_{of(LETTERS, 36)}"
KEY_ID = "AKIA" + "ABCDEFGH23456777"
MARK = "[redacted:github-token]"


@pytest.fixture
async def adapter() -> AsyncIterator[AmfsAdapter]:
    """One store in memory."""
    async with ReferenceAdapter(outcomes=HANDOFF) as adapter:
        yield adapter


@pytest.fixture
def careful(adapter: AmfsAdapter) -> Session:
    """A session that redacts."""
    return Session(adapter, "scout", "s", redact_secrets=True)


def all_bytes(folder: Path) -> bytes:
    """Of every file below."""
    return b"\n".join(each.read_bytes() for each in sorted(folder.rglob("*")))


async def stored(adapter: AmfsAdapter) -> str:
    """Everything that the store would show its owner, as text."""
    found = [
        await adapter.list(include_superseded=True),
        await adapter.list_commits(),
        await adapter.list_outcomes(),
    ]
    return repr([[each.to_wire() for each in listed] for listed in found])


@proves("redaction.stored")
async def test_a_value_and_its_tags_are_stored_without_their_secrets(careful: Session) -> None:
    done = await entries.remember(
        careful, "a", "k", {"token": [f"use {TOKEN}"], TOKEN: KEY_ID}, tags=["x", TOKEN]
    )
    assert done.entry.value == {"token": [f"use {MARK}"], MARK: "[redacted:aws-access-key]"}
    assert done.entry.tags == ("x", MARK)
    assert done.redacted == {"aws-access-key": 1, "github-token": 3}
    again = await entries.remember(careful, "a", "k", done.entry.value, tags=done.entry.tags)
    assert (again.unchanged, again.redacted) == (True, {})
    assert TOKEN not in await stored(careful.adapter)


@proves("redaction.stored")
async def test_the_same_secret_again_is_the_same_belief(careful: Session) -> None:
    await entries.remember(careful, "a", "k", f"use {TOKEN}")
    again = await entries.remember(careful, "a", "k", f"use {TOKEN}")
    assert (again.unchanged, again.entry.version, again.redacted) == (True, 1, {"github-token": 1})


@proves("redaction.stored")
async def test_the_texts_of_a_packet_are_stored_without_their_secrets(careful: Session) -> None:
    given = await packets.give(
        careful,
        f"log in with {TOKEN}",
        next_steps=[f"revoke {TOKEN}", "rest"],
        open_questions=[f"whose is {KEY_ID}?"],
        idempotency_key="once",
    )
    assert given.packet.summary == f"log in with {MARK}"
    assert given.packet.next_steps == (f"revoke {MARK}", "rest")
    assert given.packet.open_questions == ("whose is [redacted:aws-access-key]?",)
    assert given.redacted == {"aws-access-key": 1, "github-token": 2}
    again = await packets.give(
        careful,
        f"log in with {TOKEN}",
        next_steps=[f"revoke {TOKEN}", "rest"],
        open_questions=[f"whose is {KEY_ID}?"],
        idempotency_key="once",
    )
    assert again.packet == given.packet
    shown = await stored(careful.adapter)
    assert TOKEN not in shown
    assert KEY_ID not in shown


@proves("redaction.stored")
async def test_the_note_of_an_outcome_is_stored_without_its_secrets(careful: Session) -> None:
    await entries.remember(careful, "a", "k", 1)
    report = await outcomes.record_outcome(careful, "failure", "run-1", note=f"{TOKEN} had expired")
    assert report.redacted == {"github-token": 1}
    (recorded,) = await careful.adapter.list_outcomes()
    assert recorded.record.note == f"{MARK} had expired"
    given = await packets.give(careful, "next")
    await packets.take(careful, given.packet.id)
    closed = await outcomes.record_outcome(
        careful, "success", "run-2", handoff_id=given.packet.id, note=f"{TOKEN} and {TOKEN}"
    )
    assert closed.redacted == {"github-token": 2}
    assert TOKEN not in await stored(careful.adapter)


@proves("redaction.stored")
async def test_the_message_of_a_removal_is_stored_without_its_secrets(adapter: AmfsAdapter) -> None:
    owner = Session(adapter, "owner", "s", owner=True, redact_secrets=True)
    ref = (await entries.remember(owner, "a", "k", 1)).entry.ref
    await entries.remember(owner, "a", "k", 2)
    await retention.prune(owner, keep_last=1, message=f"{TOKEN} was in it")
    await retention.erase(owner, [ref.model_copy(update={"version": 2})], message=TOKEN)
    messages = [commit.message for commit in await adapter.list_commits(limit=2)]
    assert messages == [MARK, f"{MARK} was in it"]


@proves("redaction.stored", "redaction.tools")
def test_a_command_that_redacts_its_message_counts_what_it_took_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.db"
    monkeypatch.setenv("MEMORY_DB", str(path))

    async def filled() -> None:
        async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
            for _ in range(3):
                await adapter.write(draft("a", "k"))

    asyncio.run(filled())
    prune = ["prune", "--yes", "--message", f"{TOKEN} {KEY_ID}", "--keep-last"]
    assert main([*prune, "2", "--redact-secrets"]) == 0
    assert "redacted in the message: 1 aws-access-key, 1 github-token" in capsys.readouterr().out
    monkeypatch.setenv("MEMORY_REDACT_SECRETS", "on")
    assert main([*prune, "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["redacted"] == {"aws-access-key": 1, "github-token": 1}
    assert TOKEN.encode() not in all_bytes(tmp_path)
    assert main(["log", "--json"]) == 0
    logged = json.loads(capsys.readouterr().out)["commits"]
    assert [commit["message"] for commit in logged[:2]] == [f"{MARK} [redacted:aws-access-key]"] * 2


NAMED: list[tuple[str, Callable[[Session], Awaitable[object]]]] = [
    ("scope", lambda at: entries.remember(at, f"a/{TOKEN}", "k", 1)),
    ("key", lambda at: entries.remember(at, "a", TOKEN, 1)),
    ("idempotency_key", lambda at: entries.remember(at, "a", "k", 1, idempotency_key=TOKEN)),
    ("to_agent", lambda at: packets.give(at, "s", to_agent=TOKEN)),
    ("idempotency_key", lambda at: packets.give(at, "s", idempotency_key=TOKEN)),
    ("outcome_ref", lambda at: outcomes.record_outcome(at, "success", TOKEN)),
]


@proves("redaction.names")
@pytest.mark.parametrize(
    ("argument", "call"), NAMED, ids=["scope", "key", "retry", "addressee", "giving", "outcome"]
)
async def test_a_name_with_a_secret_is_refused_without_repeating_it(
    careful: Session, argument: str, call: Callable[[Session], Awaitable[object]]
) -> None:
    with pytest.raises(InvalidArgumentError) as refused:
        await call(careful)
    assert refused.value.argument == argument
    assert "(github-token)" in str(refused.value)
    assert TOKEN not in str(refused.value)
    assert list(await careful.adapter.list_commits()) == []


@proves("redaction.off")
async def test_nothing_is_redacted_unless_it_is_asked_for(adapter: AmfsAdapter) -> None:
    session = Session(adapter, "scout", "s")
    done = await entries.remember(session, "a", TOKEN, TOKEN)
    assert (done.entry.value, done.redacted) == (TOKEN, {})
    assert from_sources({}, {}).redact_secrets is False
    assert from_sources({}, {"MEMORY_REDACT_SECRETS": "on"}).redact_secrets is True
    assert from_sources({"redact_secrets": "off"}, {"MEMORY_REDACT_SECRETS": "on"}).redact_secrets is False


@proves("redaction.tools")
async def test_every_acknowledgement_counts_what_was_taken_out(adapter: AmfsAdapter) -> None:
    agents = Agents(adapter, clock=FixedClock(), era="auto")
    async with agents.clients:
        agent = await agents("scout", redact_secrets=True)
        calls: list[tuple[str, dict[str, Any]]] = [
            ("remember", {"scope": "a", "key": "k", "value": f"{TOKEN} {KEY_ID} {TOKEN}"}),
            ("handoff", {"summary": f"{TOKEN} {KEY_ID}", "next_steps": [TOKEN]}),
            (
                "record_outcome",
                {"outcome": "success", "outcome_ref": "r", "note": f"{TOKEN} {KEY_ID} {TOKEN}"},
            ),
        ]
        for tool, arguments in calls[:2]:
            assert "redacted: 1 aws-access-key, 2 github-token" in await agent.call(tool, **arguments)
        for tool, arguments in calls:
            facts = await agent.facts(tool, **arguments)
            assert facts["redacted"] == [
                {"pattern": "aws-access-key", "count": 1},
                {"pattern": "github-token", "count": 2},
            ]
        plain = await agent.answer("remember", scope="a", key="other", value="plain")
        assert plain.structured_content is not None
        assert plain.structured_content["redacted"] == []
        assert "redacted" not in await agent.call("remember", scope="a", key="third", value="plain")


@proves("redaction.nowhere")
async def test_a_redacted_secret_stands_in_no_file_and_in_nothing_the_server_says(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    said: list[str] = []
    async with server(path, "--redact-secrets") as served:
        for number, (_, text, _) in enumerate(EVERY):
            said.append(await served.call("remember", scope="s", key=f"k{number}", value=text, tags=[text]))
        texts = [text for _, text, _ in EVERY]
        said.append(
            await served.call("handoff", summary="\n".join(texts), next_steps=texts, open_questions=texts)
        )
        said.append(await served.call("resume", peek=True))
        said.append(
            await served.call("record_outcome", outcome="failure", outcome_ref="r", note=" ".join(texts))
        )
        for text in texts:
            refused = await served.answer(await served.ask("remember", scope=text, key="k", value="v"))
            assert refused["result"]["isError"]
            said.append(refused["result"]["content"][0]["text"])
        assert await served.leave() == 0
        said.append(served.complaints)
    secrets = {secret for _, _, secret in EVERY}
    assert [(secret, each) for secret in secrets for each in said if secret in each] == []
    content = all_bytes(tmp_path)
    assert b"[redacted:github-token]" in content
    assert [secret for secret in secrets if secret.encode() in content] == []
    async with SqliteAdapter(path, outcomes=HANDOFF) as adapter:
        assert (await adapter.verify()).ok
        assert (await adapter.stats(include_system=False)).total_entries == len(EVERY)
