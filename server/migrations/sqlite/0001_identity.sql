-- Who there is and who may see what. Instants are microseconds since 1970 (UTC); ids are the 16
-- bytes of a UUID; documents are canonical JSON text.

CREATE TABLE users (
    id             BLOB    NOT NULL PRIMARY KEY,
    email          TEXT    NOT NULL,
    password_hash  TEXT    NOT NULL,
    platform_admin INTEGER NOT NULL,
    created_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX users_email ON users (email);

CREATE TABLE organizations (
    id         BLOB    NOT NULL PRIMARY KEY,
    label      TEXT    NOT NULL,
    config     TEXT    NOT NULL,
    seats      INTEGER,
    row_quota  INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The address stands here too: it never changes, and lists of members need no look at `users`.
CREATE TABLE memberships (
    organization_id BLOB    NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    user_id         BLOB    NOT NULL REFERENCES users (id),
    email           TEXT    NOT NULL,
    role            TEXT    NOT NULL CHECK (role IN ('owner', 'admin', 'editor', 'viewer')),
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memberships_of_user ON memberships (user_id, organization_id);

CREATE TABLE workspaces (
    organization_id BLOB    NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    id              BLOB    NOT NULL,
    name            TEXT    NOT NULL,
    label           TEXT    NOT NULL,
    access          TEXT    NOT NULL CHECK (access IN ('organization', 'members')),
    config          TEXT    NOT NULL,
    created_by      BLOB,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE workspace_members (
    organization_id BLOB    NOT NULL,
    workspace_id    BLOB    NOT NULL,
    user_id         BLOB    NOT NULL,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, workspace_id, user_id),
    FOREIGN KEY (organization_id, workspace_id)
        REFERENCES workspaces (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, user_id)
        REFERENCES memberships (organization_id, user_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX workspace_members_of_user ON workspace_members (organization_id, user_id);

-- One line per pair of tokens; a refresh ends one line and begins the next of its family.
CREATE TABLE sessions (
    id                 BLOB    NOT NULL PRIMARY KEY,
    family_id          BLOB    NOT NULL,
    user_id            BLOB    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    access_hash        BLOB    NOT NULL,
    access_expires_at  INTEGER NOT NULL,
    refresh_hash       BLOB    NOT NULL,
    refresh_expires_at INTEGER NOT NULL,
    rotated_at         INTEGER,
    revoked_at         INTEGER,
    created_at         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX sessions_access_hash ON sessions (access_hash);
CREATE UNIQUE INDEX sessions_refresh_hash ON sessions (refresh_hash);
CREATE INDEX sessions_of_family ON sessions (family_id);
CREATE INDEX sessions_of_user ON sessions (user_id);

CREATE TABLE api_keys (
    organization_id BLOB    NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    id              BLOB    NOT NULL,
    name            TEXT    NOT NULL,
    scopes          TEXT    NOT NULL,
    prefix          TEXT    NOT NULL,
    secret_hash     BLOB    NOT NULL,
    expires_at      INTEGER,
    last_used_at    INTEGER,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, secret_hash)
) STRICT, WITHOUT ROWID;
