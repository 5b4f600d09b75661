-- The row security of every table on PostgreSQL, made from server/src/store/policy.rs by
-- `UPDATE=1 cargo test -p tplkit-server --lib policies_are_written_down`, which appends what changed to the migration
-- that MIGRATION names. No store runs this text; tests compare it with what all migrations make.

ALTER TABLE users ENABLE ROW LEVEL SECURITY;
ALTER TABLE users FORCE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE (password_hash) ON users TO tplkit_gate;
GRANT SELECT, INSERT, UPDATE, DELETE ON users TO tplkit_operator;
GRANT SELECT ON users TO tplkit_request;
CREATE POLICY gate ON users TO tplkit_gate
    USING (true);
CREATE POLICY operator ON users TO tplkit_operator
    USING (true);
CREATE POLICY request ON users TO tplkit_request
    USING (id = nullif(current_setting('tplkit.caller', true), '')::uuid);

ALTER TABLE sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE sessions FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON sessions TO tplkit_gate;
CREATE POLICY gate ON sessions TO tplkit_gate
    USING (true);

ALTER TABLE organizations ENABLE ROW LEVEL SECURITY;
ALTER TABLE organizations FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON organizations TO tplkit_operator;
GRANT SELECT, UPDATE ON organizations TO tplkit_request;
CREATE POLICY operator ON organizations TO tplkit_operator
    USING (true);
CREATE POLICY request ON organizations TO tplkit_request
    USING (id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));

ALTER TABLE memberships ENABLE ROW LEVEL SECURITY;
ALTER TABLE memberships FORCE ROW LEVEL SECURITY;
GRANT SELECT ON memberships TO tplkit_gate;
GRANT SELECT, INSERT, UPDATE, DELETE ON memberships TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON memberships TO tplkit_request;
CREATE POLICY gate ON memberships TO tplkit_gate
    USING (true);
CREATE POLICY operator ON memberships TO tplkit_operator
    USING (true);
CREATE POLICY request ON memberships TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));

ALTER TABLE workspaces ENABLE ROW LEVEL SECURITY;
ALTER TABLE workspaces FORCE ROW LEVEL SECURITY;
GRANT SELECT ON workspaces TO tplkit_gate;
GRANT SELECT, INSERT, UPDATE, DELETE ON workspaces TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON workspaces TO tplkit_request;
CREATE POLICY gate ON workspaces TO tplkit_gate
    USING (access = 'members');
CREATE POLICY operator ON workspaces TO tplkit_operator
    USING (true);
CREATE POLICY request ON workspaces TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND (access = 'organization' OR organization_id = ANY (nullif(current_setting('tplkit.administered', true), '')::uuid[]) OR id = ANY (nullif(current_setting('tplkit.workspaces', true), '')::uuid[])));

ALTER TABLE workspace_members ENABLE ROW LEVEL SECURITY;
ALTER TABLE workspace_members FORCE ROW LEVEL SECURITY;
GRANT SELECT ON workspace_members TO tplkit_gate;
GRANT SELECT, INSERT, UPDATE, DELETE ON workspace_members TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON workspace_members TO tplkit_request;
CREATE POLICY gate ON workspace_members TO tplkit_gate
    USING (true);
CREATE POLICY operator ON workspace_members TO tplkit_operator
    USING (true);
CREATE POLICY request ON workspace_members TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));

ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE api_keys FORCE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE ON api_keys TO tplkit_gate;
GRANT SELECT, INSERT, UPDATE, DELETE ON api_keys TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON api_keys TO tplkit_request;
CREATE POLICY gate ON api_keys TO tplkit_gate
    USING (true);
CREATE POLICY operator ON api_keys TO tplkit_operator
    USING (true);
CREATE POLICY request ON api_keys TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));

ALTER TABLE modules ENABLE ROW LEVEL SECURITY;
ALTER TABLE modules FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON modules TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON modules TO tplkit_request;
CREATE POLICY operator ON modules TO tplkit_operator
    USING (true);
CREATE POLICY request ON modules TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND coalesce(workspace_id = nullif(current_setting('tplkit.only_workspace', true), '')::uuid, workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])));

