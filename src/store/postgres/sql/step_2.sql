-- Hubs say every few seconds that they are there (hubs.sql); asks.hub is the one where their agent
-- was heard of last. Once released, this file is never edited.

-- Rows change all the time: with room in their page that costs no index.
CREATE TABLE hubs (
  id bigint PRIMARY KEY, since_ms bigint NOT NULL, seen_ms bigint NOT NULL,
  has_looked boolean NOT NULL) WITH (fillfactor = 10);
ALTER TABLE asks ADD COLUMN hub bigint NOT NULL DEFAULT 0;
