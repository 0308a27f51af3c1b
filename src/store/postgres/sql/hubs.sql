-- Which hubs are there: each says so every 3 seconds (store/postgres/follow.c), by the database's clock. One that was
-- silent for 12 seconds is gone, and so is one that said good-bye; if it was only asleep, the next
-- beat brings it back. It is its agents that matter: they wait at a hub, and nobody else knows that
-- they are gone with it.

CREATE FUNCTION sayso_is_fresh(p_seen_ms bigint) RETURNS boolean LANGUAGE sql VOLATILE AS $f$
  SELECT abs(sayso_now() - p_seen_ms) < 12000
$f$;

CREATE FUNCTION sayso_is_gone(p_hub bigint) RETURNS boolean LANGUAGE plpgsql AS $f$
BEGIN
  RETURN NOT EXISTS (SELECT FROM hubs h WHERE h.id = p_hub AND sayso_is_fresh(h.seen_ms));
END $f$;

-- Returns open asks whose agent waits at a hub that is gone, p_most of them. Whoever was interrupted
-- itself judges nobody until it has been there again for as long as makes one gone: where the
-- database was away, all were silent. Then it looks through all asks once, and from there on only
-- when a hub goes; those without any ask left are forgotten.
CREATE FUNCTION sayso_beat(p_hub bigint, p_most bigint) RETURNS SETOF text
LANGUAGE plpgsql SET search_path FROM CURRENT SET enable_seqscan = off AS $f$
DECLARE
  now_ms bigint := sayso_now();
  mine hubs%ROWTYPE;
  there bigint[];
BEGIN
  INSERT INTO hubs AS h (id, since_ms, seen_ms, has_looked) VALUES (p_hub, now_ms, now_ms, false)
    ON CONFLICT (id) DO UPDATE SET seen_ms = now_ms,
      since_ms = CASE WHEN now_ms - h.seen_ms BETWEEN 0 AND 6000 THEN h.since_ms ELSE now_ms END,
      has_looked = h.has_looked AND now_ms - h.seen_ms BETWEEN 0 AND 6000
    RETURNING h.* INTO mine;
  IF sayso_is_fresh(mine.since_ms) THEN
    RETURN;
  END IF;
  IF mine.has_looked AND NOT EXISTS (SELECT FROM hubs h WHERE NOT sayso_is_fresh(h.seen_ms)) THEN
    RETURN;
  END IF;
  there := ARRAY(SELECT h.id FROM hubs h WHERE sayso_is_fresh(h.seen_ms));
  RETURN QUERY SELECT k.id FROM unsettled u JOIN asks k ON k.number = u.number
    WHERE NOT u.is_key AND k.state :IS_OPEN AND k.flags & :ASK_DETACHED = 0 AND k.hub <> ALL (there)
    ORDER BY u.number LIMIT p_most;
  IF NOT FOUND THEN
    UPDATE hubs h SET has_looked = true WHERE h.id = p_hub AND NOT h.has_looked;
    DELETE FROM hubs h WHERE h.id IN (
      SELECT o.id FROM hubs o WHERE NOT sayso_is_fresh(o.seen_ms) FOR UPDATE SKIP LOCKED);
  END IF;
END $f$;

-- Good-bye. The agents that wait at this hub are gone with it: their asks behind p_after are marked,
-- p_most of them, and one event names them all, beside their own chains. Returns the number of the
-- last one; 0: no more are left. The hub repeats the call, so that others write in between, but not
-- for long: whatever is left is found by sayso_beat. A part of them is looked for in their order: to
-- collect and sort all that are open would take longer than to mark them.
CREATE FUNCTION sayso_leave(p_hub bigint, p_after bigint, p_most bigint) RETURNS bigint
LANGUAGE plpgsql SET search_path FROM CURRENT SET enable_seqscan = off
SET enable_bitmapscan = off SET enable_hashjoin = off AS $f$
DECLARE
  last bigint := 0;
  list text;
  head bigint;
  body text;
BEGIN
  UPDATE hubs h SET seen_ms = 0 WHERE h.id = p_hub AND h.seen_ms <> 0;
  head := sayso_begin(p_hub) + 1;
  WITH waiting AS (
    SELECT a.number FROM unsettled u JOIN asks a ON a.number = u.number
      WHERE NOT u.is_key AND a.state :IS_OPEN AND a.hub = p_hub AND a.flags & :ASK_DETACHED = 0
        AND u.number > p_after
      ORDER BY u.number LIMIT p_most),
  gone AS (
    UPDATE asks k SET rev = k.rev + 1, flags = k.flags | :ASK_DETACHED FROM waiting w WHERE k.number = w.number
      RETURNING k.id, k.number)
  SELECT COALESCE(max(g.number), 0), string_agg('"' || g.id || '"', ',' ORDER BY g.number)
    INTO last, list FROM gone g;
  IF last > 0 THEN
    body := '{"at":' || sayso_now() || ',"asks":[' || list || ']}';
    INSERT INTO events (seq, hub, ask, kind, actor, body, earlier_seq, prev_hash)
      SELECT head, p_hub, '', :EVENT_AGENT_DETACHED, '', body, 0, c.hash FROM counter c;
    UPDATE counter SET seq = head, hash = sayso_hash(hash, head::text, '', ':EVENT_AGENT_DETACHED', '', body);
    PERFORM pg_notify('sayso', head::text);
  END IF;
  RETURN last;
END $f$;
