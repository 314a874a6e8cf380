"""What is of another type is refused, by all our adapters in the same words, and stores nothing."""

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from pydantic import BaseModel

from amfs_sqlite import (
    AmfsAdapter,
    AmfsError,
    ArtifactRef,
    Commit,
    CommitEntry,
    EntryRef,
    FixedClock,
    InvalidArgumentError,
    MemoryEntry,
    Outcome,
    OutcomeRecord,
    Provenance,
    ReferenceAdapter,
    SearchQuery,
    SqliteAdapter,
    Write,
)
from amfs_sqlite.protocol import Branches, Groups, Pulls, Tags
from amfs_sqlite.records.access import BranchAccess
from amfs_sqlite.records.agents import AgentCapability, AgentProfile, MemoryContract
from amfs_sqlite.records.branches import Branch
from amfs_sqlite.records.events import Event
from amfs_sqlite.records.graph import GraphEdge, GraphNeighborQuery
from amfs_sqlite.records.groups import AgentGroup
from amfs_sqlite.records.pulls import PRReview, PullRequest
from amfs_sqlite.records.tags import Tag
from amfs_sqlite.records.traces import DecisionTrace, TraceEntry
from parity_tests.adapters import KINDS, AdapterOpener
from parity_tests.agent.wrong import GIVEN, Unprintable, admits, answer
from parity_tests.drafts import at, draft, outcome, private
from parity_tests.ledger import proves
from parity_tests.nouns import NOUNS, declared, operations
from parity_tests.state import state, text

EVERYTHING: Sequence[Any] = (*GIVEN, 0, 1, True, 2.5, "1", [], {}, [None], ["p"], object())

OPERATIONS = {
    name: declared(name)
    for noun in NOUNS
    for name in operations(noun)
    if inspect.isfunction(declared(name)) and not name.startswith("_")
}
ARGUMENTS = [
    (name, argument)
    for name, operation in OPERATIONS.items()
    for argument in inspect.signature(operation).parameters
    if argument != "self"
]
GIVEN_COMMIT = Commit(id="c", author_agent_id="alice", created_at=FixedClock().now())
GIVEN_EVENT = Event(agent_id="alice", event_type="write")
GIVEN_READ = TraceEntry(entity_path="p", key="1", version=1, confidence=1.0)
GIVEN_TRACE = DecisionTrace(agent_id="alice", session_id="s", causal_entries=(GIVEN_READ,))
GIVEN_CONTRACT = MemoryContract(entity_path="p")
GIVEN_EDGE = GraphEdge(
    source_entity="a", source_type="agent", relation="r", target_entity="b", target_type="agent"
)
GIVEN_GROUP_ID = f"{2:032x}"
"""Of the first group of a store: the store's own id is the first that is drawn."""
GIVEN_QUERY = GraphNeighborQuery(entity="a")
GIVEN_ACCESS = BranchAccess(branch_name="trial", grantee_type="api_key", grantee_id="k", granted_by="alice")
GIVEN_TAG = Tag(name="t", tagged_at=FixedClock().now(), created_by="alice")
GIVEN_PULL = PullRequest(title="t", source_branch="trial", created_by="alice")
GIVEN_REVIEW = PRReview(pr_id="pr", reviewer="bob", status="commented")
NEEDED: Mapping[str, Any] = {
    "access": GIVEN_ACCESS,
    "account_id": "acc",
    "agent_id": "alice",
    "agent_ids": [],
    "api_key_id": "k",
    "author": "alice",
    "branch": "trial",
    "branch_name": "trial",
    "capabilities": [],
    "cluster_id": "c",
    "contracts": [],
    "callback": lambda _entry: None,
    "changes": [Write(draft("w"))],
    "commit": GIVEN_COMMIT,
    "commit_a": "a",
    "commit_b": "b",
    "commit_id": "c",
    "edge": GIVEN_EDGE,
    "entity_path": "p",
    "entries": [draft("w")],
    "entry": draft("w"),
    "event": GIVEN_EVENT,
    "event_id": "e",
    "follow": False,
    "group": AgentGroup(name="g"),
    "grantee_id": "k",
    "grantee_type": "api_key",
    "group_id": GIVEN_GROUP_ID,
    "idempotency_key": "once",
    "keep_last": 1,
    "key": "1",
    "name": "trial",
    "positions": [],
    "pr": GIVEN_PULL,
    "pr_id": "pr",
    "profile": AgentProfile(),
    "query": SearchQuery(),
    "record": outcome("success", "p/1"),
    "refs": [at("p", "1")],
    "review": GIVEN_REVIEW,
    "session_id": "s",
    "source_agent_id": "alice",
    "status": "open",
    "tag": GIVEN_TAG,
    "target_agent_id": "copy",
    "timestamp": "2026-01-01",
    "trace": GIVEN_TRACE,
    "trace_id": "t",
    "version": 1,
}
"""A good one for each argument that has no default, or none that will do alone."""

