"""Named stories: what agents do with a memory, as data. Every adapter tells them alike."""

from typing import Any

from amfs_sqlite import AMFS_0_3, Commit, Outcome, Write
from parity_tests.drafts import at, draft, outcome, private
from parity_tests.scenarios.player import Story, all_pages, call, set_clock

WRITE = Story(
    "write",
    (
        call("write", draft("listing/553", "assessment", {"verdict": "apply", "budget": 600})),
        set_clock("2026-01-01T00:05:00Z"),
        call("write", draft("listing/553", "assessment", {"verdict": "maybe", "budget": 400})),
        call("write", draft("listing/482", "assessment", "apply", agent="executor", tags=("a", "b"))),
        call("read", "listing/553", "assessment"),
        call("read_at_version", "listing/553", "assessment", 1),
        call("history", "listing/553", "assessment", since="2026-01-01T00:01:00Z"),
        call("list", "listing", include_superseded=True),
        call("read", "listing/553", "nothing"),
    ),
)

BATCH = Story(
    "batch",
    (
        call(
            "write_batch",
            [
                draft("p", "a", 1, commit_id="c-1", session="s-1"),
                draft("p", "b", 2, commit_id="c-1", agent="bob"),
                draft("p", "a", 3, commit_id="c-1"),
            ],
        ),
        call("write_batch", [draft("p", "c"), draft("p", "d", float("nan"))]),
        call("write_batch", [draft("p", "a", 4, commit_id="c-1")]),
        call("write_batch", []),
        call("get_commit", "c-1"),
    ),
)

CONFLICT = Story(
    "conflict",
    (
        call("write", draft("p", "k"), expected_version=0),
        call("write", draft("p", "k", agent="bob"), expected_version=0),
        call("write", draft("p", "k", agent="bob"), expected_version=1),
        call("write", draft("p", "k"), expected_version=1),
        call("write", private("p", "k", agent="bob")),
        call("write", draft("p", "k"), expected_version=2),
        call("write", draft("p", "new"), expected_version=3),
    ),
)

REFUSED: tuple[tuple[str, Any], ...] = (
    ("write", draft("", "k")),
    ("write", draft("p", "")),
    ("write", draft("p" * 4097, "k")),
    ("write", draft("p", "\ud83d")),
    ("write", draft(value={"a": [{1, 2}]})),
    ("write", draft(value=float("inf"))),
    ("write", draft(value=10**4300)),
    ("write", draft(confidence=float("nan"))),
    ("write", draft(confidence=1.5)),
    ("write", draft(tags=("x" * 4097,))),
    ("commit_outcome", outcome("great")),
    ("commit_outcome", outcome("success", causal_confidence=2.0)),
    ("commit_outcome", outcome("success", at("none", "such"))),
)
REFUSALS = Story(
    "refusals",
    (
        call("write", draft()),
        *(call(operation, refused) for operation, refused in REFUSED),
        call("commit", [], author="a"),
        call("history", "svc/a", "k", since="yesterday"),
        call("history", "svc/a", "k", limit=-1),
        call("list_commits", limit=-1),
    ),
)

OUTCOMES = (
    call("write_batch", [draft("p", "a", confidence=0.8), draft("p/q", "b/c", confidence=0.6)]),
    call("write", draft("p", "a", "changed", confidence=0.5)),
    set_clock("2026-01-02"),
    call("commit_outcome", outcome("success", "p/a", "p/q/b/c", "no/such", note="it worked")),
    call("commit_outcome", outcome("success", "p/a", at("p/q", "b/c", 1), agent="bob")),
    call("commit_outcome", outcome("failure", at("p", "a", 1), at("p", "a", 2), outcome_ref="run-2")),
    call("commit_outcome", outcome("failure", at("p", "a"), outcome_ref="run-1")),
    call("commit_outcome", outcome("p1_incident", "p/q/b/c", outcome_ref="run-3", custom={"a": 1})),
    call("write", draft("p", "a", "again", confidence=0.5)),
    call("list_outcomes", outcome_ref="run-2"),
    call("list_outcomes", entity_path="p/q", limit=1),
)

COMMIT = Story(
    "commit",
    (
        call("write", draft("p", "a", confidence=0.5)),
        call(
            "commit",
            [
                Write(draft("p", "b", {"z": 1, "a": 2}), 0),
                Outcome(outcome("success", at("p", "a"), at("p", "b"))),
                Write(draft("p", "b", 2, confidence=0.5), 1),
            ],
            author="carol",
            message="two things at once",
            session_id="s",
            idempotency_key="once",
        ),
        call("commit", [Write(draft("p", "c")), Write(draft("p", "a"), 9)], author="carol"),
        call("recorded_result", "once", author="carol"),
        call("list_commits", limit=1),
    ),
)

