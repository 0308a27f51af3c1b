-- Retention (R9.1), as in store/sqlite/sweep.c, and what searches are found by.

-- An ask goes with its texts, answers, drafts and words; of its events only the places in the chain
-- stay. The asks are held by who calls this, so that nobody else has anything of them.
CREATE FUNCTION sayso_drop(p_numbers bigint[]) RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
  WITH RECURSIVE chain (seq) AS (
    SELECT k.seq FROM asks k WHERE k.number = ANY (p_numbers)
    UNION ALL
    SELECT e.earlier_seq FROM chain c JOIN events e ON e.seq = c.seq
      WHERE e.earlier_seq > 0 AND e.earlier_seq < c.seq)
  UPDATE events e SET actor = NULL, body = NULL, form = NULL, arguments = NULL, answer = NULL,
      person = NULL, answer_key = NULL, decisive = NULL, answered_ms = NULL
    FROM chain WHERE e.seq = chain.seq;
  DELETE FROM drafts d USING asks k WHERE k.number = ANY (p_numbers) AND d.ask = k.id;
  DELETE FROM unindexed WHERE number = ANY (p_numbers);
  DELETE FROM words WHERE number = ANY (p_numbers);
  DELETE FROM unsettled WHERE number = ANY (p_numbers);
  DELETE FROM ended WHERE number = ANY (p_numbers);
  DELETE FROM asks WHERE number = ANY (p_numbers);
END $f$;

-- Of these principals the old ones that no ask and no conversation names any more.
CREATE FUNCTION sayso_unused(p_ids text[], p_older bigint) RETURNS text[] LANGUAGE sql STABLE AS $f$
  SELECT ARRAY(SELECT p.id FROM principals p WHERE p.id = ANY (p_ids) AND p.created_ms < p_older
    AND NOT EXISTS (SELECT FROM asks k WHERE k.principal = p.id)
    AND NOT EXISTS (SELECT FROM conversations c WHERE c.principal = p.id))
$f$;

-- Conversations that wait for nobody, and what became of batches nobody will ask for any more. One
-- that is in doubt is the newest of its writer, whose batches begin with the same 13 characters
-- (batch.c): it is kept for as long as a hub may reasonably be cut off. Principals last (ids are
-- hashes: each time a part of them, from anywhere on), and only with the row that every writer takes
-- first: none of them is asking just now.
CREATE FUNCTION sayso_drop_others(p_older bigint, p_most bigint) RETURNS bigint
LANGUAGE plpgsql AS $f$
DECLARE
  dropped bigint;
  first text := md5(random()::text);
  unused text[];