NEEDED_BY: Mapping[str, Mapping[str, Any]] = {
    "graph_neighbors": {"query": GIVEN_QUERY},
    "create_branch": {"branch": Branch(name="new", created_by="alice")},
}
"""Where an operation means something else by the name of an argument."""

Call = Callable[[AmfsAdapter, Any], Awaitable[object]]


def written(**parts: Any) -> MemoryEntry:
    return draft("w").model_copy(update=parts)


def reported(**parts: Any) -> OutcomeRecord:
    return outcome("success", "p/1").model_copy(update=parts)


def saved(**parts: Any) -> Commit:
    return GIVEN_COMMIT.model_copy(update=parts)


def traced(**parts: Any) -> DecisionTrace:
    return GIVEN_TRACE.model_copy(update=parts)


def save_trace(adapter: Any, bent: DecisionTrace) -> Awaitable[object]:
    answered: Awaitable[object] = adapter.save_trace(bent)
    return answered


def log_event(adapter: Any, bent: Event) -> Awaitable[object]:
    answered: Awaitable[object] = adapter.log_event(bent)
    return answered


def made(adapter: Any, name: str, *arguments: Any) -> Awaitable[object]:
    answered: Awaitable[object] = getattr(adapter, name)(*arguments)
    return answered


async def create_branch(adapter: Any, bent: Branch) -> object:
    """Each under another name, where the name is not what is bent."""
    number = len(await adapter.list_branches())
    named = bent.model_copy(update={"name": f"new {number}"}) if bent.name == "new" else bent
    return await adapter.create_branch(named)


async def made_anew(adapter: Any, bent: Tag) -> object:
    """A tag made and deleted again: its name is free for the next."""
    tag = await adapter.create_tag(bent)
    await adapter.delete_tag(tag.name)
    return tag


LISTED = CommitEntry(entity_path="p", key="1", version=1)
MODELS: Mapping[str, tuple[BaseModel, Call]] = {
    "an entry": (draft("w"), lambda adapter, bent: adapter.write(bent)),
    "an entry of a batch": (draft("w"), lambda adapter, bent: adapter.write_batch([draft("w"), bent])),
    "an entry of a commit": (draft("w"), lambda adapter, bent: adapter.commit([Write(bent)], author="a")),
    "its provenance": (
        Provenance(agent_id="alice"),
        lambda adapter, bent: adapter.write(written(provenance=bent)),
    ),
    "its artifact": (
        ArtifactRef(uri="u"),
        lambda adapter, bent: adapter.write(written(artifact_refs=(bent,))),
    ),
    "a record": (outcome("success", "p/1"), lambda adapter, bent: adapter.commit_outcome(bent)),
    "a record of a commit": (
        outcome("success", "p/1"),
        lambda adapter, bent: adapter.commit([Outcome(bent)], author="a"),
    ),
    "its reference": (at("p", "1"), lambda adapter, bent: adapter.commit_outcome(reported(refs=(bent,)))),
    "a commit": (saved(), lambda adapter, bent: adapter.save_commit(bent)),
    "its entry": (LISTED, lambda adapter, bent: adapter.save_commit(saved(entries=(bent,)))),
    "an event": (GIVEN_EVENT, log_event),
    "a trace": (GIVEN_TRACE, save_trace),
    "its read": (GIVEN_READ, lambda adapter, bent: save_trace(adapter, traced(causal_entries=(bent,)))),
    "an agent's profile": (
        AgentProfile(),
        lambda adapter, bent: made(adapter, "update_agent_profile", "alice", bent),
    ),
    "an agent's capability": (
        AgentCapability(name="c"),
        lambda adapter, bent: made(adapter, "update_agent_capabilities", "alice", [bent]),
    ),
    "an agent's contract": (
        GIVEN_CONTRACT,
        lambda adapter, bent: made(adapter, "update_agent_contracts", "alice", [bent]),
    ),
    "a group": (AgentGroup(name="g"), lambda adapter, bent: made(adapter, "create_agent_group", bent)),
    "a branch": (
        Branch(name="new", created_by="alice"),
        create_branch,
    ),
    "access": (GIVEN_ACCESS, lambda adapter, bent: made(adapter, "grant_branch_access", bent)),
    "a tag": (GIVEN_TAG, made_anew),
    "a pull request": (GIVEN_PULL, lambda adapter, bent: made(adapter, "create_pull_request", bent)),
    "a review": (GIVEN_REVIEW, lambda adapter, bent: made(adapter, "add_pr_review", bent)),
    "an edge": (GIVEN_EDGE, lambda adapter, bent: made(adapter, "upsert_graph_edge", bent)),
    "a query of the graph": (GIVEN_QUERY, lambda adapter, bent: made(adapter, "graph_neighbors", bent)),
    "a query": (SearchQuery(), lambda adapter, bent: adapter.search(bent)),
}
FIELDS = [(name, field) for name, (model, _) in MODELS.items() for field in type(model).model_fields]
OURS = {
    MemoryEntry: ("superseded_at", "success_count", "failure_count", "withdrawn"),
    Commit: ("sequence", "kind", "digest", "effects"),
    Branch: (
        "id",
        "namespace",
        "branched_at",
        "status",
        "merged_at",
        "merged_by",
        "created_at",
        "head_commit_id",
        "base_commit_id",
    ),
    BranchAccess: ("id", "namespace", "granted_at"),
    Tag: ("id", "namespace", "created_at"),
    PullRequest: (
        "namespace",
        "created_at",
        "updated_at",
        "merged_at",
        "merged_by",
        "closed_at",
        "closed_by",
    ),
    PRReview: ("namespace", "created_at"),
    AgentGroup: ("id", "namespace", "member_count", "created_at", "updated_at"),
    Event: ("id", "namespace"),
    DecisionTrace: ("id", "namespace"),
}
"""What is ignored on a model passed in, whatever it holds."""