ALTER TABLE rails ENABLE ROW LEVEL SECURITY;
ALTER TABLE rails FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON rails TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON rails TO tplkit_request;
CREATE POLICY operator ON rails TO tplkit_operator
    USING (true);
CREATE POLICY request ON rails TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND coalesce(workspace_id = nullif(current_setting('tplkit.only_workspace', true), '')::uuid, workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])));

ALTER TABLE features ENABLE ROW LEVEL SECURITY;
ALTER TABLE features FORCE ROW LEVEL SECURITY;
GRANT SELECT ON features TO tplkit_gate;
GRANT SELECT, INSERT, UPDATE, DELETE ON features TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON features TO tplkit_request;
CREATE POLICY gate ON features TO tplkit_gate
    USING (own_rows);
CREATE POLICY operator ON features TO tplkit_operator
    USING (true);
CREATE POLICY request ON features TO tplkit_request
    USING (CASE
            WHEN (organization_id = ANY ((SELECT nullif(current_setting('tplkit.organizations', true), '')::uuid[])::uuid[])) IS NOT TRUE THEN false
            ELSE coalesce(workspace_id = (SELECT nullif(current_setting('tplkit.only_workspace', true), '')::uuid), workspace_id <> ALL ((SELECT nullif(current_setting('tplkit.hidden', true), '')::uuid[])::uuid[]))
        END);

ALTER TABLE views ENABLE ROW LEVEL SECURITY;
ALTER TABLE views FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON views TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON views TO tplkit_request;
CREATE POLICY operator ON views TO tplkit_operator
    USING (true);
CREATE POLICY request ON views TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND coalesce(workspace_id = nullif(current_setting('tplkit.only_workspace', true), '')::uuid, workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])));

ALTER TABLE columns ENABLE ROW LEVEL SECURITY;
ALTER TABLE columns FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON columns TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON columns TO tplkit_request;
CREATE POLICY operator ON columns TO tplkit_operator
    USING (true);
CREATE POLICY request ON columns TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND coalesce(workspace_id = nullif(current_setting('tplkit.only_workspace', true), '')::uuid, workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])));

ALTER TABLE rows ENABLE ROW LEVEL SECURITY;
ALTER TABLE rows FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON rows TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON rows TO tplkit_request;
CREATE POLICY operator ON rows TO tplkit_operator
    USING (true);
CREATE POLICY request ON rows TO tplkit_request
    USING (CASE
            WHEN (organization_id = ANY ((SELECT nullif(current_setting('tplkit.organizations', true), '')::uuid[])::uuid[])) IS NOT TRUE THEN false
            WHEN (SELECT current_setting('tplkit.hidden', true) = '{}' AND current_setting('tplkit.guarded', true) = '{}') THEN true
            ELSE coalesce(feature_id = (SELECT nullif(current_setting('tplkit.only_feature', true), '')::uuid), (coalesce(workspace_id = (SELECT nullif(current_setting('tplkit.only_workspace', true), '')::uuid), workspace_id <> ALL ((SELECT nullif(current_setting('tplkit.hidden', true), '')::uuid[])::uuid[])) AND (feature_id <> ALL ((SELECT nullif(current_setting('tplkit.guarded', true), '')::uuid[])::uuid[]) OR created_by = (SELECT nullif(current_setting('tplkit.caller', true), '')::uuid) OR created_by = (SELECT nullif(current_setting('tplkit.run', true), '')::uuid))))
        END);
CREATE VIEW security_whole_rows WITH (security_barrier) AS SELECT * FROM rows
    WHERE CASE
            WHEN (organization_id = ANY ((SELECT nullif(current_setting('tplkit.organizations', true), '')::uuid[])::uuid[])) IS NOT TRUE THEN false
            WHEN (SELECT current_setting('tplkit.hidden', true) = '{}' AND current_setting('tplkit.guarded', true) = '{}') THEN true
            ELSE coalesce(feature_id = (SELECT nullif(current_setting('tplkit.only_feature', true), '')::uuid), false)
        END;
ALTER VIEW security_whole_rows OWNER TO tplkit_operator;
GRANT SELECT ON security_whole_rows TO tplkit_request;

ALTER TABLE row_values ENABLE ROW LEVEL SECURITY;
ALTER TABLE row_values FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON row_values TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON row_values TO tplkit_request;
CREATE POLICY operator ON row_values TO tplkit_operator
    USING (true);
