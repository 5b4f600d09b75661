-- The model and its rows. Everything below a workspace carries the ids of its organization and its
-- workspace, so that one look at a line tells who may see it.

-- What has expired is found without a look at what has not.
CREATE INDEX sessions_expiry ON sessions (refresh_expires_at);

CREATE INDEX workspaces_restricted ON workspaces (organization_id, id) WHERE access = 'members';

CREATE TABLE modules (
    organization_id BLOB    NOT NULL,
    workspace_id    BLOB    NOT NULL,
    id              BLOB    NOT NULL,
    name            TEXT    NOT NULL,
    label           TEXT    NOT NULL,
    icon            TEXT,
    position        INTEGER NOT NULL,
    config          TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, workspace_id, name),
    FOREIGN KEY (organization_id, workspace_id)
        REFERENCES workspaces (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE rails (
    organization_id BLOB    NOT NULL,
    workspace_id    BLOB    NOT NULL,
    module_id       BLOB    NOT NULL,
    id              BLOB    NOT NULL,
    name            TEXT    NOT NULL,
    label           TEXT    NOT NULL,
    position        INTEGER NOT NULL,
    config          TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, module_id, name),
    FOREIGN KEY (organization_id, module_id)
        REFERENCES modules (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- `version` goes up with every change of the table's shape: of the line itself or of a column.
CREATE TABLE features (
    organization_id BLOB    NOT NULL,
    workspace_id    BLOB    NOT NULL,
    id              BLOB    NOT NULL,
    name            TEXT    NOT NULL,
    label           TEXT    NOT NULL,
    config          TEXT    NOT NULL,
    is_shared       INTEGER NOT NULL,
    own_rows        INTEGER NOT NULL,
    version         INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, workspace_id, name),
    FOREIGN KEY (organization_id, workspace_id)
        REFERENCES workspaces (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX features_guarded ON features (organization_id, id) WHERE own_rows = 1;
CREATE INDEX features_shared ON features (organization_id, id) WHERE is_shared = 1;

CREATE TABLE views (
    organization_id BLOB    NOT NULL,
    workspace_id    BLOB    NOT NULL,
    feature_id      BLOB    NOT NULL,
    id              BLOB    NOT NULL,
    name            TEXT    NOT NULL,
    label           TEXT    NOT NULL,
    type            TEXT    NOT NULL,
    position        INTEGER NOT NULL,
    config          TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, feature_id, name),
    FOREIGN KEY (organization_id, feature_id)
        REFERENCES features (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- A column may have one of the slots s1 to s16 of the rows: there its cells stand once more, as text
-- that sorts as they do. `slot_ready`: every row has it. `slot_long`: some cell was too long for it.
-- `next_number` is what the next empty cell of a sequence gets.
CREATE TABLE columns (
    organization_id   BLOB    NOT NULL,
    workspace_id      BLOB    NOT NULL,
    feature_id        BLOB    NOT NULL,
    id                BLOB    NOT NULL,
    name              TEXT    NOT NULL,
    label             TEXT    NOT NULL,
    type              TEXT    NOT NULL,
    default_component TEXT    NOT NULL,
    position          INTEGER NOT NULL,
    config            TEXT    NOT NULL,
    is_unique         INTEGER NOT NULL,
    next_number       INTEGER NOT NULL,
    slot              INTEGER CHECK (slot BETWEEN 1 AND 16),
    slot_ready        INTEGER NOT NULL,
    slot_long         INTEGER NOT NULL,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, feature_id, name),
    UNIQUE (organization_id, feature_id, slot),
    FOREIGN KEY (organization_id, feature_id)
        REFERENCES features (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX columns_filling ON columns (organization_id, feature_id, id)
    WHERE slot IS NOT NULL AND NOT slot_ready;

CREATE TABLE rows (
    organization_id BLOB    NOT NULL,
    workspace_id    BLOB    NOT NULL,
    feature_id      BLOB    NOT NULL,
    id              BLOB    NOT NULL,
    created_by      BLOB,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    data            TEXT    NOT NULL,
    s1 TEXT, s2 TEXT, s3 TEXT, s4 TEXT, s5 TEXT, s6 TEXT, s7 TEXT, s8 TEXT,
    s9 TEXT, s10 TEXT, s11 TEXT, s12 TEXT, s13 TEXT, s14 TEXT, s15 TEXT, s16 TEXT,
    PRIMARY KEY (organization_id, feature_id, id),
    FOREIGN KEY (organization_id, feature_id)
        REFERENCES features (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX rows_s1 ON rows (organization_id, feature_id, s1, id) WHERE s1 IS NOT NULL;
CREATE INDEX rows_s2 ON rows (organization_id, feature_id, s2, id) WHERE s2 IS NOT NULL;
CREATE INDEX rows_s3 ON rows (organization_id, feature_id, s3, id) WHERE s3 IS NOT NULL;
CREATE INDEX rows_s4 ON rows (organization_id, feature_id, s4, id) WHERE s4 IS NOT NULL;
CREATE INDEX rows_s5 ON rows (organization_id, feature_id, s5, id) WHERE s5 IS NOT NULL;
CREATE INDEX rows_s6 ON rows (organization_id, feature_id, s6, id) WHERE s6 IS NOT NULL;
CREATE INDEX rows_s7 ON rows (organization_id, feature_id, s7, id) WHERE s7 IS NOT NULL;
CREATE INDEX rows_s8 ON rows (organization_id, feature_id, s8, id) WHERE s8 IS NOT NULL;
CREATE INDEX rows_s9 ON rows (organization_id, feature_id, s9, id) WHERE s9 IS NOT NULL;
CREATE INDEX rows_s10 ON rows (organization_id, feature_id, s10, id) WHERE s10 IS NOT NULL;
CREATE INDEX rows_s11 ON rows (organization_id, feature_id, s11, id) WHERE s11 IS NOT NULL;
CREATE INDEX rows_s12 ON rows (organization_id, feature_id, s12, id) WHERE s12 IS NOT NULL;
CREATE INDEX rows_s13 ON rows (organization_id, feature_id, s13, id) WHERE s13 IS NOT NULL;
CREATE INDEX rows_s14 ON rows (organization_id, feature_id, s14, id) WHERE s14 IS NOT NULL;
CREATE INDEX rows_s15 ON rows (organization_id, feature_id, s15, id) WHERE s15 IS NOT NULL;
CREATE INDEX rows_s16 ON rows (organization_id, feature_id, s16, id) WHERE s16 IS NOT NULL;
-- Only for statements that say the same of the time: no other one takes it for the primary key.
CREATE INDEX rows_created ON rows (organization_id, feature_id, created_at, id)
    WHERE created_at > -9000000000000000000;

-- What must not be repeated: one line for each filled cell of a unique column.
CREATE TABLE row_values (
    organization_id BLOB NOT NULL,
    workspace_id    BLOB NOT NULL,
    feature_id      BLOB NOT NULL,
    column_id       BLOB NOT NULL,
    value           BLOB NOT NULL,
    row_id          BLOB NOT NULL,
    PRIMARY KEY (organization_id, feature_id, column_id, value)
) STRICT, WITHOUT ROWID;

-- How many rows a table has, in parts, so that writers do not wait for each other.
CREATE TABLE row_counts (
    organization_id BLOB    NOT NULL,
    workspace_id    BLOB    NOT NULL,
    feature_id      BLOB    NOT NULL,
    shard           INTEGER NOT NULL,
    count           INTEGER NOT NULL,
    PRIMARY KEY (organization_id, feature_id, shard)
) STRICT, WITHOUT ROWID;

-- Answers to requests that may be sent again.
CREATE TABLE idempotency (
    caller_id   BLOB    NOT NULL,
    method      TEXT    NOT NULL,
    path        TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL,
    status      INTEGER NOT NULL,
    body        BLOB    NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (caller_id, method, path, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_age ON idempotency (created_at);

-- Statistics that are never gathered: how the store is to plan. A slot finds a few rows of a table,
-- whatever is in it today.
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('rows', 'rows', '1000000 100000 10000 1'),
    ('rows', 'rows_created', '1000000 100000 10000 20 1'),
    ('rows', 'rows_s1', '1000000 100000 10000 20 1'),
    ('rows', 'rows_s2', '1000000 100000 10000 20 1'),
    ('rows', 'rows_s3', '1000000 100000 10000 20 1'),
    ('rows', 'rows_s4', '1000000 100000 10000 20 1'),
    ('rows', 'rows_s5', '1000000 100000 10000 20 1'),
    ('rows', 'rows_s6', '1000000 100000 10000 20 1'),
    ('rows', 'rows_s7', '1000000 100000 10000 20 1'),
    ('rows', 'rows_s8', '1000000 100000 10000 20 1'),
    ('rows', 'rows_s9', '1000000 100000 10000 20 1'),
    ('rows', 'rows_s10', '1000000 100000 10000 20 1'),
    ('rows', 'rows_s11', '1000000 100000 10000 20 1'),
    ('rows', 'rows_s12', '1000000 100000 10000 20 1'),
    ('rows', 'rows_s13', '1000000 100000 10000 20 1'),
    ('rows', 'rows_s14', '1000000 100000 10000 20 1'),
    ('rows', 'rows_s15', '1000000 100000 10000 20 1'),
    ('rows', 'rows_s16', '1000000 100000 10000 20 1');