@pytest.fixture
async def all_kinds(tmp_path: Path, clock: FixedClock) -> AsyncIterator[list[AmfsAdapter]]:
    """One open adapter of each of our kinds, with names in it that a number or a truth may be taken for."""
    async with AsyncExitStack() as opened:
        adapters = [await AdapterOpener(kind, tmp_path, clock, opened)() for kind in KINDS]
        for adapter in adapters:
            assert isinstance(adapter, Groups)
            assert (await adapter.create_agent_group(AgentGroup(name="g"))).id == GIVEN_GROUP_ID
            assert isinstance(adapter, Branches)
            await adapter.create_branch(Branch(name="trial", created_by="alice"))
            assert isinstance(adapter, Tags)
            await adapter.create_tag(GIVEN_TAG.model_copy(update={"name": "trial"}))
            assert isinstance(adapter, Pulls)
            await adapter.create_pull_request(GIVEN_PULL.model_copy(update={"id": "pr"}))
            await adapter.write(draft("p", "1"))
            await adapter.write(draft("p", "1", 2))
            await adapter.write(private("1", "k", agent="1"))
            await adapter.write(draft("True", "k", tags=("1",)))
            await adapter.commit_outcome(outcome("success", "p/1", outcome_ref="1"))
        yield adapters


def fits(hint: Any, given: object) -> bool:
    """Whether it is of this type; True and False are no numbers."""
    is_truth = isinstance(given, bool) and bool not in (hint, *get_args(hint)) and hint is not Any
    return admits(hint, given) and not is_truth


async def asked(adapter: AmfsAdapter, name: str, arguments: Mapping[str, Any]) -> Any:
    """What an operation answers, or raises; an iterator as the list of all it gives."""
    said = await answer(getattr(adapter, name), arguments)
    return [each async for each in said] if isinstance(said, AsyncIterator) else said


async def stored(adapters: Sequence[AmfsAdapter]) -> list[str | None]:
    """The digest of the newest commit of each, which covers all that is stored."""
    return [(await adapter.list_commits(limit=1))[0].digest for adapter in adapters]


@proves("ours.types")
@pytest.mark.parametrize(("name", "argument"), ARGUMENTS, ids=str)
async def test_an_argument_of_another_type_is_refused_alike_and_stores_nothing(
    all_kinds: list[AmfsAdapter], name: str, argument: str
) -> None:
    operation = OPERATIONS[name]
    hint = get_type_hints(operation)[argument]
    parameters = list(inspect.signature(operation).parameters.values())[1:]
    needed = {**NEEDED, **NEEDED_BY.get(name, {})}
    good = {each.name: needed[each.name] for each in parameters if each.name in needed}
    before = [await state(adapter) for adapter in all_kinds]
    refusals = 0
    for given in EVERYTHING:
        if fits(hint, given):
            continue
        said = [await asked(adapter, name, {**good, argument: given}) for adapter in all_kinds]
        assert [type(each) for each in said] == [InvalidArgumentError] * len(KINDS), (type(given), said)
        assert {each.argument for each in said} == {argument}
        assert len({str(each) for each in said}) == 1
        refusals += 1
    assert refusals
    assert [await state(adapter) for adapter in all_kinds] == before
    said = [await asked(adapter, name, good) for adapter in all_kinds]
    assert not any(isinstance(each, Exception) for each in said)


