-- Asks are made, change and are delivered: what store/sqlite/write_ask.c does, for all writes of one kind in a
-- transaction in one statement. An array has an element a write. Plans are kept, so they may be made while a table is
-- empty, where reading all of it looks best: they shall not, nor hash or sort it. Each returns what became of its
-- writes, in order, and adds that to sayso.outcomes: a letter (D done, L lost, R repeated, M missing) and a number.

-- The event of its creation has its number and its texts. p_joins: an ask of the same call that
-- another hub made is as good, open or with an answer that nobody has heard yet; nothing is made
-- then, and the number is that ask's. Lost: its key stood for other words.
CREATE FUNCTION sayso_create(
  p_id text[], p_principal text[], p_digest bytea[], p_state bigint[], p_interface bigint[],
  p_flags bigint[], p_version bigint[], p_form_version bigint[], p_created_ms bigint[],
  p_deadline_ms bigint[], p_original_ms bigint[], p_hold_used_ms bigint[],
  p_deliver_after_ms bigint[], p_delivered_ms bigint[], p_decided_ms bigint[], p_tool text[],
  p_title text[], p_origin text[], p_key text[], p_launch bytea[], p_agent text[], p_form text[],
  p_arguments text[], p_body text[], p_asker text[], p_kind text[], p_uid bigint[], p_name text[],
  p_place text[], p_joins bigint[]) RETURNS text
LANGUAGE plpgsql SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off
SET enable_mergejoin = off AS $f$
DECLARE
  this_hub bigint := current_setting('sayso.hub')::bigint;
  head bigint := current_setting('sayso.seq')::bigint;
  previous bytea := decode(current_setting('sayso.hash'), 'hex');
  holders bigint[];
  other bigint;
  made_of bytea;
  numbers bigint[] := '{}';
  hashes bytea[] := '{}';
  all_said text := '';
