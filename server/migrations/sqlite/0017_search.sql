-- Columns whose cells are searched (`search` of their config): `search_ready` once all rows are in the index.
ALTER TABLE columns ADD COLUMN is_searched INTEGER NOT NULL DEFAULT 0;
ALTER TABLE columns ADD COLUMN search_ready INTEGER NOT NULL DEFAULT 0;
UPDATE columns SET is_searched = 1 WHERE config LIKE '%"search":true%'
    AND type IN ('text', 'long_text', 'email', 'url', 'phone', 'masked');
CREATE INDEX columns_searching ON columns (organization_id, feature_id, id)
    WHERE is_searched AND NOT search_ready;

-- What is in the index of searched cells: one line for each row, with a digest of its terms. The number is what the
-- index knows the row by, one for the whole file; it has to stay when the file is written anew.
CREATE TABLE row_search (
    number          INTEGER PRIMARY KEY,
    organization_id BLOB    NOT NULL,
    workspace_id    BLOB    NOT NULL,
    feature_id      BLOB    NOT NULL,
    row_id          BLOB    NOT NULL,
    digest          INTEGER NOT NULL,
    UNIQUE (organization_id, feature_id, row_id)
) STRICT;

-- The index itself: terms as words, and no text. Who reads it sees the rows whose lines of `row_search` are visible.
CREATE VIRTUAL TABLE search_terms USING fts5 (
    terms, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);
