-- What automations run on: who watches which table, what happened there, when schedules are due, the
-- runs with their steps, and what was told to people.

-- The active versions that wait for events of a table: what whoever writes its rows has to know, also of
-- automations in workspaces that the writer does not see. Hence as visible as the organization.
CREATE TABLE workflow_watchers (
    organization_id uuid NOT NULL,
    feature_id      uuid NOT NULL,
    workflow_id     uuid NOT NULL,
    version         bigint NOT NULL,
    modes           text COLLATE "C" NOT NULL,
    columns         text COLLATE "C",
    CONSTRAINT workflow_watchers_organization_id_feature_id_workflow_id
        PRIMARY KEY (organization_id, feature_id, workflow_id),
    FOREIGN KEY (organization_id, feature_id)
        REFERENCES features (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, workflow_id)
        REFERENCES workflows (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX workflow_watchers_of_workflow ON workflow_watchers (organization_id, workflow_id);

-- What happened to a row that an automation waits for, written along with the row. As visible as the
-- table. `record` is the row as it was then; a worker makes a run of it, with the same id.
CREATE TABLE workflow_events (
    organization_id uuid NOT NULL,
    workspace_id    uuid NOT NULL,
    feature_id      uuid NOT NULL,
    id              uuid NOT NULL,
    workflow_id     uuid NOT NULL,
    version         bigint NOT NULL,
    row_id          uuid NOT NULL,
    record          text COLLATE "C" NOT NULL,
    depth           bigint NOT NULL,
    cause           uuid,
    created_at      bigint NOT NULL,
    CONSTRAINT workflow_events_organization_id_id
        PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id, feature_id)
        REFERENCES features (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX workflow_events_waiting ON workflow_events (id);

-- When an active version is due next; nothing until a worker has worked it out from `since`.
CREATE TABLE workflow_schedules (
    organization_id uuid NOT NULL,
    workflow_id     uuid NOT NULL,
    version         bigint NOT NULL,
    since           bigint NOT NULL,
    due_at          bigint,
    CONSTRAINT workflow_schedules_organization_id_workflow_id
        PRIMARY KEY (organization_id, workflow_id),
    FOREIGN KEY (organization_id, workflow_id)
        REFERENCES workflows (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX workflow_schedules_due ON workflow_schedules (due_at);

-- `lease_owner` is one attempt: whoever plays the run holds it until `locked_until`, by the clock of the
-- database. `wake_at` is when a waiting run goes on. Of one due instant there is one run.
CREATE TABLE workflow_runs (
    organization_id uuid NOT NULL,
    workspace_id    uuid NOT NULL,
    workflow_id     uuid NOT NULL,
    id              uuid NOT NULL,
    version         bigint NOT NULL,
    status          text COLLATE "C" NOT NULL CHECK (status IN ('queued', 'running', 'succeeded', 'failed')),
    trigger_word    text COLLATE "C" NOT NULL CHECK (trigger_word IN ('manual', 'record.event', 'cron', 'automation')),
    feature_id      uuid,
    row_id          uuid,
    record          text COLLATE "C",
    dry_run         boolean NOT NULL,
    depth           bigint NOT NULL,
    cause           uuid,
    caller          uuid,
    due_at          bigint,
    wake_at         bigint,
    lease_owner     uuid,
    locked_until    bigint,
    error           text COLLATE "C",
    created_at      bigint NOT NULL,
    started_at      bigint,
    finished_at     bigint,
    CONSTRAINT workflow_runs_organization_id_id
        PRIMARY KEY (organization_id, id),
    CONSTRAINT workflow_runs_organization_id_workflow_id_due_at
        UNIQUE (organization_id, workflow_id, due_at),
    FOREIGN KEY (organization_id, workflow_id)
        REFERENCES workflows (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX workflow_runs_of_workflow ON workflow_runs (organization_id, workflow_id, id);
CREATE INDEX workflow_runs_waiting ON workflow_runs (id) WHERE status IN ('queued', 'running');

-- `output` is what later steps read of it; a step that has one is never done again.
CREATE TABLE workflow_steps (
    organization_id uuid NOT NULL,
    workspace_id    uuid NOT NULL,
    run_id          uuid NOT NULL,
    number          bigint NOT NULL,
    path            text COLLATE "C" NOT NULL,
    step_id         text COLLATE "C" NOT NULL,
    key             text COLLATE "C" NOT NULL,
    status          text COLLATE "C" NOT NULL CHECK (status IN ('running', 'succeeded', 'failed')),
    input           text COLLATE "C" NOT NULL,
    output          text COLLATE "C",
    error           text COLLATE "C",
    CONSTRAINT workflow_steps_organization_id_run_id_number
        PRIMARY KEY (organization_id, run_id, number),
    FOREIGN KEY (organization_id, run_id)
        REFERENCES workflow_runs (organization_id, id) ON DELETE CASCADE
);

-- What automations tell people: those who listen to a channel, one person, or everybody.
CREATE TABLE notifications (
    organization_id uuid NOT NULL,
    id              uuid NOT NULL,
    scope_type      text COLLATE "C" NOT NULL CHECK (scope_type IN ('channel', 'user', 'organization')),
    scope_id        uuid,
    title           text COLLATE "C" NOT NULL,
    body            text COLLATE "C" NOT NULL,
    run_id          uuid NOT NULL,
    step_id         text COLLATE "C" NOT NULL,
    created_at      bigint NOT NULL,
    CONSTRAINT notifications_organization_id_id
        PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);

-- The second wall.
ALTER TABLE workflow_watchers ENABLE ROW LEVEL SECURITY;
ALTER TABLE workflow_watchers FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflow_watchers TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflow_watchers TO tplkit_request;
CREATE POLICY operator ON workflow_watchers TO tplkit_operator USING (true);
CREATE POLICY request ON workflow_watchers TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));

ALTER TABLE workflow_events ENABLE ROW LEVEL SECURITY;
ALTER TABLE workflow_events FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflow_events TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflow_events TO tplkit_request;
CREATE POLICY operator ON workflow_events TO tplkit_operator USING (true);
CREATE POLICY request ON workflow_events TO tplkit_request
    USING (
        organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])
    );

ALTER TABLE workflow_schedules ENABLE ROW LEVEL SECURITY;
ALTER TABLE workflow_schedules FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflow_schedules TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflow_schedules TO tplkit_request;
CREATE POLICY operator ON workflow_schedules TO tplkit_operator USING (true);
CREATE POLICY request ON workflow_schedules TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));

ALTER TABLE workflow_runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE workflow_runs FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflow_runs TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflow_runs TO tplkit_request;
CREATE POLICY operator ON workflow_runs TO tplkit_operator USING (true);
CREATE POLICY request ON workflow_runs TO tplkit_request
    USING (
        organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])
    );

ALTER TABLE workflow_steps ENABLE ROW LEVEL SECURITY;
ALTER TABLE workflow_steps FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflow_steps TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflow_steps TO tplkit_request;
CREATE POLICY operator ON workflow_steps TO tplkit_operator USING (true);
CREATE POLICY request ON workflow_steps TO tplkit_request
    USING (
        organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])
    );

ALTER TABLE notifications ENABLE ROW LEVEL SECURITY;
ALTER TABLE notifications FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON notifications TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON notifications TO tplkit_request;
CREATE POLICY operator ON notifications TO tplkit_operator USING (true);
CREATE POLICY request ON notifications TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));
