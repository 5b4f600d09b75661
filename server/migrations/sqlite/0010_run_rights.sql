-- What runs may see, how they end, and what they have used.

-- Who published the version: runs that a row or the clock begins see what they see.
ALTER TABLE workflow_versions ADD COLUMN publisher BLOB;

-- Whose the row was, where it was anybody's.
ALTER TABLE workflow_events ADD COLUMN creator BLOB;

-- a run that nobody began sees what `publisher` sees; `own_rows` says whether a table that it is about
-- kept rows from somebody when it ended; `crashes` counts attempts that ended without a word; `spent` is
-- processor time in microseconds.
ALTER TABLE workflow_runs ADD COLUMN publisher BLOB;
ALTER TABLE workflow_runs ADD COLUMN error_code TEXT;
ALTER TABLE workflow_runs ADD COLUMN own_rows INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workflow_runs ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workflow_runs ADD COLUMN spent INTEGER NOT NULL DEFAULT 0;

-- A step that waited when its run ended is `skipped`. `envelope` is what a step of a dry run left.
CREATE TABLE new_workflow_steps (
    organization_id BLOB NOT NULL,
    workspace_id    BLOB NOT NULL,
    run_id          BLOB NOT NULL,
    number          INTEGER NOT NULL,
    path            TEXT NOT NULL,
    step_id         TEXT NOT NULL,
    key             TEXT NOT NULL,
    status          TEXT NOT NULL CHECK (status IN ('running', 'succeeded', 'failed', 'skipped')),
    input           TEXT NOT NULL,
    output          TEXT,
    error           TEXT,
    error_code      TEXT,
    envelope        TEXT,
    PRIMARY KEY (organization_id, run_id, number),
    FOREIGN KEY (organization_id, run_id)
        REFERENCES workflow_runs (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO new_workflow_steps (organization_id, workspace_id, run_id, number, path, step_id, key, status,
    input, output, error)
    SELECT organization_id, workspace_id, run_id, number, path, step_id, key, status, input, output, error
    FROM workflow_steps;
DROP TABLE workflow_steps;
ALTER TABLE new_workflow_steps RENAME TO workflow_steps;
