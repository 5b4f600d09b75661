-- A request about one table says so (`tplkit.only_workspace`, `tplkit.only_feature`): row security compares with
-- these, and what is hidden from the caller need not be listed. Where both settings are missing, nothing is
-- visible.

-- What shows people their own rows only, found by the workspace that is asked about.
CREATE INDEX features_guarded_of_workspace ON features (organization_id, workspace_id, id) WHERE own_rows;

ALTER POLICY request ON modules
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND coalesce(workspace_id = nullif(current_setting('tplkit.only_workspace', true), '')::uuid, workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])));

ALTER POLICY request ON rails
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND coalesce(workspace_id = nullif(current_setting('tplkit.only_workspace', true), '')::uuid, workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])));

ALTER POLICY request ON features
    USING (CASE
            WHEN (organization_id = ANY ((SELECT nullif(current_setting('tplkit.organizations', true), '')::uuid[])::uuid[])) IS NOT TRUE THEN false
            ELSE coalesce(workspace_id = (SELECT nullif(current_setting('tplkit.only_workspace', true), '')::uuid), workspace_id <> ALL ((SELECT nullif(current_setting('tplkit.hidden', true), '')::uuid[])::uuid[]))
        END);

ALTER POLICY request ON views
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND coalesce(workspace_id = nullif(current_setting('tplkit.only_workspace', true), '')::uuid, workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])));

ALTER POLICY request ON columns
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND coalesce(workspace_id = nullif(current_setting('tplkit.only_workspace', true), '')::uuid, workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])));

ALTER POLICY request ON rows
    USING (CASE
            WHEN (organization_id = ANY ((SELECT nullif(current_setting('tplkit.organizations', true), '')::uuid[])::uuid[])) IS NOT TRUE THEN false
            WHEN (SELECT current_setting('tplkit.hidden', true) = '{}' AND current_setting('tplkit.guarded', true) = '{}') THEN true
            ELSE coalesce(feature_id = (SELECT nullif(current_setting('tplkit.only_feature', true), '')::uuid), (coalesce(workspace_id = (SELECT nullif(current_setting('tplkit.only_workspace', true), '')::uuid), workspace_id <> ALL ((SELECT nullif(current_setting('tplkit.hidden', true), '')::uuid[])::uuid[])) AND (feature_id <> ALL ((SELECT nullif(current_setting('tplkit.guarded', true), '')::uuid[])::uuid[]) OR created_by = (SELECT nullif(current_setting('tplkit.caller', true), '')::uuid) OR created_by = (SELECT nullif(current_setting('tplkit.run', true), '')::uuid))))
        END);

ALTER POLICY request ON row_values
    USING (CASE
            WHEN (organization_id = ANY ((SELECT nullif(current_setting('tplkit.organizations', true), '')::uuid[])::uuid[])) IS NOT TRUE THEN false
            ELSE coalesce(workspace_id = (SELECT nullif(current_setting('tplkit.only_workspace', true), '')::uuid), workspace_id <> ALL ((SELECT nullif(current_setting('tplkit.hidden', true), '')::uuid[])::uuid[]))
        END);

ALTER POLICY request ON workflows
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND coalesce(workspace_id = nullif(current_setting('tplkit.only_workspace', true), '')::uuid, workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])));

ALTER POLICY request ON workflow_versions
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND coalesce(workspace_id = nullif(current_setting('tplkit.only_workspace', true), '')::uuid, workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])));

ALTER POLICY request ON template_jobs
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND coalesce(workspace_id = nullif(current_setting('tplkit.only_workspace', true), '')::uuid, workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])));

ALTER POLICY request ON template_job_parts
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND coalesce(workspace_id = nullif(current_setting('tplkit.only_workspace', true), '')::uuid, workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])));

ALTER POLICY request ON template_job_entries
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND coalesce(workspace_id = nullif(current_setting('tplkit.only_workspace', true), '')::uuid, workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])));

ALTER POLICY request ON workflow_events
    USING (CASE
            WHEN (organization_id = ANY ((SELECT nullif(current_setting('tplkit.organizations', true), '')::uuid[])::uuid[])) IS NOT TRUE THEN false
            ELSE coalesce(workspace_id = (SELECT nullif(current_setting('tplkit.only_workspace', true), '')::uuid), workspace_id <> ALL ((SELECT nullif(current_setting('tplkit.hidden', true), '')::uuid[])::uuid[]))
        END);

ALTER POLICY request ON workflow_runs
    USING (CASE
            WHEN (organization_id = ANY ((SELECT nullif(current_setting('tplkit.organizations', true), '')::uuid[])::uuid[])) IS NOT TRUE THEN false
            ELSE coalesce(workspace_id = (SELECT nullif(current_setting('tplkit.only_workspace', true), '')::uuid), workspace_id <> ALL ((SELECT nullif(current_setting('tplkit.hidden', true), '')::uuid[])::uuid[]))
        END);

