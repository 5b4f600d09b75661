-- The model and its rows. Everything below a workspace carries the ids of its organization and its
-- workspace, so that one look at a line tells who may see it.

CREATE INDEX workspaces_restricted ON workspaces (organization_id, id) WHERE access = 'members';

CREATE TABLE modules (
    organization_id uuid    NOT NULL,
    workspace_id    uuid    NOT NULL,
    id              uuid    NOT NULL,
    name            text    COLLATE "C" NOT NULL,
    label           text    COLLATE "C" NOT NULL,
    icon            text    COLLATE "C",
    position        bigint  NOT NULL,
    config          text    NOT NULL,
    created_at      bigint  NOT NULL,
    updated_at      bigint  NOT NULL,
    CONSTRAINT modules_organization_id_id PRIMARY KEY (organization_id, id),
    CONSTRAINT modules_organization_id_workspace_id_name
        UNIQUE (organization_id, workspace_id, name),
    FOREIGN KEY (organization_id, workspace_id)
        REFERENCES workspaces (organization_id, id) ON DELETE CASCADE
);

CREATE TABLE rails (
    organization_id uuid    NOT NULL,
    workspace_id    uuid    NOT NULL,
    module_id       uuid    NOT NULL,
    id              uuid    NOT NULL,
    name            text    COLLATE "C" NOT NULL,
    label           text    COLLATE "C" NOT NULL,
    position        bigint  NOT NULL,
    config          text    NOT NULL,
    created_at      bigint  NOT NULL,
    updated_at      bigint  NOT NULL,
    CONSTRAINT rails_organization_id_id PRIMARY KEY (organization_id, id),
    CONSTRAINT rails_organization_id_module_id_name UNIQUE (organization_id, module_id, name),
    FOREIGN KEY (organization_id, module_id)
        REFERENCES modules (organization_id, id) ON DELETE CASCADE
);

