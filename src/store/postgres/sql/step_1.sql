-- The tables of store/sqlite/schema.c, where their comments say what they mean. More here: events.hub and
-- conversations.hub (which hub wrote it), conversations.stamp and counter.stamp (in which order),
-- counter.misc (raised when a small table changed), counter.ended (no longer used), asks.agent (what
-- its agent calls itself) and batches (see batch.sql). Indices are those PostgreSQL is good at: to
-- it an index costs an entry, not a page. Texts are in the order of their bytes, whatever the
-- database's language is. Once released, this file is never edited.

CREATE TABLE people (id text COLLATE "C" PRIMARY KEY, name text COLLATE "C" NOT NULL);
INSERT INTO people VALUES ('owner', '');
CREATE TABLE principals (
  id text COLLATE "C" PRIMARY KEY, kind text COLLATE "C" NOT NULL, uid bigint NOT NULL, name text COLLATE "C" NOT NULL, place text COLLATE "C",
  created_ms bigint NOT NULL);
CREATE TABLE tokens (
  hash bytea PRIMARY KEY,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('agent', 'person', 'tab', 'device', 'host', 'code')),
  person text COLLATE "C" REFERENCES people (id), label text COLLATE "C" NOT NULL,
  sub_agent bigint NOT NULL DEFAULT 0, may_answer bigint NOT NULL DEFAULT 0,
  created_ms bigint NOT NULL, expires_ms bigint NOT NULL DEFAULT 0,
  revoked_ms bigint NOT NULL DEFAULT 0);

-- Room in each page, so that changes that no index is about stay in their page.
CREATE TABLE asks (
  number bigint PRIMARY KEY, id text COLLATE "C" NOT NULL, owner text COLLATE "C" NOT NULL DEFAULT 'owner',
  principal text COLLATE "C" NOT NULL, digest bytea NOT NULL, state bigint NOT NULL, interface bigint NOT NULL,
  flags bigint NOT NULL, version bigint NOT NULL, form_version bigint NOT NULL,
  created_ms bigint NOT NULL, deadline_ms bigint NOT NULL, original_ms bigint NOT NULL,
  hold_used_ms bigint NOT NULL, deliver_after_ms bigint NOT NULL, delivered_ms bigint NOT NULL,
  decided_ms bigint NOT NULL, ended_ms bigint NOT NULL, seq bigint NOT NULL,
  earlier_seq bigint NOT NULL, answer_seq bigint NOT NULL, tool text COLLATE "C", title text COLLATE "C", origin text COLLATE "C",
  idempotency_key text COLLATE "C", launch_code_hash bytea, agent text COLLATE "C") WITH (fillfactor = 80);
CREATE UNIQUE INDEX asks_id ON asks (id);
CREATE INDEX asks_unsettled ON asks (number)
  WHERE state <= 2 OR (delivered_ms = 0 AND (state IN (3, 5, 6) OR deliver_after_ms > 0));
CREATE INDEX asks_undelivered ON asks (principal, number)
  WHERE delivered_ms = 0 AND state IN (3, 5, 6);
CREATE INDEX asks_open_call ON asks (principal, digest) WHERE state <= 2;
CREATE INDEX asks_open_key ON asks (principal, idempotency_key)
  WHERE state <= 2 AND idempotency_key IS NOT NULL;
CREATE INDEX asks_principal ON asks (principal, number);
CREATE INDEX asks_agent ON asks (agent, number);
CREATE INDEX asks_ended ON asks (ended_ms) WHERE state > 2;
CREATE VIEW by_agent AS SELECT agent, number FROM asks WHERE agent IS NOT NULL;
CREATE TABLE drafts (
  ask text COLLATE "C" NOT NULL, person text COLLATE "C" NOT NULL, body text COLLATE "C" NOT NULL, counter bigint NOT NULL,
  saved_ms bigint NOT NULL, PRIMARY KEY (ask, person));

CREATE TABLE events (
  seq bigint PRIMARY KEY, ask text COLLATE "C" NOT NULL, kind bigint NOT NULL, actor text COLLATE "C", body text COLLATE "C",
  earlier_seq bigint NOT NULL, prev_hash bytea NOT NULL, form text COLLATE "C", arguments text COLLATE "C", answer text COLLATE "C",
  person text COLLATE "C", answer_key text COLLATE "C", decisive bigint, answered_ms bigint, hub bigint NOT NULL);
CREATE UNIQUE INDEX events_key ON events (answer_key) WHERE answer_key IS NOT NULL;
CREATE VIEW ask_texts AS
  SELECT seq AS number, form, arguments FROM events WHERE form IS NOT NULL;
CREATE VIEW answers AS
  SELECT seq, ask, person, answer AS body, decisive, answer_key, actor, answered_ms FROM events
    WHERE answered_ms IS NOT NULL;
