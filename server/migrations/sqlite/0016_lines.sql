-- The line that a job goes on with: the job that opened it. Of one line there is one unfinished job, whichever
-- template it comes from. Jobs that are older than this have none: theirs follows from the jobs before them.
ALTER TABLE template_jobs ADD COLUMN line BLOB;
CREATE UNIQUE INDEX template_jobs_unfinished_line ON template_jobs (organization_id, workspace_id, line)
    WHERE status IN ('pending', 'structure', 'rows', 'publish', 'undoing');
