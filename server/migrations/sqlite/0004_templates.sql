-- The catalog of templates, and the jobs that apply them.

-- `manifest` is canonical text, and the columns say again what stands in it, for lists.
CREATE TABLE templates (
    organization_id  BLOB NOT NULL,
    id               BLOB NOT NULL,
    visibility       TEXT NOT NULL CHECK (visibility IN ('system', 'org', 'public')),
    name             TEXT,
    label            TEXT,
    description      TEXT,
    category         TEXT,
    scope            TEXT,
    semver           TEXT,
    tags             TEXT NOT NULL,
    template_version INTEGER NOT NULL,
    manifest         TEXT NOT NULL,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX templates_for_everybody ON templates (id) WHERE visibility <> 'org';

-- As visible as the template, and therefore with its visibility.
CREATE TABLE template_payloads (
    organization_id BLOB NOT NULL,
    template_id     BLOB NOT NULL,
    item_uid        TEXT NOT NULL,
    position        INTEGER NOT NULL,
    visibility      TEXT NOT NULL,
    row_count       INTEGER NOT NULL,
    entry           TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, template_id, item_uid),
    FOREIGN KEY (organization_id, template_id)
        REFERENCES templates (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- `template_id` may be of another organization, and gone by now. Of one template there is one unfinished
-- job in a workspace. `lease_owner` is one attempt: whoever works holds the job until `locked_until`, by
-- the clock of the database.
CREATE TABLE template_jobs (
    organization_id BLOB NOT NULL,
    workspace_id    BLOB NOT NULL,
    id              BLOB NOT NULL,
    template_id     BLOB NOT NULL,
    created_by      BLOB,
    request         TEXT NOT NULL,
    status          TEXT NOT NULL CHECK (status IN ('pending', 'structure', 'rows', 'publish', 'completed', 'failed', 'undone')),
    phase           TEXT NOT NULL,
    done            INTEGER NOT NULL,
    total           INTEGER NOT NULL,
    entries         INTEGER NOT NULL,
    lease_owner     BLOB,
    locked_until    INTEGER,
    report          TEXT,
    error           TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id, workspace_id)
        REFERENCES workspaces (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX template_jobs_unfinished ON template_jobs (organization_id, workspace_id, template_id)
    WHERE status IN ('pending', 'structure', 'rows', 'publish');
CREATE INDEX template_jobs_waiting ON template_jobs (locked_until) WHERE status IN ('pending', 'structure', 'rows', 'publish');
CREATE INDEX template_jobs_of_workspace ON template_jobs (organization_id, workspace_id, template_id, id);

-- The package as it was when the job was asked for: the manifest (0) and its payload entries in order.
CREATE TABLE template_job_parts (
    organization_id BLOB NOT NULL,
    workspace_id    BLOB NOT NULL,
    job_id          BLOB NOT NULL,
    number          INTEGER NOT NULL,
    content         BLOB NOT NULL,
    PRIMARY KEY (organization_id, job_id, number),
    FOREIGN KEY (organization_id, job_id)
        REFERENCES template_jobs (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- What a job remembers of what it wrote, in order.
CREATE TABLE template_job_entries (
    organization_id BLOB NOT NULL,
    workspace_id    BLOB NOT NULL,
    job_id          BLOB NOT NULL,
    number          INTEGER NOT NULL,
    entry           TEXT NOT NULL,
    PRIMARY KEY (organization_id, job_id, number),
    FOREIGN KEY (organization_id, job_id)
        REFERENCES template_jobs (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
