-- Channels and connections are changed over the API. Several channels may have one name.

CREATE TABLE channels_renamed (
    organization_id BLOB NOT NULL,
    id              BLOB NOT NULL,
    name            TEXT NOT NULL,
    label           TEXT,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id)
        REFERENCES organizations (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO channels_renamed SELECT organization_id, id, name, label, created_at FROM channels;
DROP TABLE channels;
ALTER TABLE channels_renamed RENAME TO channels;

-- Another id whenever the address of the connection leads to another server: what a secret was entered for.
ALTER TABLE connections ADD COLUMN target_id BLOB;