DESCRIPTION = Commit.model_validate(
    {"id": "c-1", "authorAgentId": "dave", "message": "why", "createdAt": "2026-02-02T00:00:00Z"}
)
COMMIT_LOG = Story(
    "commit-log",
    (
        call("write_batch", [draft("p", "a", commit_id="c-1")]),
        call("save_commit", DESCRIPTION),
        call("save_commit", DESCRIPTION),
        call("save_commit", DESCRIPTION.model_copy(update={"id": "c-2", "parent_ids": ("c-2",)})),
        call("save_commit", DESCRIPTION.model_copy(update={"id": "c-3", "parent_ids": ("c-1",)})),
        call("common_ancestor", "c-2", "c-3"),
        call("common_ancestor", "c-3", "unknown"),
        call("write", draft("p", "b")),
    ),
)

IDEMPOTENCY = Story(
    "idempotency",
    (
        call("write", draft("p", "k", 1, confidence=0.8), idempotency_key="x"),
        call("commit_outcome", outcome("success", "p/k")),
        call("write", draft("p", "k", 1, confidence=0.8), idempotency_key="x"),
        call("write", draft("p", "k", 2, confidence=0.8), idempotency_key="x"),
        call("write", draft("p", "k", 2, agent="bob"), idempotency_key="x"),
        call("recorded_result", "x", author="alice"),
    ),
)

PRIVATE = Story(
    "private",
    (
        call("write", draft("p", "k", "open", agent="bob", confidence=0.5)),
        call("write", private("p", "k", "hidden", agent="bob", confidence=0.5)),
        call("write_batch", [private("q", "k", agent="bob"), draft("q", "open", agent="bob")]),
        call("read", "p", "k", viewer="alice"),
        call("commit_outcome", outcome("failure", "p/k", "q/k", "q/open", agent="bob")),
        call("commit_outcome", outcome("failure", at("p", "k", 1), agent="alice", outcome_ref="a")),
        call("commit_outcome", outcome("failure", at("q", "k"), agent="alice", outcome_ref="b")),
        call("write", draft("q", "k"), expected_version=7),
        all_pages(viewer="alice", limit=1),
    ),
    viewers=(None, "alice", "bob"),
)

SEARCH = Story(
    "search",
    (
        call("write", draft("p", "a", "blue green deploy", tags=("x",), confidence=0.9)),
        call("write", draft("p/q", "b", {"plan": ["green", 42]}, tags=("x", "y"), confidence=0.4)),
        call("write", draft("pq", "c", "今天讨论了部署方案", confidence=0.9)),
        call("write", draft("_system/handoff", "h_1", "green", tags=("open",))),
        call("write", draft("p", "d", "green", ttl_at="2026-01-01")),
        call("write", draft("p", "a", "blue deployment", tags=("x",), confidence=0.7)),
        all_pages(limit=2),
        all_pages(limit=2, sort_by="oldest", include_system=False),
        all_pages(entity_path="p", min_confidence=0.5),
        all_pages(tag="x", text="green"),
        all_pages(text="depl*", limit=1),
        all_pages(text='"blue deployment"'),
        all_pages(text="部署"),
        all_pages(text='AND NOT ( " *'),
    ),
)

NAMES = ("é", "e\u0301", "Straße", "STRASSE", "今天", "😀", "a\0b", " a", "../..", "a%b", "a_b")
UNICODE = Story(
    "unicode",
    (
        *(call("write", draft(name, name, name, tags=(name,))) for name in NAMES),
        *(call("write", draft("names", name, {name: name})) for name in NAMES),
        *(all_pages(key=name, sort_by="oldest") for name in NAMES),
        call("commit_outcome", outcome("success", *(f"{name}/{name}" for name in NAMES))),
    ),
)

NUMBERS: tuple[Any, ...] = (
    0,
    -0.0,
    1,
    1.0,
    True,
    None,
    2**70,
    -1e-7,
    1e16,
    1e22,
    5e-324,
    0.1 + 0.2,
    [[]],
    {},
)
VALUES = Story(
    "values",
    (call("write_batch", [draft("v", str(n), value) for n, value in enumerate(NUMBERS)]),),
)

TIMES = Story(
    "times",
    (
        call("write", draft("p", "k", 1, written_at="2026-01-01T09:00:00.000001+09:00")),
        call("write", draft("p", "k", 2, written_at="2025-06-30T23:59:59Z", ttl_at="2026-02-01")),
        call("history", "p", "k", since="2026-01-01", until="2026-01-01T00:00:00.000001Z"),
        call("read", "p", "k"),
        set_clock("2026-02-01"),
        call("read", "p", "k"),
        set_clock("2025-01-01"),
        call("write", draft("p", "k", 3)),
        call("read", "p", "k"),
    ),
)

LARGE = Story(
    "large",
    (
        call("write", draft("large", "text", "x" * 1_000_000)),
        call("write", draft("large", "k" * 4096, list(range(2000)))),
        call("write_batch", [draft("many", f"{n:02}", n) for n in range(12)]),
        all_pages(entity_path="many", limit=5),
        all_pages(text="x" * 4000),
    ),
)

STORIES = (
    *(WRITE, BATCH, CONFLICT, REFUSALS, COMMIT, COMMIT_LOG, IDEMPOTENCY, PRIVATE, SEARCH, UNICODE),
    *(VALUES, TIMES, LARGE),
    Story("outcomes-handoff", OUTCOMES),
    Story("outcomes-amfs-0-3", OUTCOMES, outcomes=AMFS_0_3),
)
