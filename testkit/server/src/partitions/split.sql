-- Makes each table of `placed` (its name, and the column that its rows are assigned by) one of four partitions, as a
-- database of several nodes keeps it in parts. The tables are empty. What is written down of a table is done to the new
-- one: keys, foreign keys, policies, privileges, the view on it. Constraints of partitions are called after those of the
-- table, with a number behind, as parts are elsewhere.
DO $$
DECLARE
    one record;
    part record;
    statements text[] := '{}';
    statement text;
    number integer;
BEGIN
    SET LOCAL search_path = main;
    SET LOCAL client_min_messages = warning;
    -- Foreign keys come back behind all tables.
    FOR one IN
        SELECT conrelid::regclass AS of, conname AS name, pg_get_constraintdef(oid) AS definition
        FROM pg_constraint WHERE contype = 'f' AND connamespace = 'main'::regnamespace AND conparentid = 0 ORDER BY conname
    LOOP
        statements := statements || format('ALTER TABLE %s ADD CONSTRAINT %I %s', one.of, one.name, one.definition);
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', one.of, one.name);
    END LOOP;
    -- So do policies, which name other tables; then privileges, of tables and of columns.
    FOR one IN
        SELECT * FROM pg_policies WHERE schemaname = 'main' AND tablename IN (SELECT name FROM placed)
    LOOP
        statement := format('CREATE POLICY %I ON %I AS %s FOR %s TO %s', one.policyname, one.tablename,
            one.permissive, one.cmd, array_to_string(one.roles, ', '));
        statements := statements || (statement
            || CASE WHEN one.qual IS NULL THEN '' ELSE format(' USING (%s)', one.qual) END
            || CASE WHEN one.with_check IS NULL THEN '' ELSE format(' WITH CHECK (%s)', one.with_check) END);
    END LOOP;
    FOR one IN
        SELECT relname, privilege_type, grantee::regrole AS grantee FROM pg_class, aclexplode(relacl)
        WHERE relnamespace = 'main'::regnamespace AND grantee <> relowner
        AND (relname IN (SELECT name FROM placed) OR relkind = 'v')
    LOOP
        statements := statements || format('GRANT %s ON %I TO %s', one.privilege_type, one.relname, one.grantee);
    END LOOP;
    FOR one IN
        SELECT relname, attname, privilege_type, grantee::regrole AS grantee FROM pg_class
        JOIN pg_attribute ON attrelid = pg_class.oid, aclexplode(attacl)
        WHERE relnamespace = 'main'::regnamespace AND relname IN (SELECT name FROM placed)
    LOOP
        statements := statements
            || format('GRANT %s (%I) ON %I TO %s', one.privilege_type, one.attname, one.relname, one.grantee);
    END LOOP;
    FOR one IN
        SELECT relname, array_to_string(reloptions, ', ') AS options, pg_get_viewdef(oid) AS definition,
            relowner::regrole AS owner
        FROM pg_class WHERE relnamespace = 'main'::regnamespace AND relkind = 'v'
    LOOP
        statements := format('ALTER VIEW %I OWNER TO %s', one.relname, one.owner) || statements;
        statements := format('CREATE VIEW %I WITH (%s) AS %s', one.relname, one.options, one.definition) || statements;
        EXECUTE format('DROP VIEW %I', one.relname);
    END LOOP;
    FOR one IN
        SELECT name, key, relrowsecurity, relforcerowsecurity, relowner::regrole AS owner
        FROM placed JOIN pg_class ON relname = name AND relnamespace = 'main'::regnamespace
    LOOP
        EXECUTE format('ALTER TABLE %I RENAME TO before', one.name);
        EXECUTE format('CREATE TABLE %I (LIKE before INCLUDING ALL EXCLUDING INDEXES) PARTITION BY HASH (%I)', one.name, one.key);
        EXECUTE format('ALTER TABLE %I OWNER TO %s', one.name, one.owner);
        FOR number IN 0..3 LOOP
            EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 4, REMAINDER %s)',
                one.name || '_' || 102000 + number, one.name, number);
        END LOOP;
        FOR part IN
            SELECT index.relname AS name, conname, pg_get_constraintdef(pg_constraint.oid) AS as_constraint,
                pg_get_indexdef(indexrelid) AS definition
            FROM pg_index JOIN pg_class AS index ON index.oid = indexrelid
            LEFT JOIN pg_constraint ON conindid = indexrelid AND contype IN ('p', 'u')
            WHERE indrelid = 'before'::regclass
        LOOP
            EXECUTE format('ALTER INDEX %I RENAME TO index_before', part.name);
            IF part.conname IS NULL THEN
                statement := replace(part.definition, ' ON main.before ', format(' ON main.%I ', one.name));
                EXECUTE replace(statement, ' index_before ', format(' %I ', part.name));
            ELSE
                EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I %s', one.name, part.conname, part.as_constraint);
            END IF;
            EXECUTE 'ALTER INDEX index_before RENAME TO ' || quote_ident(left('before_' || part.name, 60));
            -- The parts of an index come in the order of the partitions.
            FOR number, statement IN
                SELECT row_number() OVER (ORDER BY pg_inherits.inhrelid), pg_inherits.inhrelid::regclass
                FROM pg_inherits WHERE inhparent = part.name::regclass
            LOOP
                EXECUTE format('ALTER INDEX %s RENAME TO %I', statement, left(part.name, 56) || '_' || 101999 + number);
            END LOOP;
        END LOOP;
        IF one.relrowsecurity THEN
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', one.name);
        END IF;
        IF one.relforcerowsecurity THEN
            EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', one.name);
        END IF;
        EXECUTE 'DROP TABLE before CASCADE';
    END LOOP;
    FOREACH statement IN ARRAY statements LOOP
        EXECUTE statement;
    END LOOP;
END
$$;
