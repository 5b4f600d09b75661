-- Entries and parts of packages are large. In a table without row ids each comparison on the way to one reads
-- the whole text of another; so these have an index of their keys, and their texts beside it.

CREATE TABLE parts_of_templates (
    organization_id BLOB NOT NULL,
    template_id     BLOB NOT NULL,
    item_uid        TEXT NOT NULL,
    position        INTEGER NOT NULL,
    visibility      TEXT NOT NULL,
    row_count       INTEGER NOT NULL,
    entry           TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, template_id, item_uid),
    FOREIGN KEY (organization_id, template_id)
        REFERENCES templates (organization_id, id) ON DELETE CASCADE
) STRICT;
INSERT INTO parts_of_templates
    SELECT organization_id, template_id, item_uid, position, visibility, row_count, entry, created_at, updated_at
    FROM template_payloads;
DROP TABLE template_payloads;
ALTER TABLE parts_of_templates RENAME TO template_payloads;

CREATE TABLE parts_of_jobs (
    organization_id BLOB NOT NULL,
    workspace_id    BLOB NOT NULL,
    job_id          BLOB NOT NULL,
    number          INTEGER NOT NULL,
    content         BLOB NOT NULL,
    PRIMARY KEY (organization_id, job_id, number),
    FOREIGN KEY (organization_id, job_id)
        REFERENCES template_jobs (organization_id, id) ON DELETE CASCADE
) STRICT;
INSERT INTO parts_of_jobs
    SELECT organization_id, workspace_id, job_id, number, content FROM template_job_parts;
DROP TABLE template_job_parts;
ALTER TABLE parts_of_jobs RENAME TO template_job_parts;
