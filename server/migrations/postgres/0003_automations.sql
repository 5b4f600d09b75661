-- Automations, and what they speak to: a workflow is a line with its versions, of which at most one
-- fires. Channels and connections belong to the whole organization; a secret is kept encrypted.

CREATE TABLE channels (
    organization_id uuid NOT NULL,
    id              uuid NOT NULL,
    name            text    COLLATE "C" NOT NULL,
    label           text    COLLATE "C",
    created_at      bigint NOT NULL,
    CONSTRAINT channels_organization_id_id
        PRIMARY KEY (organization_id, id),
    CONSTRAINT channels_organization_id_name
        UNIQUE (organization_id, name),
    FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

CREATE TABLE connections (
    organization_id uuid NOT NULL,
    id              uuid NOT NULL,
    name            text    COLLATE "C" NOT NULL,
    kind            text    COLLATE "C" NOT NULL CHECK (kind IN ('smtp', 'http', 'llm', 'timer')),
    url             text    COLLATE "C" NOT NULL,
    secret          bytea,
    created_at      bigint NOT NULL,
    updated_at      bigint NOT NULL,
    CONSTRAINT connections_organization_id_id
        PRIMARY KEY (organization_id, id),
    CONSTRAINT connections_organization_id_name
        UNIQUE (organization_id, name),
    FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

-- `last_version` is the newest number that was given out; whoever adds a version holds this line.
CREATE TABLE workflows (
    organization_id uuid NOT NULL,
    workspace_id    uuid NOT NULL,
    id              uuid NOT NULL,
    last_version    bigint NOT NULL,
    created_at      bigint NOT NULL,
    CONSTRAINT workflows_organization_id_id
        PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id, workspace_id)
        REFERENCES workspaces (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX workflows_of_workspace ON workflows (organization_id, workspace_id, id);

-- `trigger_type` and `trigger_feature_id` stand in `trigger_config`, too: they are what is looked for.
CREATE TABLE workflow_versions (
    organization_id    uuid NOT NULL,
    workspace_id       uuid NOT NULL,
    workflow_id        uuid NOT NULL,
    id                 uuid NOT NULL,
    version            bigint NOT NULL,
    base_version       bigint,
    name               text    COLLATE "C" NOT NULL,
    is_draft           boolean NOT NULL,
    is_active          boolean NOT NULL,
    trigger_type       text    COLLATE "C" NOT NULL,
    trigger_feature_id uuid,
    trigger_config     text NOT NULL,
    graph_config       text NOT NULL,
    created_at         bigint NOT NULL,
    CONSTRAINT workflow_versions_organization_id_id
        PRIMARY KEY (organization_id, id),
    CONSTRAINT workflow_versions_organization_id_workflow_id_version
        UNIQUE (organization_id, workflow_id, version),
    FOREIGN KEY (organization_id, workflow_id)
        REFERENCES workflows (organization_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX workflow_versions_active ON workflow_versions (organization_id, workflow_id)
    WHERE is_active;
CREATE INDEX workflow_versions_watching ON workflow_versions (organization_id, trigger_feature_id)
    WHERE is_active;
CREATE INDEX workflow_versions_of_workspace ON workflow_versions (organization_id, workspace_id, id);

-- The second wall.
ALTER TABLE channels ENABLE ROW LEVEL SECURITY;
ALTER TABLE channels FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON channels TO tplkit_operator;
GRANT SELECT ON channels TO tplkit_request;
CREATE POLICY operator ON channels TO tplkit_operator USING (true);
CREATE POLICY request ON channels TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));

ALTER TABLE connections ENABLE ROW LEVEL SECURITY;
ALTER TABLE connections FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON connections TO tplkit_operator;
GRANT SELECT (organization_id, id, name, kind) ON connections TO tplkit_request;
CREATE POLICY operator ON connections TO tplkit_operator USING (true);
CREATE POLICY request ON connections TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));

ALTER TABLE workflows ENABLE ROW LEVEL SECURITY;
ALTER TABLE workflows FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflows TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflows TO tplkit_request;
CREATE POLICY operator ON workflows TO tplkit_operator USING (true);
CREATE POLICY request ON workflows TO tplkit_request
    USING (
        organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])
    );

ALTER TABLE workflow_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE workflow_versions FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflow_versions TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflow_versions TO tplkit_request;
CREATE POLICY operator ON workflow_versions TO tplkit_operator USING (true);
CREATE POLICY request ON workflow_versions TO tplkit_request
    USING (
        organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])
    );
