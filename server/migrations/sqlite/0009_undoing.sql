-- An undo goes on in units: meanwhile the job is `undoing`, and as much in the way of others as one that is
-- unfinished. `before_undo` is the status to go back to when the undo is refused.

-- A check cannot be changed in place. What belongs to jobs is moved with them, so that nothing goes with the
-- table that is dropped.
CREATE TABLE undoing_jobs (
    organization_id BLOB NOT NULL,
    workspace_id    BLOB NOT NULL,
    id              BLOB NOT NULL,
    template_id     BLOB NOT NULL,
    created_by      BLOB,
    request         TEXT NOT NULL,
    status          TEXT NOT NULL CHECK (status IN ('pending', 'structure', 'rows', 'publish', 'completed', 'failed', 'undoing', 'undone')),
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
    before_undo     TEXT,
    undo_force      INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id, workspace_id)
        REFERENCES workspaces (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO undoing_jobs (organization_id, workspace_id, id, template_id, created_by, request, status, phase,
    done, total, entries, lease_owner, locked_until, report, error, created_at, updated_at)
    SELECT organization_id, workspace_id, id, template_id, created_by, request, status, phase,
    done, total, entries, lease_owner, locked_until, report, error, created_at, updated_at
    FROM template_jobs;

CREATE TABLE undoing_parts (
    organization_id BLOB NOT NULL,
    workspace_id    BLOB NOT NULL,
    job_id          BLOB NOT NULL,
    number          INTEGER NOT NULL,
    content         BLOB NOT NULL,
    PRIMARY KEY (organization_id, job_id, number),
    FOREIGN KEY (organization_id, job_id)
        REFERENCES undoing_jobs (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO undoing_parts SELECT organization_id, workspace_id, job_id, number, content FROM template_job_parts;

CREATE TABLE undoing_entries (
    organization_id BLOB NOT NULL,
    workspace_id    BLOB NOT NULL,
    job_id          BLOB NOT NULL,
    number          INTEGER NOT NULL,
    entry           TEXT NOT NULL,
    PRIMARY KEY (organization_id, job_id, number),
    FOREIGN KEY (organization_id, job_id)
        REFERENCES undoing_jobs (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO undoing_entries SELECT organization_id, workspace_id, job_id, number, entry FROM template_job_entries;

DROP TABLE template_job_entries;
DROP TABLE template_job_parts;
DROP TABLE template_jobs;
ALTER TABLE undoing_jobs RENAME TO template_jobs;
ALTER TABLE undoing_parts RENAME TO template_job_parts;
ALTER TABLE undoing_entries RENAME TO template_job_entries;

CREATE UNIQUE INDEX template_jobs_unfinished ON template_jobs (organization_id, workspace_id, template_id)
    WHERE status IN ('pending', 'structure', 'rows', 'publish', 'undoing');
CREATE INDEX template_jobs_waiting ON template_jobs (locked_until)
    WHERE status IN ('pending', 'structure', 'rows', 'publish', 'undoing');
CREATE INDEX template_jobs_of_workspace ON template_jobs (organization_id, workspace_id, template_id, id);
