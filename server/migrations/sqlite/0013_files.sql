-- Files: what is uploaded into a workspace, which cells use it, and what else keeps it.

-- `file_bytes` is the sum of the sizes of all files of the organization. Whoever changes it holds this row, so
-- that no two uploads share the last room.
ALTER TABLE organizations ADD COLUMN file_quota INTEGER;
ALTER TABLE organizations ADD COLUMN file_bytes INTEGER NOT NULL DEFAULT 0;

-- Names this store in the place where its files are, so that two stores never share one.
CREATE TABLE store_identity (
    id BLOB NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
INSERT INTO store_identity (id) VALUES (randomblob(16));

-- Objects in that place. There is one living object of a content in an organization; files of the same bytes
-- share it. `free_since`: since when nothing is known to need it; an upload that is about to make a file of it
-- puts that into the future. A condemned object never lives again: the next upload of its bytes makes another
-- one, under another id. So whoever removes it, however late, removes nothing that a file names.
CREATE TABLE file_objects (
    organization_id BLOB    NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    id              BLOB    NOT NULL,
    sha256          BLOB    NOT NULL,
    size            INTEGER NOT NULL,
    condemned       INTEGER NOT NULL,
    free_since      INTEGER,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX file_objects_living ON file_objects (organization_id, sha256) WHERE NOT condemned;
CREATE INDEX file_objects_free ON file_objects (free_since) WHERE free_since IS NOT NULL;

-- `unused_since`: the upload, or the end of the last use, whichever is later; nothing once the file was found
-- in use. Who ends a use says so here; who begins one does not, and holds this row with a lock that others share.
CREATE TABLE files (
    organization_id BLOB    NOT NULL,
    workspace_id    BLOB    NOT NULL,
    id              BLOB    NOT NULL,
    object_id       BLOB    NOT NULL,
    name            TEXT    NOT NULL,
    content_type    TEXT    NOT NULL,
    size            INTEGER NOT NULL,
    sha256          BLOB    NOT NULL,
    created_by      BLOB    NOT NULL,
    created_at      INTEGER NOT NULL,
    unused_since    INTEGER,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, workspace_id, id),
    FOREIGN KEY (organization_id, workspace_id)
        REFERENCES workspaces (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, object_id)
        REFERENCES file_objects (organization_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX files_of_object ON files (organization_id, object_id);
CREATE INDEX files_unused ON files (unused_since) WHERE unused_since IS NOT NULL;

-- A cell that uses a file: made by the checked write of the cell, and by nothing else. The keys keep file, table
-- and row in one workspace. `row_created_by` stands in the row, too: whoever sees the row sees its uses.
CREATE UNIQUE INDEX features_of_workspace ON features (organization_id, workspace_id, id);
CREATE TABLE file_uses (
    organization_id BLOB    NOT NULL,
    workspace_id    BLOB    NOT NULL,
    feature_id      BLOB    NOT NULL,
    row_id          BLOB    NOT NULL,
    column_id       BLOB    NOT NULL,
    file_id         BLOB    NOT NULL,
    row_created_by  BLOB,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, feature_id, row_id, column_id),
    FOREIGN KEY (organization_id, workspace_id, file_id)
        REFERENCES files (organization_id, workspace_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, workspace_id, feature_id)
        REFERENCES features (organization_id, workspace_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, feature_id, row_id)
        REFERENCES rows (organization_id, feature_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, column_id)
        REFERENCES columns (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX file_uses_of_file ON file_uses (organization_id, file_id);
CREATE INDEX file_uses_of_column ON file_uses (organization_id, column_id);

-- What keeps a file and gives nobody the sight of it: a version of an automation that attaches it, or a job
-- whose undo puts it back into a cell.
CREATE TABLE file_holds (
    organization_id BLOB    NOT NULL,
    workspace_id    BLOB    NOT NULL,
    id              BLOB    NOT NULL,
    file_id         BLOB    NOT NULL,
    version_id      BLOB,
    job_id          BLOB,
    feature_id      BLOB,
    row_id          BLOB,
    column_id       BLOB,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id),
    CHECK ((version_id IS NULL) <> (job_id IS NULL)),
    CHECK ((job_id IS NULL) = (column_id IS NULL)),
    CHECK ((job_id IS NULL) = (row_id IS NULL)),
    CHECK ((job_id IS NULL) = (feature_id IS NULL)),
    FOREIGN KEY (organization_id, workspace_id, file_id)
        REFERENCES files (organization_id, workspace_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, version_id)
        REFERENCES workflow_versions (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, job_id)
        REFERENCES template_jobs (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX file_holds_of_file ON file_holds (organization_id, file_id);
CREATE UNIQUE INDEX file_holds_of_version ON file_holds (organization_id, version_id, file_id)
    WHERE version_id IS NOT NULL;
CREATE UNIQUE INDEX file_holds_of_job ON file_holds (organization_id, job_id, feature_id, row_id, column_id)
    WHERE job_id IS NOT NULL;
