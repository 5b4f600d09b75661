-- What shows people their own rows only, found by the workspace that is asked about. Policies and planner
-- numbers are PostgreSQL's.
CREATE INDEX features_guarded_of_workspace ON features (organization_id, workspace_id, id) WHERE own_rows;