CREATE POLICY request ON row_values TO tplkit_request
    USING (CASE
            WHEN (organization_id = ANY ((SELECT nullif(current_setting('tplkit.organizations', true), '')::uuid[])::uuid[])) IS NOT TRUE THEN false
            ELSE coalesce(workspace_id = (SELECT nullif(current_setting('tplkit.only_workspace', true), '')::uuid), workspace_id <> ALL ((SELECT nullif(current_setting('tplkit.hidden', true), '')::uuid[])::uuid[]))
        END);

ALTER TABLE row_counts ENABLE ROW LEVEL SECURITY;
ALTER TABLE row_counts FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON row_counts TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON row_counts TO tplkit_request;
CREATE POLICY operator ON row_counts TO tplkit_operator
    USING (true);
CREATE POLICY request ON row_counts TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));

ALTER TABLE idempotency ENABLE ROW LEVEL SECURITY;
ALTER TABLE idempotency FORCE ROW LEVEL SECURITY;
GRANT SELECT, DELETE ON idempotency TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency TO tplkit_request;
CREATE POLICY operator ON idempotency TO tplkit_operator
    USING (true);
CREATE POLICY request ON idempotency TO tplkit_request
    USING (caller_id = nullif(current_setting('tplkit.caller', true), '')::uuid);

ALTER TABLE channels ENABLE ROW LEVEL SECURITY;
ALTER TABLE channels FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON channels TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON channels TO tplkit_request;
CREATE POLICY operator ON channels TO tplkit_operator
    USING (true);
CREATE POLICY request ON channels TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));

ALTER TABLE connections ENABLE ROW LEVEL SECURITY;
ALTER TABLE connections FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON connections TO tplkit_operator;
GRANT SELECT (organization_id, id, name, kind, created_at, target_id), INSERT, DELETE ON connections TO tplkit_request;
CREATE POLICY operator ON connections TO tplkit_operator
    USING (true);
CREATE POLICY request ON connections TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));

ALTER TABLE workflows ENABLE ROW LEVEL SECURITY;
ALTER TABLE workflows FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflows TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflows TO tplkit_request;
CREATE POLICY operator ON workflows TO tplkit_operator
    USING (true);
CREATE POLICY request ON workflows TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND coalesce(workspace_id = nullif(current_setting('tplkit.only_workspace', true), '')::uuid, workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])));

ALTER TABLE workflow_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE workflow_versions FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflow_versions TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflow_versions TO tplkit_request;
CREATE POLICY operator ON workflow_versions TO tplkit_operator
    USING (true);
CREATE POLICY request ON workflow_versions TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND coalesce(workspace_id = nullif(current_setting('tplkit.only_workspace', true), '')::uuid, workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])));

ALTER TABLE templates ENABLE ROW LEVEL SECURITY;
ALTER TABLE templates FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON templates TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON templates TO tplkit_request;
CREATE POLICY operator ON templates TO tplkit_operator
    USING (true);
CREATE POLICY request ON templates TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));
CREATE POLICY catalog ON templates FOR SELECT TO tplkit_request
    USING (visibility IN ('system', 'public'));
CREATE POLICY platform ON templates FOR SELECT TO tplkit_request
    USING (current_setting('tplkit.platform', true) = 'on');
CREATE POLICY promotion ON templates FOR UPDATE TO tplkit_request
    USING (current_setting('tplkit.platform', true) = 'on')
    WITH CHECK ((current_setting('tplkit.platform', true) = 'on' AND visibility = 'system'));

ALTER TABLE template_payloads ENABLE ROW LEVEL SECURITY;
ALTER TABLE template_payloads FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON template_payloads TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON template_payloads TO tplkit_request;
CREATE POLICY operator ON template_payloads TO tplkit_operator
    USING (true);
CREATE POLICY request ON template_payloads TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));
CREATE POLICY catalog ON template_payloads FOR SELECT TO tplkit_request
    USING (visibility IN ('system', 'public'));
CREATE POLICY platform ON template_payloads FOR SELECT TO tplkit_request
    USING (current_setting('tplkit.platform', true) = 'on');