BEGIN
  -- A subquery, not NOT EXISTS or a join: with those all of the table may be read.
  holders := ARRAY(SELECT CASE WHEN g.joins <> 0 THEN (SELECT u.number FROM unsettled u
      WHERE u.nth = 0 AND u.call = CASE WHEN g.key IS NULL THEN sayso_call(g.principal, g.digest)
        ELSE sayso_key_call(g.principal, g.key) END) END
    FROM unnest(p_principal, p_digest, p_key, p_joins) WITH ORDINALITY
      AS g (principal, digest, key, joins, i) ORDER BY g.i);
  FOR i IN 1 .. cardinality(p_id) LOOP
    other := NULL;
    IF holders[i] IS NOT NULL THEN
      SELECT k.number, k.digest INTO other, made_of
        FROM asks k JOIN events t ON t.seq = k.number
        WHERE k.number = holders[i] AND k.principal = p_principal[i]
          AND CASE WHEN p_key[i] IS NULL THEN k.digest = p_digest[i]
            ELSE k.idempotency_key = p_key[i] END
          AND sayso_is_joined(k.state, k.delivered_ms) AND t.hub <> this_hub;
    END IF;
    IF other IS NULL THEN
      head := head + 1;
      numbers := numbers || head;
      hashes := hashes || previous;
      previous := sayso_hash(previous, head::text, p_id[i], ':EVENT_CREATED', '', p_body[i]);
      all_said := all_said || 'D' || head || ' ';
    ELSE
      numbers := numbers || NULL::bigint;
      hashes := hashes || NULL::bytea;
      all_said := all_said || CASE WHEN made_of = p_digest[i] THEN 'R' ELSE 'L' END || other || ' ';
    END IF;
  END LOOP;
  INSERT INTO principals (id, kind, uid, name, place, created_ms)
    SELECT g.id, g.kind, g.uid, g.name, g.place, g.created_ms
      FROM unnest(p_asker, p_kind, p_uid, p_name, p_place, p_created_ms, numbers)
        AS g (id, kind, uid, name, place, created_ms, number)
      WHERE g.id IS NOT NULL AND g.number IS NOT NULL
        AND (SELECT p.id FROM principals p WHERE p.id = g.id) IS NULL
    ON CONFLICT DO NOTHING;
  INSERT INTO asks (number, id, principal, digest, state, interface, flags, version, form_version,
      created_ms, deadline_ms, original_ms, hold_used_ms, deliver_after_ms, delivered_ms,
      decided_ms, ended_ms, seq, earlier_seq, answer_seq, tool, title, origin, idempotency_key,
      launch_code_hash, agent, hub)
    SELECT g.number, g.id, g.principal, g.digest, g.state, g.interface, g.flags, g.version,
        g.form_version, g.created_ms, g.deadline_ms, g.original_ms, g.hold_used_ms,
        g.deliver_after_ms, g.delivered_ms, g.decided_ms,
        CASE WHEN g.state :IS_OVER THEN g.created_ms ELSE 0 END, g.number, 0, 0, g.tool, g.title,
        g.origin, g.key, g.launch, g.agent, this_hub
      FROM unnest(p_id, p_principal, p_digest, p_state, p_interface, p_flags, p_version,
          p_form_version, p_created_ms, p_deadline_ms, p_original_ms, p_hold_used_ms,
          p_deliver_after_ms, p_delivered_ms, p_decided_ms, p_tool, p_title, p_origin, p_key,
          p_launch, p_agent, numbers)
        AS g (id, principal, digest, state, interface, flags, version, form_version, created_ms,
          deadline_ms, original_ms, hold_used_ms, deliver_after_ms, delivered_ms, decided_ms, tool,
          title, origin, key, launch, agent, number)
      WHERE g.number IS NOT NULL;
  INSERT INTO unsettled (call, nth, number, is_key)
    SELECT f.call, CASE WHEN f.joins <> 0 AND f.place = 1
          AND (SELECT u.number FROM unsettled u WHERE u.call = f.call AND u.nth = 0) IS NULL
        THEN 0 ELSE f.number END, f.number, f.is_key
      FROM (SELECT c.call, c.is_key, g.number, g.joins,
              row_number() OVER (PARTITION BY c.call, g.joins ORDER BY g.number) AS place
            FROM unnest(numbers, p_principal, p_digest, p_key, p_joins, p_state, p_delivered_ms,
                p_deliver_after_ms, p_flags)
              AS g (number, principal, digest, key, joins, state, delivered_ms, deliver_after_ms, flags)
              CROSS JOIN LATERAL (SELECT sayso_call(g.principal, g.digest) AS call, false AS is_key
                UNION ALL SELECT sayso_key_call(g.principal, g.key), true
                  WHERE g.key IS NOT NULL) AS c
            WHERE g.number IS NOT NULL
              AND sayso_is_unsettled(g.state, g.delivered_ms, g.deliver_after_ms, g.flags)) AS f;
  INSERT INTO ended (number, ended_ms)
    SELECT g.number, g.created_ms FROM unnest(numbers, p_state, p_created_ms)
        AS g (number, state, created_ms)
      WHERE g.number IS NOT NULL AND g.state :IS_OVER;
  INSERT INTO events (seq, hub, ask, kind, actor, body, earlier_seq, prev_hash, form, arguments)
    SELECT g.number, this_hub, g.id, :EVENT_CREATED, '', g.body, 0, g.hash, g.form, g.arguments
      FROM unnest(numbers, p_id, p_body, hashes, p_form, p_arguments)
        AS g (number, id, body, hash, form, arguments)
      WHERE g.number IS NOT NULL;
  PERFORM sayso_went_on(head, previous);
  RETURN sayso_said_all(all_said);
END $f$;

-- The decisive answer becomes a draft; it stays as one that decides nothing, so that its key is
-- still known. What the ask is found by is taken up again later.
CREATE FUNCTION sayso_undo(p_number bigint, p_person text, p_now bigint) RETURNS void
LANGUAGE plpgsql AS $f$
DECLARE
  answered bigint := (SELECT -answer_seq FROM asks WHERE number = p_number);
BEGIN
  INSERT INTO drafts AS d (ask, person, body, counter, saved_ms)
    SELECT e.ask, COALESCE(e.person, p_person, ''), e.answer, 1, p_now FROM events e
      WHERE e.seq = answered AND e.answer IS NOT NULL
    ON CONFLICT (ask, person) DO UPDATE
      SET body = excluded.body, counter = d.counter + 1, saved_ms = excluded.saved_ms;
  UPDATE events SET decisive = 0 WHERE seq = answered;
  IF p_number < (SELECT next FROM search) THEN
    DELETE FROM words WHERE number = p_number;
    INSERT INTO unindexed (number) VALUES (p_number) ON CONFLICT DO NOTHING;
  END IF;
END $f$;