@proves("ours.types", "surface.strict-types")
@pytest.mark.parametrize(("name", "field"), FIELDS, ids=lambda each: each.replace(" ", "-"))
async def test_a_model_changed_to_another_type_is_refused_alike_and_stores_nothing(
    all_kinds: list[AmfsAdapter], name: str, field: str
) -> None:
    model, call = MODELS[name]
    hint = get_type_hints(type(model))[field]
    is_ours = field in OURS.get(type(model), ())
    for given in EVERYTHING:
        bent = model.model_copy(update={field: given})
        before = await stored(all_kinds)
        said = [await answer(call, {"adapter": each, "bent": bent}) for each in all_kinds]
        assert all(not isinstance(each, Exception) or isinstance(each, AmfsError) for each in said), said
        assert len({text(each) for each in said}) == 1, type(given)
        assert not (is_ours and isinstance(said[0], Exception))
        if not is_ours and not fits(hint, given):
            assert isinstance(said[0], InvalidArgumentError), (type(given), said[0])
        if isinstance(said[0], Exception):
            assert await stored(all_kinds) == before
    assert len({await state(adapter) for adapter in all_kinds}) == 1


@proves("ours.types")
@pytest.mark.parametrize(
    ("option", "hint"), [("expected_version", int | None), ("carries_outcome_count", bool)], ids=str
)
async def test_a_write_expects_a_number_and_carries_a_truth(
    all_kinds: list[AmfsAdapter], option: str, hint: Any
) -> None:
    for given in EVERYTHING:
        if fits(hint, given):
            continue
        arguments = {"changes": [Write(draft("w"), **{option: given})], "author": "a"}
        said = [await asked(each, "commit", arguments) for each in all_kinds]
        assert [type(each) for each in said] == [InvalidArgumentError] * len(KINDS), (type(given), said)
        assert {each.argument for each in said} == {option}
        assert len({str(each) for each in said}) == 1


@proves("ours.types")
async def test_a_part_of_another_type_is_refused_by_its_place(all_kinds: list[AmfsAdapter]) -> None:
    artifact = ArtifactRef(uri="u").model_copy(update={"size_bytes": "12"})
    reference = EntryRef(entity_path="p", key="1").model_copy(update={"version": "1"})
    for adapter in all_kinds:
        before = await state(adapter)
        for attempt, place in (
            (adapter.write(written(artifact_refs=(artifact,))), "entry.artifact_refs.0.size_bytes"),
            (adapter.commit_outcome(reported(refs=(reference,))), "record.refs.0.version"),
            (adapter.save_commit(saved(parent_ids=("a", 5))), "commit.parent_ids.1"),
            (adapter.save_commit(saved(entries=(artifact,))), "commit.entries.0"),
        ):
            with pytest.raises(InvalidArgumentError) as refused:
                await attempt
            assert refused.value.argument == place
        assert await state(adapter) == before


@proves("ours.types")
async def test_an_impossible_address_that_is_text_finds_nothing(all_kinds: list[AmfsAdapter]) -> None:
    for adapter in all_kinds:
        for path, key in (("", "1"), ("p", ""), ("p", "\ud800"), ("p\0", "1"), ("x" * 10_000, "1")):
            assert await adapter.read(path, key) is None
            assert await adapter.read_at_version(path, key, 1) is None
            assert await adapter.history(path, key) == []
        for version in (0, -1, 2**64, 10**5000):
            assert await adapter.read_at_version("p", "1", version) is None
        assert await adapter.get_commit("\ud800", viewer="\ud800") is None


SETTINGS: Mapping[str, Sequence[Any]] = {
    "namespace": (5, None, b"x", "\ud800"),
    "outcomes": ("handoff", None, 0, Unprintable()),
    "clock": (5, 0, FixedClock, "now"),
    "ids": (5, 0, 1.5, b"x", "ids"),
}


@proves("ours.types", "files.settings")
@pytest.mark.parametrize("setting", SETTINGS)
def test_a_setting_of_another_type_is_refused_alike(setting: str) -> None:
    for given in SETTINGS[setting]:
        options = {setting: given}
        said = []
        for made in (partial(ReferenceAdapter, **options), partial(SqliteAdapter, ":memory:", **options)):
            with pytest.raises(InvalidArgumentError) as refused:
                made()
            said.append(str(refused.value))
            assert refused.value.argument == setting
        assert said[0] == said[1]
