-- Who there is and who may see what. Instants are microseconds since 1970 (UTC); documents are
-- canonical JSON text.

CREATE TABLE users (
    id             uuid    NOT NULL PRIMARY KEY,
    email          text    COLLATE "C" NOT NULL,
    password_hash  text    NOT NULL,
    platform_admin boolean NOT NULL,
    created_at     bigint  NOT NULL
);
CREATE UNIQUE INDEX users_email ON users (email);

CREATE TABLE organizations (
    id         uuid   NOT NULL PRIMARY KEY,
    label      text   COLLATE "C" NOT NULL,
    config     text   NOT NULL,
    seats      bigint,
    row_quota  bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);

-- The address stands here too: it never changes, and lists of members need no look at `users`.
CREATE TABLE memberships (
    organization_id uuid   NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    user_id         uuid   NOT NULL REFERENCES users (id),
    email           text   COLLATE "C" NOT NULL,
    role            text   COLLATE "C" NOT NULL CHECK (role IN ('owner', 'admin', 'editor', 'viewer')),
    created_at      bigint NOT NULL,
    CONSTRAINT memberships_organization_id_user_id PRIMARY KEY (organization_id, user_id)
);
CREATE INDEX memberships_of_user ON memberships (user_id, organization_id);

CREATE TABLE workspaces (
    organization_id uuid   NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    id              uuid   NOT NULL,
    name            text   COLLATE "C" NOT NULL,
    label           text   COLLATE "C" NOT NULL,
    access          text   COLLATE "C" NOT NULL CHECK (access IN ('organization', 'members')),
    config          text   NOT NULL,
    created_by      uuid,
    created_at      bigint NOT NULL,
    updated_at      bigint NOT NULL,
    CONSTRAINT workspaces_organization_id_id PRIMARY KEY (organization_id, id),
    CONSTRAINT workspaces_organization_id_name UNIQUE (organization_id, name)
);

CREATE TABLE workspace_members (
    organization_id uuid   NOT NULL,
    workspace_id    uuid   NOT NULL,
    user_id         uuid   NOT NULL,
    created_at      bigint NOT NULL,
    CONSTRAINT workspace_members_organization_id_workspace_id_user_id
        PRIMARY KEY (organization_id, workspace_id, user_id),
    FOREIGN KEY (organization_id, workspace_id)
        REFERENCES workspaces (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, user_id)
        REFERENCES memberships (organization_id, user_id) ON DELETE CASCADE
);
CREATE INDEX workspace_members_of_user ON workspace_members (organization_id, user_id);

-- One line per pair of tokens; a refresh ends one line and begins the next of its family.
CREATE TABLE sessions (
    id                 uuid   NOT NULL PRIMARY KEY,
    family_id          uuid   NOT NULL,
    user_id            uuid   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    access_hash        bytea  NOT NULL,
    access_expires_at  bigint NOT NULL,
    refresh_hash       bytea  NOT NULL,
    refresh_expires_at bigint NOT NULL,
    rotated_at         bigint,
    revoked_at         bigint,
    created_at         bigint NOT NULL
);
CREATE UNIQUE INDEX sessions_access_hash ON sessions (access_hash);
CREATE UNIQUE INDEX sessions_refresh_hash ON sessions (refresh_hash);
CREATE INDEX sessions_of_family ON sessions (family_id);
CREATE INDEX sessions_of_user ON sessions (user_id);

CREATE TABLE api_keys (
    organization_id uuid   NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    id              uuid   NOT NULL,
    name            text   COLLATE "C" NOT NULL,
    scopes          text   COLLATE "C" NOT NULL,
    prefix          text   COLLATE "C" NOT NULL,
    secret_hash     bytea  NOT NULL,
    expires_at      bigint,
    last_used_at    bigint,
    created_at      bigint NOT NULL,
    CONSTRAINT api_keys_organization_id_id PRIMARY KEY (organization_id, id),
    CONSTRAINT api_keys_organization_id_secret_hash UNIQUE (organization_id, secret_hash)
);

-- The second wall. Each role owns nothing and sees through its own policies only, so that the plan
-- of a request holds plain comparisons with settings and no alternatives.
GRANT USAGE ON SCHEMA main TO tplkit_gate, tplkit_operator, tplkit_request;

ALTER TABLE users ENABLE ROW LEVEL SECURITY;
ALTER TABLE users FORCE ROW LEVEL SECURITY;
GRANT SELECT ON users TO tplkit_gate, tplkit_request;
GRANT SELECT, INSERT, UPDATE, DELETE ON users TO tplkit_operator;
CREATE POLICY gate ON users TO tplkit_gate USING (true);
CREATE POLICY operator ON users TO tplkit_operator USING (true);
CREATE POLICY request ON users TO tplkit_request
    USING (id = nullif(current_setting('tplkit.caller', true), '')::uuid);

ALTER TABLE sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE sessions FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON sessions TO tplkit_gate;
CREATE POLICY gate ON sessions TO tplkit_gate USING (true);

ALTER TABLE organizations ENABLE ROW LEVEL SECURITY;
ALTER TABLE organizations FORCE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE ON organizations TO tplkit_request;
GRANT SELECT, INSERT, UPDATE, DELETE ON organizations TO tplkit_operator;
CREATE POLICY operator ON organizations TO tplkit_operator USING (true);
CREATE POLICY request ON organizations TO tplkit_request
    USING (id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));

ALTER TABLE memberships ENABLE ROW LEVEL SECURITY;
ALTER TABLE memberships FORCE ROW LEVEL SECURITY;
GRANT SELECT ON memberships TO tplkit_gate;
GRANT SELECT, INSERT, UPDATE, DELETE ON memberships TO tplkit_operator, tplkit_request;
CREATE POLICY gate ON memberships TO tplkit_gate USING (true);
CREATE POLICY operator ON memberships TO tplkit_operator USING (true);
CREATE POLICY request ON memberships TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));

ALTER TABLE workspaces ENABLE ROW LEVEL SECURITY;
ALTER TABLE workspaces FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON workspaces TO tplkit_operator, tplkit_request;
CREATE POLICY operator ON workspaces TO tplkit_operator USING (true);
CREATE POLICY request ON workspaces TO tplkit_request
    USING (
        organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND (
            access = 'organization'
            OR organization_id = ANY (nullif(current_setting('tplkit.administered', true), '')::uuid[])
            OR id = ANY (nullif(current_setting('tplkit.workspaces', true), '')::uuid[])
        )
    );

ALTER TABLE workspace_members ENABLE ROW LEVEL SECURITY;
ALTER TABLE workspace_members FORCE ROW LEVEL SECURITY;
GRANT SELECT ON workspace_members TO tplkit_gate;
GRANT SELECT, INSERT, UPDATE, DELETE ON workspace_members TO tplkit_operator, tplkit_request;
CREATE POLICY gate ON workspace_members TO tplkit_gate USING (true);
CREATE POLICY operator ON workspace_members TO tplkit_operator USING (true);
CREATE POLICY request ON workspace_members TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));

ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE api_keys FORCE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE ON api_keys TO tplkit_gate;
GRANT SELECT, INSERT, UPDATE, DELETE ON api_keys TO tplkit_operator, tplkit_request;
CREATE POLICY gate ON api_keys TO tplkit_gate USING (true);
CREATE POLICY operator ON api_keys TO tplkit_operator USING (true);
CREATE POLICY request ON api_keys TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));
