-- The run that began the chain a run belongs to; nothing for one that no other run caused. And how many runs each chain
-- has so far: rows of runs cannot be counted, because a run does not see those of every workspace.
ALTER TABLE workflow_runs ADD COLUMN chain uuid;
ALTER TABLE workflow_events ADD COLUMN chain uuid;
CREATE TABLE run_chains (
    organization_id uuid   NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    id              uuid   NOT NULL,
    caused          bigint NOT NULL,
    created_at      bigint NOT NULL,
    CONSTRAINT run_chains_organization_id_id PRIMARY KEY (organization_id, id)
);
CREATE INDEX run_chains_created_at ON run_chains (created_at);

ALTER TABLE run_chains ENABLE ROW LEVEL SECURITY;
ALTER TABLE run_chains FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON run_chains TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON run_chains TO tplkit_request;
CREATE POLICY operator ON run_chains TO tplkit_operator
    USING (true);
CREATE POLICY request ON run_chains TO tplkit_request
    USING (organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[]));
