-- No index of asks is about what changes, so a change stays in its page: what is open or over is found by
-- tables of its own (batch.sql fills them). rev is raised with every change of the row. Once released,
-- this file is never edited.

ALTER TABLE asks ADD COLUMN rev bigint NOT NULL DEFAULT 1;
ALTER TABLE asks SET (fillfactor = 50);
DROP INDEX asks_unsettled, asks_undelivered, asks_open_call, asks_open_key, asks_ended, asks_unheard;
-- What is open, or has an answer that nobody has heard. Who makes the same call joins the row with nth 0;
-- others have their number there. An ask with a key has one row for its words and one for the key.
CREATE TABLE unsettled (
  call bigint NOT NULL, nth bigint NOT NULL, number bigint NOT NULL, is_key boolean NOT NULL,
  PRIMARY KEY (call, nth))
  WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);
CREATE INDEX unsettled_number ON unsettled (number);
CREATE TABLE ended (number bigint PRIMARY KEY, ended_ms bigint NOT NULL);
CREATE INDEX ended_ms ON ended (ended_ms);
-- Words are found by all threes of characters in them, which the hub makes: each is one number. They are
-- taken up again behind the start, a few asks at a time.
TRUNCATE words, unindexed;
UPDATE search SET next = 1;
DROP INDEX words_threes;
DROP FUNCTION threes_of (text);
ALTER TABLE words ADD COLUMN threes bigint[] NOT NULL DEFAULT '{}';
-- Without figures about it the planner takes every text for a rare one and uses the index.
ALTER TABLE words ALTER COLUMN threes SET STATISTICS 0;
CREATE INDEX words_threes ON words USING gin (threes);