BEGIN
  DELETE FROM conversations WHERE id IN (SELECT c.id FROM conversations c
    WHERE c.changed_ms < p_older AND c.state <> 'awaiting_user_response'
    ORDER BY c.changed_ms, c.id LIMIT p_most FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS dropped = ROW_COUNT;
  DELETE FROM batches WHERE id IN (SELECT b.id FROM batches b
    WHERE b.at_ms < sayso_now() - 86400000
      AND (b.at_ms < sayso_now() - 2592000000 OR EXISTS (SELECT FROM batches n
        WHERE n.id >= left(b.id, 13) AND n.id < left(b.id, 13) || '{' AND n.at_ms > b.at_ms))
    ORDER BY b.at_ms LIMIT 1000);
  unused := sayso_unused(ARRAY((SELECT id FROM principals WHERE id >= first ORDER BY id LIMIT 100)
    UNION ALL (SELECT id FROM principals ORDER BY id LIMIT 100) LIMIT 100), p_older);
  IF cardinality(unused) > 0 AND EXISTS (SELECT FROM counter FOR UPDATE SKIP LOCKED) THEN
    unused := sayso_unused(unused, p_older);
    DELETE FROM principals WHERE id = ANY (unused);
    dropped := dropped + cardinality(unused);
  END IF;
  RETURN dropped;
END $f$;

-- Like sayso_index no part of a batch: answers do not wait for it, and it waits for nobody. What
-- somebody is changing is left for the next time, and one hub does it at a time. No more are counted
-- than are to be kept and may go. Timeouts (7) and withdrawals (8) hold no answer that somebody
-- might still come for.
CREATE FUNCTION sayso_sweep(p_older bigint, p_keep bigint, p_batch bigint,
                            OUT outcome integer, OUT seq bigint)
LANGUAGE plpgsql SET search_path FROM CURRENT SET enable_seqscan = off AS $f$
DECLARE
  numbers bigint[];
  room bigint;
BEGIN
  outcome := 0;
  seq := 0;
  IF NOT pg_try_advisory_xact_lock(1935765877, hashtext(current_schema())) THEN
    RETURN;
  END IF;
  numbers := ARRAY(SELECT k.number FROM ended o JOIN asks k ON k.number = o.number
                   WHERE o.ended_ms < p_older AND k.state :IS_OVER
                   ORDER BY o.ended_ms LIMIT p_batch FOR UPDATE OF k SKIP LOCKED);
  room := p_batch - cardinality(numbers);
  IF room > 0 THEN
    room := LEAST(room, (SELECT count(*) FROM (SELECT 1 FROM ended
      LIMIT p_keep + p_batch) AS kept) - cardinality(numbers) - p_keep);
  END IF;
  IF room > 0 THEN
    numbers := numbers || ARRAY(SELECT k.number FROM ended o JOIN asks k ON k.number = o.number
      WHERE o.ended_ms >= p_older AND k.state :IS_OVER AND (k.delivered_ms > 0 OR k.state :BY_NOBODY)
        AND (k.flags & :ASK_TOLD_OR_HEARD) <> :ASK_TOLD
      ORDER BY o.ended_ms LIMIT room FOR UPDATE OF k SKIP LOCKED);
  END IF;
  seq := cardinality(numbers);
  IF seq > 0 THEN
    PERFORM sayso_drop(numbers);
  END IF;
  IF seq < p_batch THEN -- the last batch
    seq := seq + sayso_drop_others(p_older, p_batch - seq);
  END IF;
END $f$;

-- What the hub made of the texts it read (store/postgres/write.c): of each ask its number, its newest event then,
-- and its words, NULL where it may still change; p_threes are those of all words, of each up to its p_ends. An ask that changed meanwhile, or is just being
-- changed, is left for the next time. p_next is the first number that was not looked at.
--
-- This is no part of a batch: to take words apart takes long, and nobody shall wait meanwhile. It
-- waits for no writer (SKIP LOCKED), so it is in nobody's way for good, and one hub does it at a
-- time. Returns how many were taken up.
CREATE FUNCTION sayso_index(p_numbers bigint[], p_seqs bigint[], p_words text[], p_ends bigint[],
                            p_threes bigint[], p_next bigint)
RETURNS bigint LANGUAGE plpgsql SET search_path FROM CURRENT AS $f$
DECLARE
  held bigint[];
BEGIN
  IF NOT pg_try_advisory_xact_lock(1935765876, hashtext(current_schema())) THEN
    RETURN 0;
  END IF;
  held := ARRAY(SELECT k.number
    FROM asks k JOIN unnest(p_numbers, p_seqs, p_words) AS g (number, newest, body)
      ON k.number = g.number AND k.seq = g.newest AND g.body IS NOT NULL
    FOR SHARE OF k SKIP LOCKED);
  INSERT INTO words (number, body, threes)
    SELECT g.number, g.body, p_threes[g.starts + 1:g.ends]
      FROM (SELECT u.number, u.body, u.ends::integer AS ends,
              lag(u.ends::integer, 1, 0) OVER (ORDER BY u.i) AS starts
            FROM unnest(p_numbers, p_words, p_ends) WITH ORDINALITY AS u (number, body, ends, i)) AS g
      WHERE g.number = ANY (held)
    ON CONFLICT (number) DO UPDATE SET body = excluded.body, threes = excluded.threes;
  DELETE FROM unindexed WHERE number = ANY (held);
  INSERT INTO unindexed (number)
    SELECT k.number FROM asks k WHERE k.number = ANY (p_numbers) AND k.number <> ALL (held)
    ON CONFLICT DO NOTHING;
  UPDATE search SET next = p_next WHERE next < p_next;
  RETURN cardinality(p_numbers);
END $f$;