-- The one row changes with every batch: with room in its page that costs no index.
CREATE TABLE counter (
  "only" bigint PRIMARY KEY CHECK ("only" = 1), seq bigint NOT NULL, hash bytea NOT NULL,
  unsettled bigint NOT NULL, failures bigint NOT NULL, misc bigint NOT NULL, stamp bigint NOT NULL,
  ended bigint NOT NULL) WITH (fillfactor = 10);
INSERT INTO counter VALUES (1, 0, decode(repeat('00', 32), 'hex'), 1, 0, 0, 0, 0);
CREATE TABLE batches (id text COLLATE "C" PRIMARY KEY, outcomes text COLLATE "C", at_ms bigint NOT NULL);
CREATE INDEX batches_at ON batches (at_ms);

CREATE TABLE client_facts (
  name text COLLATE "C" NOT NULL, version text COLLATE "C" NOT NULL, transport text COLLATE "C" NOT NULL, cut_off_ms bigint,
  form_works bigint, PRIMARY KEY (name, version, transport));
CREATE TABLE keys (
  id bigint PRIMARY KEY, purpose text COLLATE "C" NOT NULL, secret bytea NOT NULL, created_ms bigint NOT NULL,
  retired_ms bigint NOT NULL DEFAULT 0);
CREATE TABLE settings (
  person text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, value text COLLATE "C" NOT NULL, PRIMARY KEY (person, name));
CREATE TABLE rules (
  id text COLLATE "C" PRIMARY KEY, kind bytea NOT NULL, facts text COLLATE "C" NOT NULL, answer text COLLATE "C" NOT NULL,
  actor text COLLATE "C" NOT NULL, created_ms bigint NOT NULL, expires_ms bigint NOT NULL,
  revoked_ms bigint NOT NULL DEFAULT 0);
CREATE TABLE meta (name text COLLATE "C" PRIMARY KEY, value text COLLATE "C" NOT NULL);
INSERT INTO meta VALUES ('instance', replace(gen_random_uuid()::text, '-', ''));

-- What has no words yet is numbered search.next or more, or in unindexed.
CREATE TABLE words (number bigint PRIMARY KEY, body text COLLATE "C" NOT NULL);
-- All threes of characters in a text, which its words are found by. It stays with the index that is
-- made of it, so it is no function of ours (sayso_...) that is made anew.
CREATE FUNCTION threes_of(body text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10000 AS $f$
  SELECT coalesce(array_agg(DISTINCT c || d || e), '{}')
  FROM (SELECT c, lead(c) OVER (ORDER BY n) AS d, lead(c, 2) OVER (ORDER BY n) AS e
        FROM unnest(string_to_array(body, NULL)) WITH ORDINALITY AS each (c, n)) AS three
  WHERE e IS NOT NULL
$f$;
CREATE INDEX words_threes ON words USING gin (threes_of(body));
-- Without figures about it the planner takes every text for a rare one and uses the index; with them
-- it would rather make the threes of all texts again.
ALTER INDEX words_threes ALTER COLUMN 1 SET STATISTICS 0;
CREATE TABLE unindexed (number bigint PRIMARY KEY);
CREATE TABLE search ("only" bigint PRIMARY KEY CHECK ("only" = 1), next bigint NOT NULL);
INSERT INTO search VALUES (1, 1);

CREATE TABLE conversations (
  id text COLLATE "C" PRIMARY KEY, principal text COLLATE "C" NOT NULL REFERENCES principals (id), state text COLLATE "C" NOT NULL,
  body text COLLATE "C" NOT NULL, version bigint NOT NULL, created_ms bigint NOT NULL,
  changed_ms bigint NOT NULL, token_id text COLLATE "C" NOT NULL DEFAULT '', label text COLLATE "C" NOT NULL DEFAULT '',
  ask text COLLATE "C" NOT NULL DEFAULT '', earlier_ask text COLLATE "C" NOT NULL DEFAULT '', key text COLLATE "C",
  last_event bigint NOT NULL DEFAULT 0, stamp bigint NOT NULL DEFAULT 0,
  hub bigint NOT NULL DEFAULT 0);
CREATE UNIQUE INDEX conversations_key ON conversations (principal, key) WHERE key IS NOT NULL;
CREATE INDEX conversations_made ON conversations (principal, created_ms);
CREATE INDEX conversations_changed ON conversations (changed_ms);
CREATE INDEX conversations_stamp ON conversations (stamp);
CREATE TABLE conversation_events (
  conversation text COLLATE "C" NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
  number bigint NOT NULL, kind text COLLATE "C" NOT NULL, bytes bigint NOT NULL, body text COLLATE "C" NOT NULL,
  PRIMARY KEY (conversation, number));
