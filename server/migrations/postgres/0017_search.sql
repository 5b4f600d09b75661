-- Columns whose cells are searched (`search` of their config): `search_ready` once all rows are in the index.
ALTER TABLE columns ADD COLUMN is_searched boolean NOT NULL DEFAULT false;
ALTER TABLE columns ADD COLUMN search_ready boolean NOT NULL DEFAULT false;
ALTER TABLE columns NO FORCE ROW LEVEL SECURITY;
UPDATE columns SET is_searched = true WHERE config LIKE '%"search":true%'
    AND type IN ('text', 'long_text', 'email', 'url', 'phone', 'masked');
ALTER TABLE columns FORCE ROW LEVEL SECURITY;
CREATE INDEX columns_searching ON columns (organization_id, feature_id, id)
    WHERE is_searched AND NOT search_ready;

-- What searched cells contain: one line for each row, with its terms and their digest.
CREATE TABLE row_search (
    organization_id uuid     NOT NULL,
    workspace_id    uuid     NOT NULL,
    feature_id      uuid     NOT NULL,
    row_id          uuid     NOT NULL,
    digest          bigint   NOT NULL,
    terms           bigint[] NOT NULL DEFAULT '{}',
    CONSTRAINT row_search_organization_id_feature_id_row_id
        PRIMARY KEY (organization_id, feature_id, row_id)
);
CREATE INDEX row_search_terms ON row_search USING gin (terms);

-- The rows of a table that have all the terms, or the one of rows that are always looked at; NULL where there are more
-- than so many. A policy on the table would keep PostgreSQL from using the index, because the operators of arrays may
-- leak what they compare. So this function reads past it, and asks itself whose rows they are: without the settings of
-- a request it finds nothing. What it finds is ids; the rows themselves are read through their policies. It plans
-- for the index alone: how many rows have a term, nobody knows.
CREATE FUNCTION search_rows(of_organization uuid, of_feature uuid, wanted bigint[], marker bigint, most bigint)
RETURNS uuid[] LANGUAGE plpgsql STABLE SECURITY DEFINER
SET enable_seqscan = off SET enable_indexscan = off
AS $$
DECLARE
    found uuid[];
BEGIN
    IF current_setting('role', true) IS DISTINCT FROM 'tplkit_operator'
        AND (of_organization = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])) IS NOT TRUE
    THEN
        RETURN '{}';
    END IF;
    SELECT array_agg(few.row_id) INTO found FROM (
        SELECT known.row_id FROM (
            SELECT indexed.organization_id, indexed.feature_id, indexed.row_id FROM row_search AS indexed
            WHERE indexed.terms @> wanted OR indexed.terms @> ARRAY[marker] OFFSET 0
        ) AS known
        WHERE known.organization_id = of_organization AND known.feature_id = of_feature
        LIMIT most + 1
    ) AS few;
    IF cardinality(found) > most THEN
        RETURN NULL;
    END IF;
    RETURN coalesce(found, '{}');
END
$$;
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION search_rows SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('GRANT CREATE ON SCHEMA %I TO tplkit_operator', current_schema());
    ALTER FUNCTION search_rows OWNER TO tplkit_operator;
    EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM tplkit_operator', current_schema());
END
$$;
REVOKE EXECUTE ON FUNCTION search_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION search_rows TO tplkit_request;


ALTER TABLE row_search ENABLE ROW LEVEL SECURITY;
ALTER TABLE row_search FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON row_search TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON row_search TO tplkit_request;
CREATE POLICY operator ON row_search TO tplkit_operator
    USING (true);
CREATE POLICY request ON row_search TO tplkit_request
    USING (CASE
            WHEN (organization_id = ANY ((SELECT nullif(current_setting('tplkit.organizations', true), '')::uuid[])::uuid[])) IS NOT TRUE THEN false
            ELSE coalesce(workspace_id = (SELECT nullif(current_setting('tplkit.only_workspace', true), '')::uuid), workspace_id <> ALL ((SELECT nullif(current_setting('tplkit.hidden', true), '')::uuid[])::uuid[]))
        END);
