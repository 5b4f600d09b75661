-- Automations, and what they speak to: a workflow is a line with its versions, of which at most one
-- fires. Channels and connections belong to the whole organization; a secret is kept encrypted.

CREATE TABLE channels (
    organization_id BLOB NOT NULL,
    id              BLOB NOT NULL,
    name            TEXT NOT NULL,
    label           TEXT,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, name),
    FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE connections (
    organization_id BLOB NOT NULL,
    id              BLOB NOT NULL,
    name            TEXT NOT NULL,
    kind            TEXT NOT NULL CHECK (kind IN ('smtp', 'http', 'llm', 'timer')),
    url             TEXT NOT NULL,
    secret          BLOB,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, name),
    FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- `last_version` is the newest number that was given out; whoever adds a version holds this line.
CREATE TABLE workflows (
    organization_id BLOB NOT NULL,
    workspace_id    BLOB NOT NULL,
    id              BLOB NOT NULL,
    last_version    INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id, workspace_id)
        REFERENCES workspaces (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX workflows_of_workspace ON workflows (organization_id, workspace_id, id);

-- `trigger_type` and `trigger_feature_id` stand in `trigger_config`, too: they are what is looked for.
CREATE TABLE workflow_versions (
    organization_id    BLOB NOT NULL,
    workspace_id       BLOB NOT NULL,
    workflow_id        BLOB NOT NULL,
    id                 BLOB NOT NULL,
    version            INTEGER NOT NULL,
    base_version       INTEGER,
    name               TEXT NOT NULL,
    is_draft           INTEGER NOT NULL,
    is_active          INTEGER NOT NULL,
    trigger_type       TEXT NOT NULL,
    trigger_feature_id BLOB,
    trigger_config     TEXT NOT NULL,
    graph_config       TEXT NOT NULL,
    created_at         INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, workflow_id, version),
    FOREIGN KEY (organization_id, workflow_id)
        REFERENCES workflows (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX workflow_versions_active ON workflow_versions (organization_id, workflow_id)
    WHERE is_active = 1;
CREATE INDEX workflow_versions_watching ON workflow_versions (organization_id, trigger_feature_id)
    WHERE is_active = 1;
CREATE INDEX workflow_versions_of_workspace ON workflow_versions (organization_id, workspace_id, id);
