-- What automations run on: who watches which table, what happened there, when schedules are due, the
-- runs with their steps, and what was told to people.

-- The active versions that wait for events of a table: what whoever writes its rows has to know, also of
-- automations in workspaces that the writer does not see. Hence as visible as the organization.
CREATE TABLE workflow_watchers (
    organization_id BLOB NOT NULL,
    feature_id      BLOB NOT NULL,
    workflow_id     BLOB NOT NULL,
    version         INTEGER NOT NULL,
    modes           TEXT NOT NULL,
    columns         TEXT,
    PRIMARY KEY (organization_id, feature_id, workflow_id),
    FOREIGN KEY (organization_id, feature_id)
        REFERENCES features (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, workflow_id)
        REFERENCES workflows (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX workflow_watchers_of_workflow ON workflow_watchers (organization_id, workflow_id);

-- What happened to a row that an automation waits for, written along with the row. As visible as the
-- table. `record` is the row as it was then; a worker makes a run of it, with the same id.
CREATE TABLE workflow_events (
    organization_id BLOB NOT NULL,
    workspace_id    BLOB NOT NULL,
    feature_id      BLOB NOT NULL,
    id              BLOB NOT NULL,
    workflow_id     BLOB NOT NULL,
    version         INTEGER NOT NULL,
    row_id          BLOB NOT NULL,
    record          TEXT NOT NULL,
    depth           INTEGER NOT NULL,
    cause           BLOB,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id, feature_id)
        REFERENCES features (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX workflow_events_waiting ON workflow_events (id);

-- When an active version is due next; nothing until a worker has worked it out from `since`.
CREATE TABLE workflow_schedules (
    organization_id BLOB NOT NULL,
    workflow_id     BLOB NOT NULL,
    version         INTEGER NOT NULL,
    since           INTEGER NOT NULL,
    due_at          INTEGER,
    PRIMARY KEY (organization_id, workflow_id),
    FOREIGN KEY (organization_id, workflow_id)
        REFERENCES workflows (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX workflow_schedules_due ON workflow_schedules (due_at);

-- `lease_owner` is one attempt: whoever plays the run holds it until `locked_until`, by the clock of the
-- database. `wake_at` is when a waiting run goes on. Of one due instant there is one run.
CREATE TABLE workflow_runs (
    organization_id BLOB NOT NULL,
    workspace_id    BLOB NOT NULL,
    workflow_id     BLOB NOT NULL,
    id              BLOB NOT NULL,
    version         INTEGER NOT NULL,
    status          TEXT NOT NULL CHECK (status IN ('queued', 'running', 'succeeded', 'failed')),
    trigger_word    TEXT NOT NULL CHECK (trigger_word IN ('manual', 'record.event', 'cron', 'automation')),
    feature_id      BLOB,
    row_id          BLOB,
    record          TEXT,
    dry_run         INTEGER NOT NULL,
    depth           INTEGER NOT NULL,
    cause           BLOB,
    caller          BLOB,
    due_at          INTEGER,
    wake_at         INTEGER,
    lease_owner     BLOB,
    locked_until    INTEGER,
    error           TEXT,
    created_at      INTEGER NOT NULL,
    started_at      INTEGER,
    finished_at     INTEGER,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, workflow_id, due_at),
    FOREIGN KEY (organization_id, workflow_id)
        REFERENCES workflows (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX workflow_runs_of_workflow ON workflow_runs (organization_id, workflow_id, id);
CREATE INDEX workflow_runs_waiting ON workflow_runs (id) WHERE status IN ('queued', 'running');

-- `output` is what later steps read of it; a step that has one is never done again.
CREATE TABLE workflow_steps (
    organization_id BLOB NOT NULL,
    workspace_id    BLOB NOT NULL,
    run_id          BLOB NOT NULL,
    number          INTEGER NOT NULL,
    path            TEXT NOT NULL,
    step_id         TEXT NOT NULL,
    key             TEXT NOT NULL,
    status          TEXT NOT NULL CHECK (status IN ('running', 'succeeded', 'failed')),
    input           TEXT NOT NULL,
    output          TEXT,
    error           TEXT,
    PRIMARY KEY (organization_id, run_id, number),
    FOREIGN KEY (organization_id, run_id)
        REFERENCES workflow_runs (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- What automations tell people: those who listen to a channel, one person, or everybody.
CREATE TABLE notifications (
    organization_id BLOB NOT NULL,
    id              BLOB NOT NULL,
    scope_type      TEXT NOT NULL CHECK (scope_type IN ('channel', 'user', 'organization')),
    scope_id        BLOB,
    title           TEXT NOT NULL,
    body            TEXT NOT NULL,
    run_id          BLOB NOT NULL,
    step_id         TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
