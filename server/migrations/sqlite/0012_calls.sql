-- Which of the calls that an organization may have under way a run has, while it waits for its answer.
ALTER TABLE workflow_runs ADD COLUMN calling INTEGER;
CREATE UNIQUE INDEX workflow_runs_organization_id_calling ON workflow_runs (organization_id, calling)
    WHERE calling IS NOT NULL;
