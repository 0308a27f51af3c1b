-- What joins writes into a transaction: its begin and end, what became of one whose connection was
-- lost, and what its writes share.
--
-- Every function that is called from outside runs with the search_path it was made with: the one
-- schema that is ours, so that nobody else's table or function is taken for one of ours. The others
-- are called by these alone. Between sayso_begin and sayso_end the end of the chain and what became
-- of each write are in settings of the transaction, sayso.hub, sayso.seq, sayso.hash (hex) and
-- sayso.outcomes; a savepoint that is undone takes them back too.
--
-- Functions in LANGUAGE sql become part of the expression that calls them: they cost nothing.

-- By the database's clock, which is the same for all hubs.
CREATE FUNCTION sayso_now() RETURNS bigint LANGUAGE sql VOLATILE AS $f$
  SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
$f$;

-- What became of a write, by letter: done, lost, repeated, missing. See sayso_resolve.
CREATE FUNCTION sayso_said(p_letter text, p_seq bigint) RETURNS text LANGUAGE sql VOLATILE AS $f$
  SELECT set_config('sayso.outcomes',
                    current_setting('sayso.outcomes') || p_letter || p_seq || ' ', true)
$f$;

-- The same of many writes, which have theirs already; and where the chain ends now.
CREATE FUNCTION sayso_said_all(p_said text) RETURNS text LANGUAGE plpgsql AS $f$
BEGIN
  PERFORM set_config('sayso.outcomes', current_setting('sayso.outcomes') || p_said, true);
  RETURN p_said;
END $f$;
CREATE FUNCTION sayso_went_on(p_seq bigint, p_hash bytea) RETURNS text LANGUAGE sql VOLATILE AS $f$
  SELECT set_config('sayso.seq', p_seq::text, true)
    || set_config('sayso.hash', encode(p_hash, 'hex'), true)
$f$;

-- A length in eight bytes, the lowest first, as hash_parts of base/crypto.c puts it before a part.
CREATE FUNCTION sayso_length(p_bytes integer) RETURNS bytea LANGUAGE sql IMMUTABLE AS $f$
  SELECT set_byte(set_byte(set_byte(set_byte('\x0000000000000000'::bytea,
    0, p_bytes & 255), 1, (p_bytes >> 8) & 255), 2, (p_bytes >> 16) & 255), 3, p_bytes >> 24)
$f$;

-- The hash of an event as event_hash of store/event.c makes it; no text is NULL, and those of
-- p_seq, p_ask and p_kind are shorter than 256 bytes.
CREATE FUNCTION sayso_hash(p_previous bytea, p_seq text, p_ask text, p_kind text, p_actor text,
                           p_body text) RETURNS bytea LANGUAGE sql STABLE AS $f$
  SELECT sha256('\x2000000000000000'::bytea || p_previous
    || set_byte('\x0000000000000000'::bytea, 0, octet_length(p_seq)) || convert_to(p_seq, 'UTF8')
    || set_byte('\x0000000000000000'::bytea, 0, octet_length(p_ask)) || convert_to(p_ask, 'UTF8')
    || set_byte('\x0000000000000000'::bytea, 0, octet_length(p_kind)) || convert_to(p_kind, 'UTF8')
    || sayso_length(octet_length(p_actor)) || convert_to(p_actor, 'UTF8')
    || sayso_length(octet_length(p_body)) || convert_to(p_body, 'UTF8'))
$f$;

-- By what the same call is found: 4 bytes of its principal, and 4 of its words or its key.
CREATE FUNCTION sayso_call(p_principal text, p_what bytea) RETURNS bigint
LANGUAGE sql STABLE AS $f$
  SELECT ('x' || encode(substring(sha256(convert_to(p_principal, 'UTF8')), 1, 4)
    || substring(p_what, 1, 4), 'hex'))::bit(64)::bigint
$f$;
CREATE FUNCTION sayso_key_call(p_principal text, p_key text) RETURNS bigint
LANGUAGE sql STABLE AS $f$
  SELECT sayso_call(p_principal, sha256(convert_to(p_key, 'UTF8')))
$f$;