-- The one conditional update decides every race (R5.3). p_when is store_change.when, by the
-- database's clock: 1 only past its deadline, 2 only before its answer may be delivered, 3 only if
-- its agent was not seen to leave, and the hub where it waited is gone. p_brings: an answer comes
-- with it, else p_answer is NULL. p_rest is the end of the event's body.
--
-- Numbers have no gaps, so who wins is found first, and then they change. Nobody else changes an ask in
-- between: all who do hold the counter. Only retention may have taken one.
CREATE FUNCTION sayso_change(
  p_id text[], p_principal text[], p_event bigint[], p_from bigint[], p_if_version bigint[],
  p_raises bigint[], p_to_state bigint[], p_interface bigint[], p_deadline_ms bigint[],
  p_original_ms bigint[], p_hold_used_ms bigint[], p_deliver_after_ms bigint[],
  p_delivered_ms bigint[], p_decided_ms bigint[], p_set_flags bigint[], p_clear_flags bigint[],
  p_now bigint[], p_actor text[], p_person text[], p_answer text[], p_key text[], p_brings bigint[],
  p_removes bigint[], p_launch bytea[], p_if_launch bytea[], p_when bigint[], p_rest text[])
RETURNS text
LANGUAGE plpgsql SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off
SET enable_mergejoin = off AS $f$
DECLARE
  this_hub bigint := current_setting('sayso.hub')::bigint;
  head bigint := current_setting('sayso.seq')::bigint;
  previous bytea := decode(current_setting('sayso.hash'), 'hex');
  places bigint[]; -- of each that changes among those that do
  all_said text;
  changed bigint[];
  numbers bigint[];
  bodies text[];
  earlier bigint[];
  hashes bytea[] := '{}';
