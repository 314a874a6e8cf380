"""The operations of the SDK, and what each is given.

Arguments are known by the SDK's names, options among them. What is missing was not passed; null stands for an
option that was passed as null. Anything beside what stands here is no argument of the SDK's, which passes
over it.
"""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from parity_tests.golden.form import Form, Instant, Name, Named

Part = str | int


class Nothing(Form):
    """No arguments."""


class Where(Form):
    """An address."""

    entity_path: str
    key: str


class Below(Form):
    """A path, or everywhere."""

    entity_path: str | None = None


class Read(Where):
    """Reading one entry."""

    min_confidence: float | None = None


class ReadFrom(Where):
    """Reading another agent's entry."""

    agent_id: str


class Artifact(Form):
    """A reference to something outside."""

    uri: str
    media_type: str | None = None
    label: str | None = None
    size_bytes: float | None = None


class Write(Where):
    """Writing through a memory, a scope or a transaction."""

    value: Any = None
    confidence: float | None = None
    pattern_refs: list[str] | None = None
    ttl_at: str | None = None
    shared: bool | None = None
    artifact_refs: list[Artifact] | None = None


class Origin(Form):
    """Who wrote an entry."""

    agent_id: str
    session_id: str | None = None
    written_at: str | None = None
    pattern_refs: list[str] | None


class Entry(Where):
    """An entry as an adapter is given it, and as it is answered."""

    amfs_version: str | None = None
    version: float | None = None
    value: Any
    provenance: Origin
    confidence: float
    outcome_count: float
    ttl_at: str | None
    shared: bool
    artifact_refs: list[Artifact] | None = None
    content_hash: str | None = None
    integrity_chain: str | None = None
    commit_id: str | None = None


class WriteEntry(Form):
    """Writing through an adapter."""

    entry: Entry


class Outcome(Form):
    """Reporting an outcome through a memory."""

    outcome_ref: str
    outcome_type: str
    causal_entry_keys: list[str] | None = None
    causal_confidence: float | None = None


class Record(Outcome):
    """An outcome by an agent, made or to be reported."""

    causal_entry_keys: list[str]
    agent_id: str
    committed_at: str | None = None


class Report(Form):
    """Reporting a record."""

    record: Record


class Reports(Form):
    """Reporting records."""

    records: list[Record]


class Compute(Form):
    """What an outcome would make of a confidence."""

    current_confidence: float
    outcome_type: str
    causal_confidence: float | None = None


class Listing(Below):
    """Listing entries."""

    include_superseded: bool | None = None


class History(Where):
    """The versions of an entry."""

    since: str | None = None
    until: str | None = None


class Weights(Form):
    """What a search is scored by."""

    semantic_weight: float | None = None
    recency_weight: float | None = None
    confidence_weight: float | None = None
    recency_half_life_days: float | None = None


class Search(Below):
    """Searching."""

    query: str | None = None
    entity_paths: list[str] | None = None
    min_confidence: float | None = None
    max_confidence: float | None = None
    agent_id: str | None = None
    since: str | None = None
    pattern_ref: str | None = None
    sort_by: str | None = None
    limit: float | None = None
    recall_config: Weights | None = None


class Watch(Below):
    """Setting up a watch."""

    callback: str


class Limit(Form):
    """The log of commits."""

    limit: float | None = None


class CommitId(Form):
    """One commit."""

    id: str


class Ancestor(Form):
    """What two commits come from."""

    commit_a: str
    commit_b: str


class Message(Form):
    """A transaction's message."""

    message: str | None = None


class NewMessage(Form):
    """Another message for a transaction."""

    message: str


class Context(Form):
    """Something learned elsewhere."""

    label: str
    summary: str
    source: str | None = None


class Explain(Form):
    """What led to an outcome."""

    outcome_ref: str | None = None


class Scope(Form):
    """A scope."""

    entity_path: str
    readonly: bool | None = None


class Tree(Form):
    """The tree of paths."""

    max_depth: float | None = None


class EntryKey(Form):
    """One entry by its joined address."""

    entry_key: str


class Config(Form):
    """The configuration of a memory."""

    namespace: str | None = None


class NewMemory(Form):
    """A memory, on the adapter named or on one of its own."""

    agent_id: str
    session_id: str | None = None
    adapter: str | None = None
    config: Config | None = None


class Memory(Form):
    """A memory, as it is answered."""

    agent_id: str
    session_id: str


