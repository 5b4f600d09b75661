-- The catalog of templates, and the jobs that apply them.

-- `manifest` is canonical text, and the columns say again what stands in it, for lists.
CREATE TABLE templates (
    organization_id  uuid NOT NULL,
    id               uuid NOT NULL,
    visibility       text    COLLATE "C" NOT NULL CHECK (visibility IN ('system', 'org', 'public')),
    name             text    COLLATE "C",
    label            text    COLLATE "C",
    description      text    COLLATE "C",
    category         text    COLLATE "C",
    scope            text    COLLATE "C",
    semver           text    COLLATE "C",
    tags             text NOT NULL,
    template_version bigint NOT NULL,
    manifest         text NOT NULL,
    created_at       bigint NOT NULL,
    updated_at       bigint NOT NULL,
    CONSTRAINT templates_organization_id_id
        PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
);
CREATE INDEX templates_for_everybody ON templates (id) WHERE visibility <> 'org';

-- As visible as the template, and therefore with its visibility.
CREATE TABLE template_payloads (
    organization_id uuid NOT NULL,
    template_id     uuid NOT NULL,
    item_uid        text    COLLATE "C" NOT NULL,
    position        bigint NOT NULL,
    visibility      text    COLLATE "C" NOT NULL,
    row_count       bigint NOT NULL,
    entry           text NOT NULL,
    created_at      bigint NOT NULL,
    updated_at      bigint NOT NULL,
    CONSTRAINT template_payloads_organization_id_template_id_item_uid
        PRIMARY KEY (organization_id, template_id, item_uid),
    FOREIGN KEY (organization_id, template_id)
        REFERENCES templates (organization_id, id) ON DELETE CASCADE
);

-- `template_id` may be of another organization, and gone by now. Of one template there is one unfinished
-- job in a workspace. `lease_owner` is one attempt: whoever works holds the job until `locked_until`, by
-- the clock of the database.
CREATE TABLE template_jobs (
    organization_id uuid NOT NULL,
    workspace_id    uuid NOT NULL,
    id              uuid NOT NULL,
    template_id     uuid NOT NULL,
    created_by      uuid,
    request         text NOT NULL,
    status          text    COLLATE "C" NOT NULL CHECK (status IN ('pending', 'structure', 'rows', 'publish', 'completed', 'failed', 'undone')),
    phase           text    COLLATE "C" NOT NULL,
    done            bigint NOT NULL,
    total           bigint NOT NULL,
    entries         bigint NOT NULL,
    lease_owner     uuid,
    locked_until    bigint,
    report          text,
    error           text,
    created_at      bigint NOT NULL,
    updated_at      bigint NOT NULL,
    CONSTRAINT template_jobs_organization_id_id
        PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id, workspace_id)
        REFERENCES workspaces (organization_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX template_jobs_unfinished ON template_jobs (organization_id, workspace_id, template_id)
    WHERE status IN ('pending', 'structure', 'rows', 'publish');
CREATE INDEX template_jobs_waiting ON template_jobs (locked_until) WHERE status IN ('pending', 'structure', 'rows', 'publish');
CREATE INDEX template_jobs_of_workspace ON template_jobs (organization_id, workspace_id, template_id, id);

-- The package as it was when the job was asked for: the manifest (0) and its payload entries in order.
CREATE TABLE template_job_parts (
    organization_id uuid NOT NULL,
    workspace_id    uuid NOT NULL,
    job_id          uuid NOT NULL,
    number          bigint NOT NULL,
    content         bytea NOT NULL,
    CONSTRAINT template_job_parts_organization_id_job_id_number
        PRIMARY KEY (organization_id, job_id, number),
    FOREIGN KEY (organization_id, job_id)
        REFERENCES template_jobs (organization_id, id) ON DELETE CASCADE
);
-- Packed already.
ALTER TABLE template_job_parts ALTER COLUMN content SET STORAGE EXTERNAL;

-- What a job remembers of what it wrote, in order.
CREATE TABLE template_job_entries (
    organization_id uuid NOT NULL,
    workspace_id    uuid NOT NULL,
    job_id          uuid NOT NULL,
    number          bigint NOT NULL,
    entry           text NOT NULL,
    CONSTRAINT template_job_entries_organization_id_job_id_number
        PRIMARY KEY (organization_id, job_id, number),
    FOREIGN KEY (organization_id, job_id)
        REFERENCES template_jobs (organization_id, id) ON DELETE CASCADE
);
-- Ids and digests are as short as they get.
ALTER TABLE template_job_entries ALTER COLUMN entry SET STORAGE EXTERNAL;

-- The second wall.
ALTER TABLE templates ENABLE ROW LEVEL SECURITY;
ALTER TABLE templates FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON templates TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON templates TO tplkit_request;
CREATE POLICY operator ON templates TO tplkit_operator USING (true);
-- Templates for everybody are read by everybody, and changed by their own organization alone.
CREATE POLICY request ON templates TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));
CREATE POLICY catalog ON templates FOR SELECT TO tplkit_request
    USING (visibility IN ('system', 'public'));
-- Administrators of the platform see every template, and promote it.
CREATE POLICY platform ON templates FOR SELECT TO tplkit_request
    USING (current_setting('tplkit.platform', true) = 'on');
CREATE POLICY promotion ON templates FOR UPDATE TO tplkit_request
    USING (current_setting('tplkit.platform', true) = 'on')
    WITH CHECK (current_setting('tplkit.platform', true) = 'on' AND visibility = 'system');

ALTER TABLE template_payloads ENABLE ROW LEVEL SECURITY;
ALTER TABLE template_payloads FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON template_payloads TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON template_payloads TO tplkit_request;
CREATE POLICY operator ON template_payloads TO tplkit_operator USING (true);
-- Templates for everybody are read by everybody, and changed by their own organization alone.
CREATE POLICY request ON template_payloads TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));
CREATE POLICY catalog ON template_payloads FOR SELECT TO tplkit_request
    USING (visibility IN ('system', 'public'));
-- Administrators of the platform see every template, and promote it.
CREATE POLICY platform ON template_payloads FOR SELECT TO tplkit_request
    USING (current_setting('tplkit.platform', true) = 'on');
CREATE POLICY promotion ON template_payloads FOR UPDATE TO tplkit_request
    USING (current_setting('tplkit.platform', true) = 'on')
    WITH CHECK (current_setting('tplkit.platform', true) = 'on' AND visibility = 'system');

ALTER TABLE template_jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE template_jobs FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON template_jobs TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON template_jobs TO tplkit_request;
CREATE POLICY operator ON template_jobs TO tplkit_operator USING (true);
CREATE POLICY request ON template_jobs TO tplkit_request
    USING (
        organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])
    );

ALTER TABLE template_job_parts ENABLE ROW LEVEL SECURITY;
ALTER TABLE template_job_parts FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON template_job_parts TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON template_job_parts TO tplkit_request;
CREATE POLICY operator ON template_job_parts TO tplkit_operator USING (true);
CREATE POLICY request ON template_job_parts TO tplkit_request
    USING (
        organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])
    );

ALTER TABLE template_job_entries ENABLE ROW LEVEL SECURITY;
ALTER TABLE template_job_entries FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON template_job_entries TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON template_job_entries TO tplkit_request;
CREATE POLICY operator ON template_job_entries TO tplkit_operator USING (true);
CREATE POLICY request ON template_job_entries TO tplkit_request
    USING (
        organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])
    );
