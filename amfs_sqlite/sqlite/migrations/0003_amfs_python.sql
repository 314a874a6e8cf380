CREATE TABLE recalls (
    key_id         INTEGER PRIMARY KEY REFERENCES current (id),
    recall_count   INTEGER NOT NULL,
    tier           INTEGER,
    priority_score REAL
) STRICT;

CREATE TABLE vectors (
    version_id INTEGER PRIMARY KEY REFERENCES versions (id),
    dimension  INTEGER NOT NULL,
    vector     BLOB    NOT NULL
) STRICT;

CREATE TABLE outcome_vectors (
    outcome_id INTEGER PRIMARY KEY REFERENCES outcomes (id),
    dimension  INTEGER NOT NULL,
    vector     BLOB    NOT NULL
) STRICT;

CREATE TABLE outcome_times (
    outcome_id   INTEGER PRIMARY KEY REFERENCES outcomes (id),
    namespace    TEXT    NOT NULL,
    committed_at INTEGER
) STRICT;
CREATE INDEX outcome_times_by_time ON outcome_times (namespace, committed_at, outcome_id);

-- Our own spelling of an instant: seconds, and behind the point three digits or six.
INSERT INTO outcome_times (outcome_id, namespace, committed_at)
SELECT id, namespace,
       strftime('%s', substr(said, 1, 19)) * 1000000 + CAST(substr(substr(said, 21) || '000', 1, 6) AS INTEGER)
FROM (SELECT id, namespace, iif(json_valid(record), rtrim(json_extract(record, '$.committedAt'), 'Z'), NULL) AS said
      FROM outcomes);

CREATE TABLE outcome_paths (
    namespace    TEXT    NOT NULL,
    entity_path  TEXT    NOT NULL,
    committed_at INTEGER NOT NULL,
    outcome_id   INTEGER NOT NULL REFERENCES outcomes (id),
    success      INTEGER NOT NULL CHECK (success IN (0, 1)),
    PRIMARY KEY (namespace, entity_path, committed_at, outcome_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE outcome_reads (
    namespace  TEXT    NOT NULL,
    entry_key  TEXT    NOT NULL,
    outcome_id INTEGER NOT NULL REFERENCES outcomes (id),
    PRIMARY KEY (namespace, entry_key, outcome_id)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE digests (
    namespace   TEXT    NOT NULL,
    branch      TEXT    NOT NULL,
    digest_type TEXT    NOT NULL,
    scope       TEXT    NOT NULL,
    compiled_at INTEGER NOT NULL,
    record      TEXT    NOT NULL,
    PRIMARY KEY (namespace, branch, digest_type, scope)
) STRICT, WITHOUT ROWID;

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

CREATE INDEX commits_told ON commits (namespace, branch, created_at, id)
    WHERE kind <> 'erase' AND (kind = 'description' OR message <> '' OR listed <> '[]');