class NewPropagator(Form):
    """A propagator on the adapter named."""

    adapter: str


class Define(Form):
    """A callback; what it is given besides is told by `REACTIONS`."""

    kind: Literal["collect", "throw", "write", "cancel", "addWatch", "mutate"]


class Throw(Form):
    """A callback that raises."""

    message: str = ""


class WriteToo(Form):
    """A callback that writes."""

    on: str
    args: Named


class Cancel(Form):
    """A callback that cancels a watch."""

    handle: str


class AddWatch(Watch):
    """A callback that sets up another watch."""

    on: str
    made: Name = Field(alias="as")


class Assign(Form):
    """A callback that changes the entry it is called with."""

    property: str
    value: Any = None


class Mutate(Form):
    """Changing what an earlier step passed in or gave back."""

    step: int
    target: Literal["args", "result"]
    path: list[Part] = Field(min_length=1)
    value: Any = None


class SameObject(Form):
    """Comparing parts of what earlier steps gave back: each a step, and the path to the part."""

    a: list[Part] = Field(min_length=1)
    b: list[Part] = Field(min_length=1)


class Now(Form):
    """Another time."""

    now: Instant


class Probe(Form):
    """Something asked of JavaScript."""

    expression: str | None = None


REACTIONS: Mapping[str, type[Form]] = {
    "collect": Nothing,
    "throw": Throw,
    "write": WriteToo,
    "cancel": Cancel,
    "addWatch": AddWatch,
    "mutate": Assign,
}
"""What each kind of callback is given besides its kind."""

_SCOPED: Mapping[str, type[Form]] = {
    "read": Read,
    "write": Write,
    "list": Listing,
    "history": History,
    "search": Search,
    "info": Below,
}
OPERATIONS: Mapping[str, Mapping[str, type[Form]]] = {
    "sdk": {
        "newInMemoryAdapter": Nothing,
        "newAgentMemory": NewMemory,
        "newOutcomeBackPropagator": NewPropagator,
        "OUTCOME_MULTIPLIERS": Nothing,
        "defineCallback": Define,
        "mutate": Mutate,
        "sameObject": SameObject,
    },
    "clock": {"set": Now},
    "js": {"probe": Probe},
    "propagation": {"computeNewConfidence": Compute, "makeRecord": Record},
    "propagator": {"propagate": Report, "propagateBatch": Reports},
    "adapter": {
        "read": Read,
        "write": WriteEntry,
        "list": Listing,
        "watch": Watch,
        "commitOutcome": Report,
        "listCommits": Limit,
        "getCommit": CommitId,
    },
    "memory": {
        **_SCOPED,
        "stats": Nothing,
        "verify": Nothing,
        "watch": Watch,
        "transaction": Message,
        "commitLog": Limit,
        "commonAncestor": Ancestor,
        "recordContext": Context,
        "explain": Explain,
        "commitOutcome": Outcome,
        "recall": Read,
        "myEntries": Below,
        "readFrom": ReadFrom,
        "scope": Scope,
        "listScopes": Nothing,
        "tree": Tree,
        "clearReadLog": Nothing,
        "agentId": Nothing,
        "sessionId": Nothing,
        "namespace": Nothing,
    },
    "tracker": {
        "causalKeys": Nothing,
        "readCount": Nothing,
        "externalContexts": Nothing,
        "readVersion": EntryKey,
        "contains": EntryKey,
    },
    "scope": {**_SCOPED, "entityPath": Nothing, "isReadonly": Nothing},
    "transaction": {
        "write": Write,
        "commit": Nothing,
        "pendingCount": Nothing,
        "setMessage": NewMessage,
    },
    "watch": {"cancel": Nothing, "cancelled": Nothing},
    "callback": {"received": Nothing},
}
"""By the kind of object, the operations that the SDK has, and what each is given."""

ANSWERING = frozenset(
    {"newAgentMemory", "OUTCOME_MULTIPLIERS", "watch", "scope", "transaction", "commonAncestor"}
    | {"agentId", "sessionId", "namespace", "entityPath", "isReadonly"}
)
"""Operations of which no more is foretold than that they answer something."""

MAKES: Mapping[str, str] = {
    "newInMemoryAdapter": "adapter",
    "newAgentMemory": "memory",
    "newOutcomeBackPropagator": "propagator",
    "defineCallback": "callback",
    "watch": "watch",
    "scope": "scope",
    "transaction": "transaction",
}
"""The operations that make an object, and its kind."""
