-- Files and objects are found by their ids. Before these tables are analyzed for the first time, PostgreSQL takes every
-- index that begins with the organization for as good as that of the key, and may read all that an organization has.
CREATE INDEX files_by_id ON files (id);
CREATE INDEX file_objects_by_id ON file_objects (id);