ALTER POLICY request ON workflow_steps
    USING (CASE
            WHEN (organization_id = ANY ((SELECT nullif(current_setting('tplkit.organizations', true), '')::uuid[])::uuid[])) IS NOT TRUE THEN false
            ELSE coalesce(workspace_id = (SELECT nullif(current_setting('tplkit.only_workspace', true), '')::uuid), workspace_id <> ALL ((SELECT nullif(current_setting('tplkit.hidden', true), '')::uuid[])::uuid[]))
        END);

ALTER POLICY request ON file_uses
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND coalesce(workspace_id = nullif(current_setting('tplkit.only_workspace', true), '')::uuid, workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[]))
        AND (feature_id <> ALL (nullif(current_setting('tplkit.guarded', true), '')::uuid[]) OR row_created_by = nullif(current_setting('tplkit.caller', true), '')::uuid OR row_created_by = nullif(current_setting('tplkit.run', true), '')::uuid));

ALTER POLICY request ON files
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND coalesce(workspace_id = nullif(current_setting('tplkit.only_workspace', true), '')::uuid, workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])));

ALTER POLICY request ON file_holds
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND coalesce(workspace_id = nullif(current_setting('tplkit.only_workspace', true), '')::uuid, workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])));

-- Who sees every row of a table counts along an index alone: a policy on the table reads columns that no index
-- has. Whoever owns the view has to be somebody whom no policy restricts and who may not do more.
DO $$ BEGIN EXECUTE format('GRANT CREATE ON SCHEMA %I TO tplkit_operator', current_schema()); END $$;
CREATE VIEW security_whole_rows WITH (security_barrier) AS SELECT * FROM rows
    WHERE CASE
            WHEN (organization_id = ANY ((SELECT nullif(current_setting('tplkit.organizations', true), '')::uuid[])::uuid[])) IS NOT TRUE THEN false
            WHEN (SELECT current_setting('tplkit.hidden', true) = '{}' AND current_setting('tplkit.guarded', true) = '{}') THEN true
            ELSE coalesce(feature_id = (SELECT nullif(current_setting('tplkit.only_feature', true), '')::uuid), false)
        END;
ALTER VIEW security_whole_rows OWNER TO tplkit_operator;
GRANT SELECT ON security_whole_rows TO tplkit_request;
DO $$ BEGIN EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM tplkit_operator', current_schema()); END $$;

-- How the store is to plan for queues until it has looked at rows of its own, as 0002 has it for `rows`:
-- a worker plans while they are empty, and expects one row in an index of a whole organization. Then each
-- run was looked for among all of them. What is in use already has numbers of its own.
ALTER TABLE workflow_events NO FORCE ROW LEVEL SECURITY;
ALTER TABLE workflow_runs NO FORCE ROW LEVEL SECURITY;
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM workflow_events) THEN
        ALTER TABLE workflow_events DROP CONSTRAINT workflow_events_organization_id_feature_id_fkey;
        INSERT INTO workflow_events (organization_id, workspace_id, feature_id, id, workflow_id, version,
            row_id, record, depth, created_at)
        SELECT one, one, one, lpad(to_hex(n), 32, '0')::uuid, one, 1, one, '{}', 1, n
        FROM generate_series(1, 1000) AS n, (SELECT lpad('1', 32, '0')::uuid AS one) AS shown;
        ANALYZE workflow_events;
        TRUNCATE workflow_events;
        ALTER TABLE workflow_events ADD FOREIGN KEY (organization_id, feature_id)
            REFERENCES features (organization_id, id) ON DELETE CASCADE;
    END IF;
    IF NOT EXISTS (SELECT FROM workflow_runs) THEN
        ALTER TABLE workflow_steps DROP CONSTRAINT workflow_steps_organization_id_run_id_fkey;
        ALTER TABLE workflow_runs DROP CONSTRAINT workflow_runs_organization_id_workflow_id_fkey;
        INSERT INTO workflow_runs (organization_id, workspace_id, workflow_id, id, version, status,
            trigger_word, dry_run, depth, created_at)
        SELECT one, one, one, lpad(to_hex(n), 32, '0')::uuid, 1,
            CASE n % 2 WHEN 0 THEN 'queued' ELSE 'succeeded' END, 'record.event', false, 1, n
        FROM generate_series(1, 1000) AS n, (SELECT lpad('1', 32, '0')::uuid AS one) AS shown;
        ANALYZE workflow_runs;
        TRUNCATE workflow_runs;
        ALTER TABLE workflow_runs ADD FOREIGN KEY (organization_id, workflow_id)
            REFERENCES workflows (organization_id, id) ON DELETE CASCADE;
        ALTER TABLE workflow_steps ADD FOREIGN KEY (organization_id, run_id)
            REFERENCES workflow_runs (organization_id, id) ON DELETE CASCADE;
    END IF;
END
$$;
ALTER TABLE workflow_events FORCE ROW LEVEL SECURITY;
ALTER TABLE workflow_runs FORCE ROW LEVEL SECURITY;
