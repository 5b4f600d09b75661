-- The run that began the chain a run belongs to; nothing for one that no other run caused. And how many runs each chain
-- has so far: rows of runs cannot be counted, because a run does not see those of every workspace.
ALTER TABLE workflow_runs ADD COLUMN chain BLOB;
ALTER TABLE workflow_events ADD COLUMN chain BLOB;
CREATE TABLE run_chains (
    organization_id BLOB    NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    id              BLOB    NOT NULL,
    caused          INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_chains_created_at ON run_chains (created_at);
