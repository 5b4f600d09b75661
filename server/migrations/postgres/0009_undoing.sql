-- An undo goes on in units: meanwhile the job is `undoing`, and as much in the way of others as one that is
-- unfinished. `before_undo` is the status to go back to when the undo is refused.
ALTER TABLE template_jobs DROP CONSTRAINT template_jobs_status_check;
ALTER TABLE template_jobs ADD CONSTRAINT template_jobs_status_check
    CHECK (status IN ('pending', 'structure', 'rows', 'publish', 'completed', 'failed', 'undoing', 'undone'));
ALTER TABLE template_jobs ADD COLUMN before_undo text COLLATE "C";
ALTER TABLE template_jobs ADD COLUMN undo_force boolean NOT NULL DEFAULT false;

DROP INDEX template_jobs_unfinished;
CREATE UNIQUE INDEX template_jobs_unfinished ON template_jobs (organization_id, workspace_id, template_id)
    WHERE status IN ('pending', 'structure', 'rows', 'publish', 'undoing');
DROP INDEX template_jobs_waiting;
CREATE INDEX template_jobs_waiting ON template_jobs (locked_until)
    WHERE status IN ('pending', 'structure', 'rows', 'publish', 'undoing');
