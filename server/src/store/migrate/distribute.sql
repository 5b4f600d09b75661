-- Sets settings of a transaction on every node that it reaches. A setting that is empty is left out: before it is set,
-- and after the transaction, it is the same to policies. Citus sends `SET LOCAL` to the workers, and no `set_config`.
CREATE OR REPLACE FUNCTION set_on_all_nodes(names text[], settings text[]) RETURNS text
    LANGUAGE plpgsql
    SET citus.propagate_set_commands = 'local'
    AS $$
BEGIN
    FOR number IN 1 .. cardinality(names) LOOP
        IF settings[number] <> '' THEN
            EXECUTE format('SET LOCAL %I.%I = %L', split_part(names[number], '.', 1),
                split_part(names[number], '.', 2), settings[number]);
        END IF;
    END LOOP;
    RETURN '';
END
$$;

-- In which organizations something was put into a queue, and when: whoever looks for work asks their workers, and no
-- others. A note holds for half a minute; whoever puts something in renews it when it is older than ten seconds, so
-- that most writers only read here. It is no record: what it does not say, a look at all organizations finds.
CREATE TABLE IF NOT EXISTS queue_notes (
    organization_id uuid   NOT NULL PRIMARY KEY,
    noted_at        bigint NOT NULL
);
GRANT SELECT ON queue_notes TO tplkit_operator;

-- An older version gave a number, and what a function gives cannot be replaced.
DROP FUNCTION IF EXISTS note_queue(uuid);
-- Gives whether it wrote the note. Nobody waits to renew one: where another writer renews it, it is renewed. Who writes
-- the first note of an organization waits for others that do, until their transactions end.
CREATE FUNCTION note_queue(organization uuid) RETURNS boolean
    LANGUAGE plpgsql
    SECURITY DEFINER
    SET search_path = main, pg_temp
    AS $$
DECLARE
    this_moment bigint := CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint);
    last        bigint;
BEGIN
    SELECT noted_at INTO last FROM queue_notes WHERE organization_id = organization;
    IF last >= this_moment - 10000000 THEN
        RETURN false;
    ELSIF last IS NULL THEN
        INSERT INTO queue_notes (organization_id, noted_at) VALUES (organization, this_moment) ON CONFLICT DO NOTHING;
        RETURN FOUND;
    END IF;
    PERFORM FROM queue_notes WHERE organization_id = organization FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE queue_notes SET noted_at = this_moment WHERE organization_id = organization;
    RETURN true;
END
$$;
REVOKE EXECUTE ON FUNCTION note_queue FROM PUBLIC;
GRANT EXECUTE ON FUNCTION note_queue TO tplkit_operator, tplkit_request;

-- The same as in the migration, on the worker of the organization: a statement that asks it is sent there as a whole, and
-- Citus lets what runs on a worker ask no table again unless it is told so. It asks the shard next to it, in the same
-- session, so it sees what its own transaction has written. A role of the coordinator is the user of a worker's session.
CREATE OR REPLACE FUNCTION search_rows(of_organization uuid, of_feature uuid, wanted bigint[], marker bigint, most bigint)
    RETURNS uuid[]
    LANGUAGE plpgsql
    STABLE
    SECURITY DEFINER
    SET search_path = main, pg_temp
    SET enable_seqscan = off
    SET enable_indexscan = off
    SET citus.allow_nested_distributed_execution = on
    AS $$
DECLARE
    found uuid[];
BEGIN
    IF session_user <> 'tplkit_operator' AND current_setting('role', true) IS DISTINCT FROM 'tplkit_operator'
        AND (of_organization = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])) IS NOT TRUE
    THEN
        RETURN '{}';
    END IF;
    SELECT array_agg(few.row_id) INTO found FROM (
        SELECT indexed.row_id FROM row_search AS indexed
        WHERE indexed.organization_id = of_organization AND indexed.feature_id = of_feature
            AND (indexed.terms @> wanted OR indexed.terms @> ARRAY[marker])
        LIMIT most + 1
    ) AS few;
    IF cardinality(found) > most THEN
        RETURN NULL;
    END IF;
    RETURN coalesce(found, '{}');
END
$$;