-- Open, or with a person's answer that nobody has heard: who makes the same call joins it.
CREATE FUNCTION sayso_is_joined(p_state bigint, p_delivered_ms bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $f$
  SELECT p_state :IS_OPEN OR (p_delivered_ms = 0 AND p_state :BY_PERSON)
$f$;
-- That, or its answer may still be undone, or it was told behind its deadline.
CREATE FUNCTION sayso_is_unsettled(p_state bigint, p_delivered_ms bigint, p_deliver_after_ms bigint,
                                   p_flags bigint) RETURNS boolean LANGUAGE sql IMMUTABLE AS $f$
  SELECT sayso_is_joined(p_state, p_delivered_ms) OR (p_delivered_ms = 0 AND p_deliver_after_ms > 0)
    OR (p_flags & :ASK_TOLD_OR_HEARD) = :ASK_TOLD
$f$;

-- The tables of what is unsettled and of what is over, as asks are: at first, and where all asks came from
-- elsewhere.
CREATE FUNCTION sayso_list_asks() RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT AS $f$
BEGIN
  DELETE FROM unsettled;
  DELETE FROM ended;
  INSERT INTO ended (number, ended_ms) SELECT k.number, k.ended_ms FROM asks k WHERE k.state :IS_OVER;
  INSERT INTO unsettled (call, nth, number, is_key)
    SELECT f.call, CASE WHEN f.is_joined AND f.place = 1 THEN 0 ELSE f.number END, f.number, f.is_key
      FROM (SELECT c.call, c.is_key, k.number, j.is_joined, row_number() OVER
              (PARTITION BY c.call ORDER BY j.is_joined DESC, k.number DESC) AS place
            FROM asks k
              CROSS JOIN LATERAL (SELECT sayso_is_joined(k.state, k.delivered_ms) AS is_joined) AS j
              CROSS JOIN LATERAL (SELECT sayso_call(k.principal, k.digest) AS call, false AS is_key
                UNION ALL SELECT sayso_key_call(k.principal, k.idempotency_key), true
                  WHERE k.idempotency_key IS NOT NULL) AS c
            WHERE sayso_is_unsettled(k.state, k.delivered_ms, k.deliver_after_ms, k.flags)) AS f;
  IF (SELECT count(*) FROM ended) + (SELECT count(*) FROM asks WHERE state :IS_OPEN)
      <> (SELECT count(*) FROM asks) THEN
    RAISE EXCEPTION 'asks are missing';
  END IF;
END $f$;

-- The row that every writer of every hub takes first: numbers are given in the order of commits.
CREATE FUNCTION sayso_begin(p_hub bigint) RETURNS bigint
LANGUAGE plpgsql SET search_path FROM CURRENT AS $f$
DECLARE
  head record;
  said text;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'writes are made in READ COMMITTED';
  END IF;
  SELECT c.seq, c.hash INTO STRICT head FROM counter c FOR UPDATE;
  said := set_config('sayso.hub', p_hub::text, true);
  said := set_config('sayso.seq', head.seq::text, true);
  said := set_config('sayso.hash', encode(head.hash, 'hex'), true);
  said := set_config('sayso.outcomes', '', true);
  RETURN head.seq;
END $f$;

-- Fails where the batch was given up meanwhile: its id is taken.
CREATE FUNCTION sayso_end(p_batch text) RETURNS bigint
LANGUAGE plpgsql SET search_path FROM CURRENT AS $f$
DECLARE
  all_said text := current_setting('sayso.outcomes');
  head bigint := current_setting('sayso.seq')::bigint;
BEGIN
  INSERT INTO batches (id, outcomes, at_ms) VALUES (p_batch, all_said, sayso_now());
  UPDATE counter SET seq = head, hash = decode(current_setting('sayso.hash'), 'hex')
    WHERE counter.seq <> head;
  IF strpos(all_said, 'D') > 0 THEN
    PERFORM pg_notify('sayso', head::text);
  END IF;
  RETURN head;
END $f$;

-- What became of a batch; NULL: nothing, and nothing ever will. Waits for one that is under way.
CREATE FUNCTION sayso_resolve(p_batch text) RETURNS text
LANGUAGE plpgsql SET search_path FROM CURRENT AS $f$
BEGIN
  PERFORM 1 FROM counter FOR UPDATE;
  INSERT INTO batches (id, at_ms) VALUES (p_batch, sayso_now()) ON CONFLICT DO NOTHING;
  RETURN (SELECT b.outcomes FROM batches b WHERE b.id = p_batch);
END $f$;

-- The small tables that hubs keep in memory have changed.
CREATE FUNCTION sayso_touched() RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
  UPDATE counter SET misc = misc + 1;
END $f$;

CREATE FUNCTION sayso_principal(p_id text, p_kind text, p_uid bigint, p_name text, p_place text,
                                p_now bigint) RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
  INSERT INTO principals (id, kind, uid, name, place, created_ms)
    VALUES (p_id, p_kind, p_uid, p_name, p_place, p_now) ON CONFLICT DO NOTHING;
END $f$;
