-- As in store/sqlite/schema.c. Once released, this file is never edited.

ALTER TABLE tokens ADD COLUMN used_ms bigint NOT NULL DEFAULT 0;
ALTER TABLE tokens ADD COLUMN browser text COLLATE "C";
