-- What a package has beside its manifest and payloads: members of JSON as they are written, without braces.

ALTER TABLE templates ADD COLUMN beside TEXT NOT NULL DEFAULT '';
