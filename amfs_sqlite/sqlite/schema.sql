-- The newest schema, and the data dictionary. Migrations replayed from nothing give exactly this; a test holds it.
--
-- Text is compared byte for byte. Instants are whole microseconds since 1970-01-01T00:00:00Z, to be read with
-- datetime(written_at / 1000000, 'unixepoch'). Values, tags and other structures are compact JSON text.
-- Facts are append-only (versions, commits, outcomes, outcome_effects); opinions live in current alone.

-- One row per migration that made this file what it is, written by the transaction that applied it.
CREATE TABLE schema_migrations (
    version    INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT;

-- Facts about the file itself: store_id, which every cursor carries; scrub_due, as long as free space may
-- still hold what was erased.
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Where the commit log stands. A log cut short no longer matches it.
CREATE TABLE head (
    one      INTEGER PRIMARY KEY CHECK (one = 1),
    sequence INTEGER NOT NULL,
    digest   TEXT    NOT NULL
) STRICT;

-- Every change of the store, in order. sequence is store-wide, without gaps, and leads the cursor of changes.
CREATE TABLE commits (
    sequence   INTEGER PRIMARY KEY,
    namespace  TEXT    NOT NULL,
    branch     TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    kind       TEXT    NOT NULL CHECK (kind IN ('write', 'outcome', 'description', 'erase')),
    message    TEXT    NOT NULL,
    author     TEXT    NOT NULL,
    session_id TEXT,
    parent_ids TEXT    NOT NULL,  -- AMFS's graph: the newest commit of the branch when this one was made
    tree_hash  TEXT,              -- AMFS's formula over the content hashes of its versions
    listed     TEXT    NOT NULL,  -- entries that a saved commit names without having written them
    describes  TEXT,              -- for a description: the id of the commit it describes
    created_at INTEGER NOT NULL,
    digest     TEXT    NOT NULL,  -- covers all of the above, its versions and outcomes, and the digest before it
    UNIQUE (namespace, id)
) STRICT;
CREATE INDEX commits_by_namespace ON commits (namespace, sequence) WHERE kind <> 'description';
CREATE INDEX commits_by_described ON commits (namespace, describes) WHERE describes IS NOT NULL;
-- Those that somebody said something of: what the AMFS Python SDK lists.
CREATE INDEX commits_told ON commits (namespace, branch, created_at, id)
    WHERE kind <> 'erase' AND (kind = 'description' OR message <> '' OR listed <> '[]');

-- One row per key, never deleted: what the key says now, nothing where value is NULL. id is the order of
-- first writing.
-- The columns up to sequence copy the current version; the last four are opinions and move without a version.
CREATE TABLE current (
    id              INTEGER PRIMARY KEY,
    namespace       TEXT    NOT NULL,
    branch          TEXT    NOT NULL,
    entity_path     TEXT    NOT NULL,
    key             TEXT    NOT NULL,
    version_id      INTEGER NOT NULL,
    version         INTEGER NOT NULL,
    kind            TEXT    NOT NULL,
    value           TEXT,
    amfs_version    TEXT    NOT NULL,
    agent_id        TEXT    NOT NULL,
    session_id      TEXT    NOT NULL,
    written_at      INTEGER NOT NULL,
    tags            TEXT    NOT NULL,
    shared          INTEGER NOT NULL CHECK (shared IN (0, 1)),
    ttl_at          INTEGER,
    artifact_refs   TEXT,
    extra           TEXT    NOT NULL,
    content_hash    TEXT    NOT NULL,
    integrity_chain TEXT    NOT NULL,
    sequence        INTEGER NOT NULL,
    confidence      REAL    NOT NULL,
    outcome_count   INTEGER NOT NULL,
    success_count   INTEGER NOT NULL,
    failure_count   INTEGER NOT NULL,
    UNIQUE (namespace, branch, entity_path, key)
) STRICT;
CREATE INDEX current_by_writing ON current (namespace, branch, version_id);
CREATE INDEX current_by_expiry ON current (namespace, branch, ttl_at) WHERE ttl_at IS NOT NULL;

-- Every version ever written, as it was written. superseded_at is the next version's written_at.
CREATE TABLE versions (
    id              INTEGER PRIMARY KEY,
    key_id          INTEGER NOT NULL REFERENCES current (id),
    version         INTEGER NOT NULL CHECK (version > 0),
    kind            TEXT    NOT NULL CHECK (kind IN ('write', 'outcome', 'tombstone')),
    value           TEXT,              -- compact JSON, members as given; NULL in a tombstone, NULL once erased
    amfs_version    TEXT    NOT NULL,
    agent_id        TEXT    NOT NULL,
    session_id      TEXT    NOT NULL,
    written_at      INTEGER NOT NULL,
    tags            TEXT    NOT NULL,  -- AMFS's patternRefs
    shared          INTEGER NOT NULL CHECK (shared IN (0, 1)),
    ttl_at          INTEGER,
    artifact_refs   TEXT,
    extra           TEXT    NOT NULL,  -- unknown fields, under the names they came with
    content_hash    TEXT    NOT NULL,  -- AMFS's formula over the value decoded from this very text
    integrity_chain TEXT    NOT NULL,  -- AMFS's formula over content_hash and the chain before
    sequence        INTEGER NOT NULL REFERENCES commits (sequence),
    confidence      REAL    NOT NULL,  -- these four as written
    outcome_count   INTEGER NOT NULL,
    success_count   INTEGER NOT NULL,
    failure_count   INTEGER NOT NULL,
    extra_hash      TEXT    NOT NULL,  -- AMFS's formula over extra
    record_digest   TEXT    NOT NULL,  -- covers all of the above; for value and extra their hashes stand
    UNIQUE (key_id, version)
) STRICT;
CREATE INDEX versions_by_commit ON versions (sequence);

-- Which versions were erased: value and extra are gone for good, what covers them stays. The commit that
-- did it is of kind erase and lists the version.
CREATE TABLE erasures (
    version_id INTEGER PRIMARY KEY REFERENCES versions (id),
    sequence   INTEGER NOT NULL REFERENCES commits (sequence)
) STRICT;

-- Every outcome as it was reported, applied or not.
CREATE TABLE outcomes (
    id                INTEGER PRIMARY KEY,
    sequence          INTEGER NOT NULL REFERENCES commits (sequence),
    newest_version_id INTEGER NOT NULL,  -- the newest of all versions before it: its place among the changes
    namespace         TEXT    NOT NULL,
    outcome_ref       TEXT    NOT NULL,
    outcome_type      TEXT    NOT NULL,
    agent_id          TEXT    NOT NULL,
    record            TEXT    NOT NULL,  -- the whole record in its wire form
    digest            TEXT    NOT NULL   -- covers the record and its effects
) STRICT;
CREATE INDEX outcomes_by_ref ON outcomes (namespace, outcome_ref);
CREATE INDEX outcomes_by_commit ON outcomes (sequence);

-- What an outcome did to an entry: one row per entry it named.
CREATE TABLE outcome_effects (
    id                INTEGER PRIMARY KEY,
    outcome_id        INTEGER NOT NULL REFERENCES outcomes (id),
    key_id            INTEGER NOT NULL REFERENCES current (id),
    version           INTEGER NOT NULL,  -- the version the outcome was about
    policy            TEXT    NOT NULL,  -- the arithmetic that was applied
    success           INTEGER NOT NULL CHECK (success IN (0, 1)),
    confidence_before REAL    NOT NULL,
    confidence_after  REAL    NOT NULL,
    applied           INTEGER NOT NULL CHECK (applied IN (0, 1)),
    reason            TEXT,              -- why not applied: already_applied, stale
    resulting_version INTEGER            -- the version that holds confidence_after; NULL when not applied
) STRICT;
CREATE INDEX outcome_effects_by_outcome ON outcome_effects (outcome_id);
CREATE INDEX outcome_effects_by_version ON outcome_effects (key_id, version);

-- First results by idempotency key. result names versions and opinions, never values.
CREATE TABLE idempotency (
    namespace       TEXT    NOT NULL,
    agent_id        TEXT    NOT NULL,
    idempotency_key TEXT    NOT NULL,
    payload_digest  TEXT    NOT NULL,
    sequence        INTEGER NOT NULL REFERENCES commits (sequence),
    result          TEXT    NOT NULL,
    PRIMARY KEY (namespace, agent_id, idempotency_key)
) STRICT, WITHOUT ROWID;

-- From here on what the AMFS Python SDK knows beside entries. Nothing of it is in the digests of the log.

-- What agents do to a key without writing it. Opinions, for all versions of the key alike: how often it was
-- read, and AMFS's tier and priority, NULL until somebody set them.
CREATE TABLE recalls (
    key_id         INTEGER PRIMARY KEY REFERENCES current (id),
    recall_count   INTEGER NOT NULL,
    tier           INTEGER,
    priority_score REAL
) STRICT;

-- The embedding that a version was written with: single precision, little-endian, one after the other.
CREATE TABLE vectors (
    version_id INTEGER PRIMARY KEY REFERENCES versions (id),
    dimension  INTEGER NOT NULL,
    vector     BLOB    NOT NULL
) STRICT;

-- The embedding of the task that an outcome was about, likewise.
CREATE TABLE outcome_vectors (
    outcome_id INTEGER PRIMARY KEY REFERENCES outcomes (id),
    dimension  INTEGER NOT NULL,
    vector     BLOB    NOT NULL
) STRICT;

-- When every outcome was reported, as its record says; NULL where it does not.
CREATE TABLE outcome_times (
    outcome_id   INTEGER PRIMARY KEY REFERENCES outcomes (id),
    namespace    TEXT    NOT NULL,
    committed_at INTEGER
) STRICT;
CREATE INDEX outcome_times_by_time ON outcome_times (namespace, committed_at, outcome_id);

-- What an outcome is about: the paths it names, and those above the entries that it cites. Outcomes of before
-- this schema are not among them: uplift is counted from then on.
CREATE TABLE outcome_paths (
    namespace    TEXT    NOT NULL,
    entity_path  TEXT    NOT NULL,
    committed_at INTEGER NOT NULL,
    outcome_id   INTEGER NOT NULL REFERENCES outcomes (id),
    success      INTEGER NOT NULL CHECK (success IN (0, 1)),
    PRIMARY KEY (namespace, entity_path, committed_at, outcome_id)
) STRICT, WITHOUT ROWID;

-- The entries that an outcome cites in any of its steps, as AMFS's path/key.
CREATE TABLE outcome_reads (
    namespace  TEXT    NOT NULL,
    entry_key  TEXT    NOT NULL,
    outcome_id INTEGER NOT NULL REFERENCES outcomes (id),
    PRIMARY KEY (namespace, entry_key, outcome_id)
) STRICT, WITHOUT ROWID;

-- Branches lie over their parent as it stood when they were made: what they have not written is the
-- parent's newest version up to base_sequence.
CREATE TABLE branches (
    id            INTEGER PRIMARY KEY,
    namespace     TEXT    NOT NULL,
    name          TEXT    NOT NULL,
    parent_branch TEXT    NOT NULL,
    base_sequence INTEGER NOT NULL,
    status        TEXT    NOT NULL CHECK (status IN ('active', 'merged', 'closed')),
    created_at    INTEGER NOT NULL,
    record        TEXT    NOT NULL,
    UNIQUE (namespace, name)
) STRICT;

-- The version of the parent that a key's first version on a branch was built on.
CREATE TABLE branch_points (
    key_id     INTEGER PRIMARY KEY REFERENCES current (id),
    version_id INTEGER NOT NULL REFERENCES versions (id)
) STRICT;

CREATE TABLE branch_access (
    namespace    TEXT NOT NULL,
    branch_name  TEXT NOT NULL,
    grantee_type TEXT NOT NULL,
    grantee_id   TEXT NOT NULL,
    granted_at   INTEGER NOT NULL,
    record       TEXT NOT NULL,
    PRIMARY KEY (namespace, branch_name, grantee_type, grantee_id)
) STRICT, WITHOUT ROWID;

-- Named points of a branch's log.
CREATE TABLE tags (
    namespace TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    branch    TEXT    NOT NULL,
    tagged_at INTEGER NOT NULL,
    record    TEXT    NOT NULL,
    PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE pull_requests (
    id         INTEGER PRIMARY KEY,
    namespace  TEXT    NOT NULL,
    pr_id      TEXT    NOT NULL,
    status     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    record     TEXT    NOT NULL,
    UNIQUE (namespace, pr_id)
) STRICT;

CREATE TABLE pull_reviews (
    id         INTEGER PRIMARY KEY,
    namespace  TEXT    NOT NULL,
    pr_id      TEXT    NOT NULL,
    review_id  TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    record     TEXT    NOT NULL,
    UNIQUE (namespace, review_id),
    FOREIGN KEY (namespace, pr_id) REFERENCES pull_requests (namespace, pr_id)
) STRICT;
CREATE INDEX pull_reviews_by_request ON pull_reviews (namespace, pr_id, created_at);

-- What an agent decided, and on what: AMFS's decision traces, each whole in record.
CREATE TABLE traces (
    id           INTEGER PRIMARY KEY,
    namespace    TEXT    NOT NULL,
    trace_id     TEXT    NOT NULL,
    agent_id     TEXT    NOT NULL,
    session_id   TEXT    NOT NULL,
    outcome_type TEXT,
    created_at   INTEGER NOT NULL,
    record       TEXT    NOT NULL,
    UNIQUE (namespace, trace_id)
) STRICT;
CREATE INDEX traces_by_time ON traces (namespace, created_at, trace_id);
CREATE INDEX traces_by_agent ON traces (namespace, agent_id, created_at, trace_id);
CREATE INDEX traces_by_session ON traces (namespace, agent_id, session_id, created_at);

-- The entries that a trace read, in order. value is a copy, NULL once the version was erased.
CREATE TABLE trace_entries (
    trace_row_id INTEGER NOT NULL REFERENCES traces (id),
    position     INTEGER NOT NULL,
    entity_path  TEXT    NOT NULL,
    key          TEXT    NOT NULL,
    version      INTEGER NOT NULL,
    written_by   TEXT,
    value        TEXT,
    PRIMARY KEY (trace_row_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX trace_entries_by_path ON trace_entries (entity_path, key, version);

-- What happened to an agent, as its timeline shows it.
CREATE TABLE events (
    id         INTEGER PRIMARY KEY,
    namespace  TEXT    NOT NULL,
    event_id   TEXT    NOT NULL,
    agent_id   TEXT    NOT NULL,
    branch     TEXT    NOT NULL,
    event_type TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    record     TEXT    NOT NULL,
    UNIQUE (namespace, event_id)
) STRICT;
CREATE INDEX events_by_agent ON events (namespace, agent_id, created_at, event_id);

CREATE TABLE agents (
    namespace      TEXT    NOT NULL,
    agent_id       TEXT    NOT NULL,
    created_at     INTEGER NOT NULL,
    last_active_at INTEGER NOT NULL,
    record         TEXT    NOT NULL,
    PRIMARY KEY (namespace, agent_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE agent_groups (
    namespace  TEXT    NOT NULL,
    group_id   TEXT    NOT NULL,
    position   REAL    NOT NULL,
    created_at INTEGER NOT NULL,
    record     TEXT    NOT NULL,
    PRIMARY KEY (namespace, group_id)
) STRICT, WITHOUT ROWID;

-- An agent is in one group at most.
CREATE TABLE agent_group_members (
    namespace TEXT    NOT NULL,
    agent_id  TEXT    NOT NULL,
    group_id  TEXT    NOT NULL,
    added_by  TEXT    NOT NULL,
    added_at  INTEGER NOT NULL,
    PRIMARY KEY (namespace, agent_id),
    FOREIGN KEY (namespace, group_id) REFERENCES agent_groups (namespace, group_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE dismissed_clusters (
    account_id   TEXT    NOT NULL,
    cluster_id   TEXT    NOT NULL,
    dismissed_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, cluster_id)
) STRICT, WITHOUT ROWID;

-- What agents hold to be related: one row per relation of two entities, with how often it was seen.
CREATE TABLE graph_edges (
    id             INTEGER PRIMARY KEY,
    namespace      TEXT    NOT NULL,
    branch         TEXT    NOT NULL,
    source_entity  TEXT    NOT NULL,
    relation       TEXT    NOT NULL,
    target_entity  TEXT    NOT NULL,
    source_type    TEXT    NOT NULL,
    target_type    TEXT    NOT NULL,
    confidence     REAL    NOT NULL,
    evidence_count INTEGER NOT NULL,
    first_seen     INTEGER NOT NULL,
    last_seen      INTEGER NOT NULL,
    provenance     TEXT,
    UNIQUE (namespace, branch, source_entity, relation, target_entity)
) STRICT;
CREATE INDEX graph_edges_by_target ON graph_edges (namespace, branch, target_entity);

-- What was compiled from entries, the newest of each type and scope.
CREATE TABLE digests (
    namespace   TEXT    NOT NULL,
    branch      TEXT    NOT NULL,
    digest_type TEXT    NOT NULL,
    scope       TEXT    NOT NULL,
    compiled_at INTEGER NOT NULL,
    record      TEXT    NOT NULL,
    PRIMARY KEY (namespace, branch, digest_type, scope)
) STRICT, WITHOUT ROWID;

-- Which stored knowledge was served to whom again, and what that saved.
CREATE TABLE reuse_events (
    id               INTEGER PRIMARY KEY,
    namespace        TEXT    NOT NULL,
    branch           TEXT    NOT NULL,
    entity_path      TEXT    NOT NULL,
    key              TEXT    NOT NULL,
    entry_version    INTEGER,
    written_by       TEXT,
    reused_by        TEXT,
    est_tokens_saved INTEGER NOT NULL,
    surface          TEXT,
    created_at       INTEGER NOT NULL
) STRICT;
CREATE INDEX reuse_events_by_time ON reuse_events (namespace, created_at);

-- From here on everything is derived from current and can be rebuilt.

-- The tags of current versions.
CREATE TABLE entry_tags (
    tag    TEXT    NOT NULL,
    key_id INTEGER NOT NULL REFERENCES current (id),
    PRIMARY KEY (tag, key_id)
) STRICT, WITHOUT ROWID;

-- The tokens of current versions (rules/text.py cuts them; the ascii tokenizer only parts them at spaces).
-- rowid is current.id. A row counts only while its current.version_id is at most indexed_version_id.
CREATE VIRTUAL TABLE text_index USING fts5 (tokens, tokenize = 'ascii');

-- How far the text index has come, and by which cut.
CREATE TABLE text_state (
    one                INTEGER PRIMARY KEY CHECK (one = 1),
    indexed_version_id INTEGER NOT NULL,
    tokenizer_version  INTEGER NOT NULL
) STRICT;