BEGIN
  SELECT array_agg(CASE WHEN f.outcome = 'D' THEN f.place END ORDER BY f.i),
      string_agg(f.outcome || CASE WHEN f.outcome = 'D' THEN head + f.place ELSE 0 END || ' ', ''
                 ORDER BY f.i)
    INTO places, all_said
    FROM (SELECT h.i, h.outcome, count(*) FILTER (WHERE h.outcome = 'D') OVER (ORDER BY h.i) AS place
      FROM (SELECT g.i, CASE
          WHEN g.key IS NOT NULL
            AND (SELECT e.seq FROM events e WHERE e.answer_key = g.key) IS NOT NULL THEN 'R'
          WHEN k.id IS NULL OR k.principal <> g.principal THEN 'M'
          WHEN (g.from_states >> k.state::integer) & 1 = 1
            AND (g.if_version = 0 OR k.version = g.if_version)
            AND (g.if_launch IS NULL OR k.launch_code_hash = g.if_launch)
            AND CASE g.whenever
              WHEN 1 THEN k.deadline_ms > 0 AND k.deadline_ms <= sayso_now()
              WHEN 2 THEN k.delivered_ms = 0 AND k.deliver_after_ms > sayso_now()
              WHEN 3 THEN k.flags & :ASK_DETACHED = 0 AND sayso_is_gone(k.hub)
              ELSE true END THEN 'D'
          ELSE 'L' END AS outcome
        FROM unnest(p_id, p_principal, p_from, p_if_version, p_key, p_if_launch, p_when)
          WITH ORDINALITY AS g (id, principal, from_states, if_version, key, if_launch, whenever, i)
          LEFT JOIN asks k ON k.id = g.id) AS h) AS f;
  WITH done AS (
    UPDATE asks k SET
        rev = k.rev + 1, state = COALESCE(g.to_state, k.state), interface = COALESCE(g.interface, k.interface),
        deadline_ms = COALESCE(g.deadline_ms, k.deadline_ms),
        original_ms = COALESCE(g.original_ms, k.original_ms),
        hold_used_ms = COALESCE(g.hold_used_ms, k.hold_used_ms),
        deliver_after_ms = COALESCE(g.deliver_after_ms, k.deliver_after_ms),
        delivered_ms = COALESCE(g.delivered_ms, k.delivered_ms),
        decided_ms = COALESCE(g.decided_ms, k.decided_ms),
        flags = (k.flags | g.set_flags) & ~g.clear_flags, version = k.version + g.raises,
        ended_ms = CASE WHEN g.to_state IS NULL THEN k.ended_ms WHEN g.to_state :IS_OVER THEN g.now
          ELSE 0 END,
        earlier_seq = k.seq, seq = head + g.place,
        launch_code_hash = COALESCE(g.launch, k.launch_code_hash),
        hub = CASE WHEN g.event = :EVENT_AGENT_REATTACHED THEN this_hub ELSE k.hub END,
        answer_seq = CASE WHEN g.removes <> 0 THEN -abs(k.answer_seq)
          WHEN g.brings <> 0 THEN head + g.place ELSE k.answer_seq END
      FROM unnest(p_id, p_event, p_raises, p_to_state, p_interface, p_deadline_ms, p_original_ms,
          p_hold_used_ms, p_deliver_after_ms, p_delivered_ms, p_decided_ms, p_set_flags,
          p_clear_flags, p_now, p_brings, p_removes, p_launch, p_rest, places)
        WITH ORDINALITY AS g (id, event, raises, to_state, interface, deadline_ms, original_ms,
          hold_used_ms, deliver_after_ms, delivered_ms, decided_ms, set_flags, clear_flags, now,
          brings, removes, launch, rest, place, i)
      WHERE k.id = g.id AND g.place IS NOT NULL
      RETURNING g.i, g.to_state, k.number, k.principal, k.digest, k.idempotency_key, k.seq,
        k.earlier_seq, k.state, k.ended_ms,
        sayso_is_unsettled(k.state, k.delivered_ms, k.deliver_after_ms, k.flags) AS is_unsettled,
        sayso_is_joined(k.state, k.delivered_ms) AS is_joined, '{"at":' || g.now || ',"state":'
        || k.state || ',"version":' || k.version || g.rest AS body),
  settled AS (DELETE FROM unsettled u USING done d WHERE u.number = d.number AND NOT d.is_unsettled),
  left_alone AS (UPDATE unsettled u SET nth = u.number FROM done d
    WHERE u.number = d.number AND u.nth = 0 AND d.is_unsettled AND NOT d.is_joined),
  again AS (INSERT INTO unsettled (call, nth, number, is_key)
    SELECT c.call, d.number, d.number, c.is_key FROM done d
      CROSS JOIN LATERAL (SELECT sayso_call(d.principal, d.digest) AS call, false AS is_key
        UNION ALL SELECT sayso_key_call(d.principal, d.idempotency_key), true
          WHERE d.idempotency_key IS NOT NULL) AS c
      WHERE d.is_unsettled AND (SELECT min(u.number) FROM unsettled u WHERE u.number = d.number) IS NULL),
  is_over AS (INSERT INTO ended AS o (number, ended_ms)
    SELECT d.number, d.ended_ms FROM done d WHERE d.to_state :IS_OVER
    ON CONFLICT (number) DO UPDATE SET ended_ms = excluded.ended_ms),
  is_open AS (DELETE FROM ended o USING done d WHERE o.number = d.number AND d.to_state :IS_OPEN)
  SELECT array_agg(d.i ORDER BY d.seq), array_agg(d.number ORDER BY d.seq),
      array_agg(d.earlier_seq ORDER BY d.seq), array_agg(d.body ORDER BY d.seq)
    INTO changed, numbers, earlier, bodies FROM done d;
  IF cardinality(changed) IS DISTINCT FROM cardinality(NULLIF(array_remove(places, NULL), '{}')) THEN
    RAISE EXCEPTION 'an ask has gone' USING ERRCODE = 'serialization_failure';
  END IF;
  FOR i IN 1 .. COALESCE(cardinality(changed), 0) LOOP
    IF p_removes[changed[i]] <> 0 THEN
      PERFORM sayso_undo(numbers[i], p_person[changed[i]], p_now[changed[i]]);
    END IF;
    head := head + 1;
    hashes := hashes || previous;
    previous := sayso_hash(previous, head::text, p_id[changed[i]], p_event[changed[i]]::text,
      p_actor[changed[i]], bodies[i]);
  END LOOP;
  INSERT INTO events (seq, hub, ask, kind, actor, body, earlier_seq, prev_hash, answer, person,
      answer_key, decisive, answered_ms)
    SELECT head - cardinality(changed) + c.place, this_hub, p_id[c.i], p_event[c.i], p_actor[c.i],
        c.body, c.earlier_seq, c.hash, p_answer[c.i], CASE WHEN c.brings THEN p_person[c.i] END,
        CASE WHEN c.brings THEN p_key[c.i] END, CASE WHEN c.brings THEN 1 END,
        CASE WHEN c.brings THEN p_now[c.i] END
      FROM (SELECT g.*, p_brings[g.i] <> 0 AS brings
            FROM unnest(changed, earlier, bodies, hashes) WITH ORDINALITY
              AS g (i, earlier_seq, body, hash, place)) AS c;
  PERFORM sayso_went_on(head, previous);
  RETURN sayso_said_all(all_said);
END $f$;

-- Results have reached their agent: those of asks p_id, each of the write numbered p_write. One event
-- tells of all that the same actor delivered, beside the chains of the asks. Returns the event of
-- each write; 0: it had none to deliver.
CREATE FUNCTION sayso_hand_over(
  p_id text[], p_write bigint[], p_from bigint[], p_principal text[], p_delivered_ms bigint[],
  p_now bigint[], p_actor text[]) RETURNS bigint[] LANGUAGE plpgsql AS $f$