-- `version` goes up with every change of the table's shape: of the line itself or of a column.
CREATE TABLE features (
    organization_id uuid    NOT NULL,
    workspace_id    uuid    NOT NULL,
    id              uuid    NOT NULL,
    name            text    COLLATE "C" NOT NULL,
    label           text    COLLATE "C" NOT NULL,
    config          text    NOT NULL,
    is_shared       boolean NOT NULL,
    own_rows        boolean NOT NULL,
    version         bigint  NOT NULL,
    created_at      bigint  NOT NULL,
    updated_at      bigint  NOT NULL,
    CONSTRAINT features_organization_id_id PRIMARY KEY (organization_id, id),
    CONSTRAINT features_organization_id_workspace_id_name
        UNIQUE (organization_id, workspace_id, name),
    FOREIGN KEY (organization_id, workspace_id)
        REFERENCES workspaces (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX features_guarded ON features (organization_id, id) WHERE own_rows;
CREATE INDEX features_shared ON features (organization_id, id) WHERE is_shared;

CREATE TABLE views (
    organization_id uuid    NOT NULL,
    workspace_id    uuid    NOT NULL,
    feature_id      uuid    NOT NULL,
    id              uuid    NOT NULL,
    name            text    COLLATE "C" NOT NULL,
    label           text    COLLATE "C" NOT NULL,
    type            text    COLLATE "C" NOT NULL,
    position        bigint  NOT NULL,
    config          text    NOT NULL,
    created_at      bigint  NOT NULL,
    updated_at      bigint  NOT NULL,
    CONSTRAINT views_organization_id_id PRIMARY KEY (organization_id, id),
    CONSTRAINT views_organization_id_feature_id_name UNIQUE (organization_id, feature_id, name),
    FOREIGN KEY (organization_id, feature_id)
        REFERENCES features (organization_id, id) ON DELETE CASCADE
);

-- A column may have one of the slots s1 to s16 of the rows: there its cells stand once more, as text
-- that sorts as they do. `slot_ready`: every row has it. `slot_long`: some cell was too long for it.
-- `next_number` is what the next empty cell of a sequence gets.
CREATE TABLE columns (
    organization_id   uuid    NOT NULL,
    workspace_id      uuid    NOT NULL,
    feature_id        uuid    NOT NULL,
    id                uuid    NOT NULL,
    name              text    COLLATE "C" NOT NULL,
    label             text    COLLATE "C" NOT NULL,
    type              text    COLLATE "C" NOT NULL,
    default_component text    COLLATE "C" NOT NULL,
    position          bigint  NOT NULL,
    config            text    NOT NULL,
    is_unique         boolean NOT NULL,
    next_number       bigint  NOT NULL,
    slot              bigint CHECK (slot BETWEEN 1 AND 16),
    slot_ready        boolean NOT NULL,
    slot_long         boolean NOT NULL,
    created_at        bigint  NOT NULL,
    updated_at        bigint  NOT NULL,
    CONSTRAINT columns_organization_id_id PRIMARY KEY (organization_id, id),
    CONSTRAINT columns_organization_id_feature_id_name UNIQUE (organization_id, feature_id, name),
    CONSTRAINT columns_organization_id_feature_id_slot UNIQUE (organization_id, feature_id, slot),
    FOREIGN KEY (organization_id, feature_id)
        REFERENCES features (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX columns_filling ON columns (organization_id, feature_id, id)
    WHERE slot IS NOT NULL AND NOT slot_ready;

CREATE TABLE rows (
    organization_id uuid    NOT NULL,
    workspace_id    uuid    NOT NULL,
    feature_id      uuid    NOT NULL,
    id              uuid    NOT NULL,
    created_by      uuid,
    created_at      bigint  NOT NULL,
    updated_at      bigint  NOT NULL,
    data            json    NOT NULL,
    s1 text COLLATE "C", s2 text COLLATE "C", s3 text COLLATE "C", s4 text COLLATE "C",
    s5 text COLLATE "C", s6 text COLLATE "C", s7 text COLLATE "C", s8 text COLLATE "C",
    s9 text COLLATE "C", s10 text COLLATE "C", s11 text COLLATE "C", s12 text COLLATE "C",
    s13 text COLLATE "C", s14 text COLLATE "C", s15 text COLLATE "C", s16 text COLLATE "C",
    CONSTRAINT rows_organization_id_feature_id_id PRIMARY KEY (organization_id, feature_id, id),
    FOREIGN KEY (organization_id, feature_id)
        REFERENCES features (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX rows_s1 ON rows (organization_id, feature_id, s1, id) WHERE s1 IS NOT NULL;
CREATE INDEX rows_s2 ON rows (organization_id, feature_id, s2, id) WHERE s2 IS NOT NULL;
CREATE INDEX rows_s3 ON rows (organization_id, feature_id, s3, id) WHERE s3 IS NOT NULL;
CREATE INDEX rows_s4 ON rows (organization_id, feature_id, s4, id) WHERE s4 IS NOT NULL;
CREATE INDEX rows_s5 ON rows (organization_id, feature_id, s5, id) WHERE s5 IS NOT NULL;
CREATE INDEX rows_s6 ON rows (organization_id, feature_id, s6, id) WHERE s6 IS NOT NULL;
CREATE INDEX rows_s7 ON rows (organization_id, feature_id, s7, id) WHERE s7 IS NOT NULL;
CREATE INDEX rows_s8 ON rows (organization_id, feature_id, s8, id) WHERE s8 IS NOT NULL;
CREATE INDEX rows_s9 ON rows (organization_id, feature_id, s9, id) WHERE s9 IS NOT NULL;
CREATE INDEX rows_s10 ON rows (organization_id, feature_id, s10, id) WHERE s10 IS NOT NULL;
CREATE INDEX rows_s11 ON rows (organization_id, feature_id, s11, id) WHERE s11 IS NOT NULL;
CREATE INDEX rows_s12 ON rows (organization_id, feature_id, s12, id) WHERE s12 IS NOT NULL;
CREATE INDEX rows_s13 ON rows (organization_id, feature_id, s13, id) WHERE s13 IS NOT NULL;
CREATE INDEX rows_s14 ON rows (organization_id, feature_id, s14, id) WHERE s14 IS NOT NULL;
CREATE INDEX rows_s15 ON rows (organization_id, feature_id, s15, id) WHERE s15 IS NOT NULL;
CREATE INDEX rows_s16 ON rows (organization_id, feature_id, s16, id) WHERE s16 IS NOT NULL;
CREATE INDEX rows_of_creator ON rows (organization_id, feature_id, created_by, id);

-- What must not be repeated: one line for each filled cell of a unique column.
CREATE TABLE row_values (
    organization_id uuid    NOT NULL,
    workspace_id    uuid    NOT NULL,
    feature_id      uuid    NOT NULL,
    column_id       uuid    NOT NULL,
    value           bytea   NOT NULL,
    row_id          uuid    NOT NULL,
    CONSTRAINT row_values_organization_id_feature_id_column_id_value
        PRIMARY KEY (organization_id, feature_id, column_id, value)
);

-- How many rows a table has, in parts, so that writers do not wait for each other.
CREATE TABLE row_counts (
    organization_id uuid    NOT NULL,
    workspace_id    uuid    NOT NULL,
    feature_id      uuid    NOT NULL,
    shard           bigint  NOT NULL,
    count           bigint  NOT NULL,
    CONSTRAINT row_counts_organization_id_feature_id_shard
        PRIMARY KEY (organization_id, feature_id, shard)
);

-- Answers to requests that may be sent again.
CREATE TABLE idempotency (
    caller_id   uuid    NOT NULL,
    method      text    COLLATE "C" NOT NULL,
    path        text    COLLATE "C" NOT NULL,
    key         text    COLLATE "C" NOT NULL,
    fingerprint bytea   NOT NULL,
    status      bigint  NOT NULL,
    body        bytea   NOT NULL,
    created_at  bigint  NOT NULL,
    CONSTRAINT idempotency_caller_id_method_path_key PRIMARY KEY (caller_id, method, path, key)
);
CREATE INDEX idempotency_age ON idempotency (created_at);

-- The second wall.
GRANT SELECT ON workspaces TO tplkit_gate;
CREATE POLICY gate ON workspaces TO tplkit_gate USING (access = 'members');

ALTER TABLE modules ENABLE ROW LEVEL SECURITY;
ALTER TABLE modules FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON modules TO tplkit_operator, tplkit_request;
CREATE POLICY operator ON modules TO tplkit_operator USING (true);
CREATE POLICY request ON modules TO tplkit_request
    USING (
        organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])
    );

ALTER TABLE rails ENABLE ROW LEVEL SECURITY;
ALTER TABLE rails FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON rails TO tplkit_operator, tplkit_request;
CREATE POLICY operator ON rails TO tplkit_operator USING (true);
CREATE POLICY request ON rails TO tplkit_request
    USING (
        organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])
    );

ALTER TABLE features ENABLE ROW LEVEL SECURITY;
ALTER TABLE features FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON features TO tplkit_operator, tplkit_request;
CREATE POLICY operator ON features TO tplkit_operator USING (true);
CREATE POLICY request ON features TO tplkit_request
    USING (
        organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])
    );

