-- Channels and connections are changed over the API. Several channels may have one name.

ALTER TABLE channels DROP CONSTRAINT channels_organization_id_name;
GRANT INSERT, UPDATE, DELETE ON channels TO tplkit_request;

-- Requests add and remove connections, and read neither their addresses nor their secrets.
GRANT SELECT (created_at) ON connections TO tplkit_request;
GRANT INSERT, DELETE ON connections TO tplkit_request;

-- Another id whenever the address of the connection leads to another server: what a secret was entered for.
ALTER TABLE connections ADD COLUMN target_id uuid;
GRANT SELECT (target_id) ON connections TO tplkit_request;
