-- How the store is to plan for files until it has looked at some of its own, as 0002 has it for `rows`: without numbers
-- it takes every index that begins with the organization for as good as the key, and a file, an object or a use was
-- looked for among all of the organization. What is in use already is looked at now.
-- First, so that the question below sees every row, and nobody adds one behind it.
ALTER TABLE file_objects NO FORCE ROW LEVEL SECURITY;
ALTER TABLE files NO FORCE ROW LEVEL SECURITY;
ALTER TABLE file_uses NO FORCE ROW LEVEL SECURITY;
DO $$
BEGIN
    IF EXISTS (SELECT FROM file_objects) THEN
        ANALYZE file_objects;
        ANALYZE files;
        ANALYZE file_uses;
        RETURN;
    END IF;
    ALTER TABLE file_objects DROP CONSTRAINT file_objects_organization_id_fkey;
    ALTER TABLE files DROP CONSTRAINT files_organization_id_workspace_id_fkey,
        DROP CONSTRAINT files_organization_id_object_id_fkey;
    ALTER TABLE file_uses DROP CONSTRAINT file_uses_organization_id_workspace_id_file_id_fkey,
        DROP CONSTRAINT file_uses_organization_id_workspace_id_feature_id_fkey,
        DROP CONSTRAINT file_uses_organization_id_feature_id_row_id_fkey,
        DROP CONSTRAINT file_uses_organization_id_column_id_fkey;
    ALTER TABLE file_holds DROP CONSTRAINT file_holds_organization_id_workspace_id_file_id_fkey;
    CREATE TEMPORARY TABLE shown ON COMMIT DROP AS
        SELECT lpad('1', 32, '0')::uuid AS one, lpad(to_hex(n), 32, '0')::uuid AS id,
            decode(lpad(to_hex(n), 64, '0'), 'hex') AS digest, n
        FROM generate_series(1, 1000) AS n;
    INSERT INTO file_objects (organization_id, id, sha256, size, condemned, created_at)
        SELECT one, id, digest, n, false, n FROM shown;
    INSERT INTO files (organization_id, workspace_id, id, object_id, name, content_type, size, sha256, created_by,
            created_at, unused_since)
        SELECT one, one, id, id, n::text, 'text/plain', n, digest, one, n, CASE WHEN n <= 10 THEN n END FROM shown;
    INSERT INTO file_uses (organization_id, workspace_id, feature_id, row_id, column_id, file_id, created_at)
        SELECT one, one, one, id, one, id, n FROM shown;
    ANALYZE file_objects;
    ANALYZE files;
    ANALYZE file_uses;
    TRUNCATE file_objects, files, file_uses;
    ALTER TABLE file_objects ADD FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE;
    ALTER TABLE files ADD FOREIGN KEY (organization_id, workspace_id)
            REFERENCES workspaces (organization_id, id) ON DELETE CASCADE,
        ADD FOREIGN KEY (organization_id, object_id) REFERENCES file_objects (organization_id, id);
    ALTER TABLE file_uses ADD FOREIGN KEY (organization_id, workspace_id, file_id)
            REFERENCES files (organization_id, workspace_id, id) ON DELETE CASCADE,
        ADD FOREIGN KEY (organization_id, workspace_id, feature_id)
            REFERENCES features (organization_id, workspace_id, id) ON DELETE CASCADE,
        ADD FOREIGN KEY (organization_id, feature_id, row_id)
            REFERENCES rows (organization_id, feature_id, id) ON DELETE CASCADE,
        ADD FOREIGN KEY (organization_id, column_id) REFERENCES columns (organization_id, id) ON DELETE CASCADE;
    ALTER TABLE file_holds ADD FOREIGN KEY (organization_id, workspace_id, file_id)
        REFERENCES files (organization_id, workspace_id, id) ON DELETE CASCADE;
END
$$;
ALTER TABLE file_objects FORCE ROW LEVEL SECURITY;
ALTER TABLE files FORCE ROW LEVEL SECURITY;
ALTER TABLE file_uses FORCE ROW LEVEL SECURITY;

-- As in 0018, for the uses of a file.
DROP INDEX file_uses_of_file;
CREATE INDEX file_uses_by_file ON file_uses (file_id);

-- What leads to a file is looked up for each file: the plan to read all uses of the organization once looks cheap while
-- there are none, and a connection keeps it.
DROP POLICY sight ON files;
CREATE POLICY sight ON files AS RESTRICTIVE FOR SELECT TO tplkit_request
    USING ((organization_id = ANY (nullif(current_setting('tplkit.administered', true), '')::uuid[]) OR created_by = nullif(current_setting('tplkit.caller', true), '')::uuid)
        OR EXISTS (SELECT 1 FROM file_uses AS through WHERE through.organization_id = files.organization_id AND through.file_id = files.id LIMIT 1 OFFSET 0));