ALTER TABLE views ENABLE ROW LEVEL SECURITY;
ALTER TABLE views FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON views TO tplkit_operator, tplkit_request;
CREATE POLICY operator ON views TO tplkit_operator USING (true);
CREATE POLICY request ON views TO tplkit_request
    USING (
        organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])
    );

ALTER TABLE columns ENABLE ROW LEVEL SECURITY;
ALTER TABLE columns FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON columns TO tplkit_operator, tplkit_request;
CREATE POLICY operator ON columns TO tplkit_operator USING (true);
CREATE POLICY request ON columns TO tplkit_request
    USING (
        organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])
    );

ALTER TABLE rows ENABLE ROW LEVEL SECURITY;
ALTER TABLE rows FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON rows TO tplkit_operator, tplkit_request;
CREATE POLICY operator ON rows TO tplkit_operator USING (true);
CREATE POLICY request ON rows TO tplkit_request
    USING (
        organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])
        AND (
            feature_id <> ALL (nullif(current_setting('tplkit.guarded', true), '')::uuid[])
            OR created_by = nullif(current_setting('tplkit.caller', true), '')::uuid
        )
    );

ALTER TABLE row_values ENABLE ROW LEVEL SECURITY;
ALTER TABLE row_values FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON row_values TO tplkit_operator, tplkit_request;
CREATE POLICY operator ON row_values TO tplkit_operator USING (true);
CREATE POLICY request ON row_values TO tplkit_request
    USING (
        organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
        AND workspace_id <> ALL (nullif(current_setting('tplkit.hidden', true), '')::uuid[])
    );

ALTER TABLE row_counts ENABLE ROW LEVEL SECURITY;
ALTER TABLE row_counts FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON row_counts TO tplkit_operator, tplkit_request;
CREATE POLICY operator ON row_counts TO tplkit_operator USING (true);
-- Numbers of rows, and the quota counts them all: as visible as the organization.
CREATE POLICY request ON row_counts TO tplkit_request
    USING (
        organization_id = ANY (nullif(current_setting('tplkit.organizations', true), '')::uuid[])
    );

GRANT SELECT ON features TO tplkit_gate;
CREATE POLICY gate ON features TO tplkit_gate USING (own_rows);

ALTER TABLE idempotency ENABLE ROW LEVEL SECURITY;
ALTER TABLE idempotency FORCE ROW LEVEL SECURITY;
GRANT SELECT, DELETE ON idempotency TO tplkit_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency TO tplkit_request;
CREATE POLICY operator ON idempotency TO tplkit_operator USING (true);
CREATE POLICY request ON idempotency TO tplkit_request
    USING (caller_id = nullif(current_setting('tplkit.caller', true), '')::uuid);