DECLARE
  head bigint := current_setting('sayso.seq')::bigint;
  previous bytea := decode(current_setting('sayso.hash'), 'hex');
  events_of bigint[] := array_fill(0::bigint, ARRAY[p_write[cardinality(p_write)]::integer]);
  of_ask text := CASE WHEN cardinality(p_id) = 1 THEN p_id[1] ELSE '' END;
  body text;
  one bigint;
  told record;
BEGIN
  FOR told IN
    WITH handed AS (
      UPDATE asks k SET rev = k.rev + 1, delivered_ms = g.delivered_ms
        FROM (SELECT DISTINCT ON (u.id) u.*
              FROM unnest(p_id, p_write, p_from, p_principal, p_delivered_ms, p_now, p_actor)
                WITH ORDINALITY AS u (id, write, from_states, principal, delivered_ms, now, actor, i)
              ORDER BY u.id, u.i) AS g
        WHERE k.id = g.id AND (g.from_states >> k.state::integer) & 1 = 1
          AND (g.principal IS NULL OR k.principal = g.principal)
        RETURNING g.id, g.write, g.now, g.actor, g.i, k.number,
          sayso_is_unsettled(k.state, k.delivered_ms, k.deliver_after_ms, k.flags) AS is_unsettled),
    settled AS (DELETE FROM unsettled u USING handed h
      WHERE u.number = h.number AND NOT h.is_unsettled)
    SELECT h.actor, max(h.now) AS now, array_agg(h.write) AS writes,
        string_agg('"' || h.id || '"', ',' ORDER BY h.i) AS list
      FROM handed h GROUP BY h.actor ORDER BY min(h.i)
  LOOP
    head := head + 1;
    body := '{"at":' || told.now || ',"asks":[' || told.list || ']}';
    INSERT INTO events (seq, hub, ask, kind, actor, body, earlier_seq, prev_hash)
      VALUES (head, current_setting('sayso.hub')::bigint, of_ask, :EVENT_DELIVERED, told.actor,
        body, 0, previous);
    previous := sayso_hash(previous, head::text, of_ask, ':EVENT_DELIVERED', told.actor, body);
    FOREACH one IN ARRAY told.writes LOOP
      events_of[one] := head;
    END LOOP;
  END LOOP;
  PERFORM sayso_went_on(head, previous);
  RETURN events_of;
END $f$;

CREATE FUNCTION sayso_deliver(
  p_id text[], p_write bigint[], p_from bigint[], p_principal text[], p_delivered_ms bigint[],
  p_now bigint[], p_actor text[]) RETURNS text
LANGUAGE plpgsql SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off
SET enable_mergejoin = off AS $f$
DECLARE
  events_of bigint[] := sayso_hand_over(p_id, p_write, p_from, p_principal, p_delivered_ms, p_now,
    p_actor);
BEGIN
  RETURN sayso_said_all((SELECT string_agg(CASE WHEN events_of[f.write] > 0 THEN 'D'
      WHEN (SELECT k.number FROM asks k WHERE k.id = f.id
            AND (f.principal IS NULL OR k.principal = f.principal)) IS NOT NULL THEN 'L'
      ELSE 'M' END || events_of[f.write] || ' ', '' ORDER BY f.write)
    FROM (SELECT DISTINCT ON (u.write) u.* FROM unnest(p_id, p_write, p_principal)
            WITH ORDINALITY AS u (id, write, principal, i) ORDER BY u.write, u.i) AS f));
END $f$;

-- Marks of an open ask that no event tells of; lost where it has them so already.
CREATE FUNCTION sayso_mark(p_id text, p_set_flags bigint, p_clear_flags bigint,
                           OUT outcome integer, OUT seq bigint)
LANGUAGE plpgsql SET search_path FROM CURRENT SET enable_seqscan = off AS $f$
DECLARE
  said text;
BEGIN
  outcome := 0;
  seq := 0;
  UPDATE asks k SET rev = k.rev + 1, flags = (k.flags | p_set_flags) & ~p_clear_flags
    WHERE k.id = p_id AND k.state :IS_OPEN
      AND ((k.flags | p_set_flags) & ~p_clear_flags) <> k.flags;
  IF FOUND THEN
    said := sayso_said('D', 0);
  ELSIF EXISTS (SELECT FROM asks k WHERE k.id = p_id) THEN
    outcome := 1;
    said := sayso_said('L', 0);
  ELSE
    outcome := 3;
    said := sayso_said('M', 0);
  END IF;
END $f$;
