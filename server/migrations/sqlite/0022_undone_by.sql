-- Who takes a job back, or took it: what the undo publishes is theirs, whichever process ends it. Nothing for an undo
-- that an older program began.
ALTER TABLE template_jobs ADD COLUMN undone_by BLOB;