CREATE POLICY promotion ON template_payloads FOR UPDATE TO tplkit_request
    USING (current_setting('tplkit.platform', true) = 'on')
    WITH CHECK ((current_setting('tplkit.platform', true) = 'on' AND visibility = 'system'));

ALTER TABLE template_jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE template_jobs FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON template_jobs TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON template_jobs TO tplkit_request;
CREATE POLICY operator ON template_jobs TO tplkit_operator
    USING (true);
CREATE POLICY request ON template_jobs TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND coalesce(workspace_id = nullif(current_setting('tplkit.only_workspace', true), '')::uuid, workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])));

ALTER TABLE template_job_parts ENABLE ROW LEVEL SECURITY;
ALTER TABLE template_job_parts FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON template_job_parts TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON template_job_parts TO tplkit_request;
CREATE POLICY operator ON template_job_parts TO tplkit_operator
    USING (true);
CREATE POLICY request ON template_job_parts TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND coalesce(workspace_id = nullif(current_setting('tplkit.only_workspace', true), '')::uuid, workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])));

ALTER TABLE template_job_entries ENABLE ROW LEVEL SECURITY;
ALTER TABLE template_job_entries FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON template_job_entries TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON template_job_entries TO tplkit_request;
CREATE POLICY operator ON template_job_entries TO tplkit_operator
    USING (true);
CREATE POLICY request ON template_job_entries TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND coalesce(workspace_id = nullif(current_setting('tplkit.only_workspace', true), '')::uuid, workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])));

ALTER TABLE workflow_watchers ENABLE ROW LEVEL SECURITY;
ALTER TABLE workflow_watchers FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflow_watchers TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflow_watchers TO tplkit_request;
CREATE POLICY operator ON workflow_watchers TO tplkit_operator
    USING (true);
CREATE POLICY request ON workflow_watchers TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));

ALTER TABLE workflow_events ENABLE ROW LEVEL SECURITY;
ALTER TABLE workflow_events FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflow_events TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflow_events TO tplkit_request;
CREATE POLICY operator ON workflow_events TO tplkit_operator
    USING (true);
CREATE POLICY request ON workflow_events TO tplkit_request
    USING (CASE
            WHEN (organization_id = ANY ((SELECT nullif(current_setting('tplkit.organizations', true), '')::uuid[])::uuid[])) IS NOT TRUE THEN false
            ELSE coalesce(workspace_id = (SELECT nullif(current_setting('tplkit.only_workspace', true), '')::uuid), workspace_id <> ALL ((SELECT nullif(current_setting('tplkit.hidden', true), '')::uuid[])::uuid[]))
        END);

ALTER TABLE workflow_schedules ENABLE ROW LEVEL SECURITY;
ALTER TABLE workflow_schedules FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflow_schedules TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflow_schedules TO tplkit_request;
CREATE POLICY operator ON workflow_schedules TO tplkit_operator
    USING (true);
CREATE POLICY request ON workflow_schedules TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));

ALTER TABLE workflow_runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE workflow_runs FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflow_runs TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflow_runs TO tplkit_request;
CREATE POLICY operator ON workflow_runs TO tplkit_operator
    USING (true);
CREATE POLICY request ON workflow_runs TO tplkit_request
    USING (CASE
            WHEN (organization_id = ANY ((SELECT nullif(current_setting('tplkit.organizations', true), '')::uuid[])::uuid[])) IS NOT TRUE THEN false
            ELSE coalesce(workspace_id = (SELECT nullif(current_setting('tplkit.only_workspace', true), '')::uuid), workspace_id <> ALL ((SELECT nullif(current_setting('tplkit.hidden', true), '')::uuid[])::uuid[]))
        END);

ALTER TABLE run_chains ENABLE ROW LEVEL SECURITY;
ALTER TABLE run_chains FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON run_chains TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON run_chains TO tplkit_request;
CREATE POLICY operator ON run_chains TO tplkit_operator
    USING (true);
CREATE POLICY request ON run_chains TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));

ALTER TABLE workflow_steps ENABLE ROW LEVEL SECURITY;
ALTER TABLE workflow_steps FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflow_steps TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON workflow_steps TO tplkit_request;
CREATE POLICY operator ON workflow_steps TO tplkit_operator
    USING (true);
