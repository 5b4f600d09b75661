-- How many uploads hold an object until `free_since`: the last one that comes to nothing lets it go.
ALTER TABLE file_objects ADD COLUMN uploads bigint NOT NULL DEFAULT 0;
