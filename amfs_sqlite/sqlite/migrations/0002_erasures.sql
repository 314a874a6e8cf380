CREATE TABLE erasures (
    version_id INTEGER PRIMARY KEY REFERENCES versions (id),
    sequence   INTEGER NOT NULL REFERENCES commits (sequence)
) STRICT;
