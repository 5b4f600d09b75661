-- What runs may see, how they end, and what they have used.

-- Who published the version: runs that a row or the clock begins see what they see.
ALTER TABLE workflow_versions ADD COLUMN publisher uuid;

-- Whose the row was, where it was anybody's.
ALTER TABLE workflow_events ADD COLUMN creator uuid;

-- a run that nobody began sees what `publisher` sees; `own_rows` says whether a table that it is about
-- kept rows from somebody when it ended; `crashes` counts attempts that ended without a word; `spent` is
-- processor time in microseconds.
ALTER TABLE workflow_runs ADD COLUMN publisher uuid;
ALTER TABLE workflow_runs ADD COLUMN error_code text COLLATE "C";
ALTER TABLE workflow_runs ADD COLUMN own_rows boolean NOT NULL DEFAULT false;
ALTER TABLE workflow_runs ADD COLUMN crashes bigint NOT NULL DEFAULT 0;
ALTER TABLE workflow_runs ADD COLUMN spent bigint NOT NULL DEFAULT 0;

-- A step that waited when its run ended is `skipped`. `envelope` is what a step of a dry run left.
ALTER TABLE workflow_steps ADD COLUMN error_code text COLLATE "C";
ALTER TABLE workflow_steps ADD COLUMN envelope text COLLATE "C";
ALTER TABLE workflow_steps DROP CONSTRAINT workflow_steps_status_check;
ALTER TABLE workflow_steps ADD CONSTRAINT workflow_steps_status_check
    CHECK (status IN ('running', 'succeeded', 'failed', 'skipped'));

-- Rows that a run entered into a table whose rows are kept apart are its own: nobody else's.
ALTER POLICY request ON rows
    USING (
        CASE
            WHEN (organization_id = ANY ((SELECT nullif(current_setting('tplkit.organizations', true), '')::uuid[])::uuid[])) IS NOT TRUE THEN false
            WHEN (SELECT current_setting('tplkit.hidden', true) = '{}'
                AND current_setting('tplkit.guarded', true) = '{}') THEN true
            ELSE workspace_id <> ALL ((SELECT nullif(current_setting('tplkit.hidden', true), '')::uuid[])::uuid[])
                AND (
                    feature_id <> ALL ((SELECT nullif(current_setting('tplkit.guarded', true), '')::uuid[])::uuid[])
                    OR created_by = (SELECT nullif(current_setting('tplkit.caller', true), '')::uuid)
                    OR created_by = (SELECT nullif(current_setting('tplkit.run', true), '')::uuid)
                )
        END
    );