CREATE POLICY request ON workflow_steps TO tplkit_request
    USING (CASE
            WHEN (organization_id = ANY ((SELECT nullif(current_setting('tplkit.organizations', true), '')::uuid[])::uuid[])) IS NOT TRUE THEN false
            ELSE coalesce(workspace_id = (SELECT nullif(current_setting('tplkit.only_workspace', true), '')::uuid), workspace_id <> ALL ((SELECT nullif(current_setting('tplkit.hidden', true), '')::uuid[])::uuid[]))
        END);

ALTER TABLE notifications ENABLE ROW LEVEL SECURITY;
ALTER TABLE notifications FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON notifications TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON notifications TO tplkit_request;
CREATE POLICY operator ON notifications TO tplkit_operator
    USING (true);
CREATE POLICY request ON notifications TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));

ALTER TABLE store_identity ENABLE ROW LEVEL SECURITY;
ALTER TABLE store_identity FORCE ROW LEVEL SECURITY;
GRANT SELECT ON store_identity TO tplkit_operator;
CREATE POLICY operator ON store_identity TO tplkit_operator
    USING (true);

ALTER TABLE file_objects ENABLE ROW LEVEL SECURITY;
ALTER TABLE file_objects FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON file_objects TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON file_objects TO tplkit_request;
CREATE POLICY operator ON file_objects TO tplkit_operator
    USING (true);
CREATE POLICY request ON file_objects TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));

ALTER TABLE file_uses ENABLE ROW LEVEL SECURITY;
ALTER TABLE file_uses FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON file_uses TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON file_uses TO tplkit_request;
CREATE POLICY operator ON file_uses TO tplkit_operator
    USING (true);
CREATE POLICY request ON file_uses TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND coalesce(workspace_id = nullif(current_setting('tplkit.only_workspace', true), '')::uuid, workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[]))
        AND (feature_id <> ALL (nullif(current_setting('tplkit.guarded', true), '')::uuid[]) OR row_created_by = nullif(current_setting('tplkit.caller', true), '')::uuid OR row_created_by = nullif(current_setting('tplkit.run', true), '')::uuid));

ALTER TABLE files ENABLE ROW LEVEL SECURITY;
ALTER TABLE files FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON files TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON files TO tplkit_request;
CREATE POLICY operator ON files TO tplkit_operator
    USING (true);
CREATE POLICY request ON files TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND coalesce(workspace_id = nullif(current_setting('tplkit.only_workspace', true), '')::uuid, workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])));
CREATE POLICY sight ON files AS RESTRICTIVE FOR SELECT TO tplkit_request
    USING ((organization_id = ANY (nullif(current_setting('tplkit.administered', true), '')::uuid[]) OR created_by = nullif(current_setting('tplkit.caller', true), '')::uuid)
        OR EXISTS (SELECT 1 FROM file_uses AS through WHERE through.organization_id = files.organization_id AND through.file_id = files.id LIMIT 1 OFFSET 0));

ALTER TABLE file_holds ENABLE ROW LEVEL SECURITY;
ALTER TABLE file_holds FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON file_holds TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON file_holds TO tplkit_request;
CREATE POLICY operator ON file_holds TO tplkit_operator
    USING (true);
CREATE POLICY request ON file_holds TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND coalesce(workspace_id = nullif(current_setting('tplkit.only_workspace', true), '')::uuid, workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])));

ALTER TABLE row_search ENABLE ROW LEVEL SECURITY;
ALTER TABLE row_search FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON row_search TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON row_search TO tplkit_request;
CREATE POLICY operator ON row_search TO tplkit_operator
    USING (true);
CREATE POLICY request ON row_search TO tplkit_request
    USING (CASE
            WHEN (organization_id = ANY ((SELECT nullif(current_setting('tplkit.organizations', true), '')::uuid[])::uuid[])) IS NOT TRUE THEN false
            ELSE coalesce(workspace_id = (SELECT nullif(current_setting('tplkit.only_workspace', true), '')::uuid), workspace_id <> ALL ((SELECT nullif(current_setting('tplkit.hidden', true), '')::uuid[])::uuid[]))
        END);
