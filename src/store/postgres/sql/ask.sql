-- An ask is made, changes and is delivered: what store/sqlite/write_small.c, store/sqlite/write_ask.c and
-- store/sqlite/write_ask.c do. These are called the most: few statements, nothing dynamic. Plans are kept,
-- so they may be made while a table is empty, where reading all of it looks best: they shall not.
-- Outcomes are those of enum store_outcome: 0 done, 1 lost, 2 repeated, 3 missing.

-- A row of ROW_WHOLE (store/row.h) behind what every write returns.
CREATE TYPE sayso_reply AS (outcome integer, seq bigint, @ROW_TYPES@ nothing integer);

-- The event of its creation has its number and its texts. p_joins: an ask of the same call that
-- another hub made is as good, open or with an answer that nobody has heard yet; nothing is made
-- then, and `other` names it. Lost: its key stood for other words.
CREATE FUNCTION sayso_create(
  p_id text, p_principal text, p_digest bytea, p_state bigint, p_interface bigint, p_flags bigint,
  p_version bigint, p_form_version bigint, p_created_ms bigint, p_deadline_ms bigint,
  p_original_ms bigint, p_hold_used_ms bigint, p_deliver_after_ms bigint, p_delivered_ms bigint,
  p_decided_ms bigint, p_tool text, p_title text, p_origin text, p_key text, p_launch bytea,
  p_agent text, p_form text, p_arguments text, p_body text, p_asker text, p_kind text, p_uid bigint,
  p_name text, p_place text, p_joins boolean, OUT outcome integer, OUT seq bigint, OUT other text)
LANGUAGE plpgsql SET search_path FROM CURRENT SET enable_seqscan = off AS $f$
DECLARE
  previous bytea := decode(current_setting('sayso.hash'), 'hex');
  made_of bytea;
  said text;
BEGIN
  -- A statement for each index; + 0, so that no other is gone through in this order.
  IF p_joins THEN
    IF p_key IS NULL THEN
      SELECT k.number, k.id, k.digest INTO seq, other, made_of
        FROM asks k JOIN events t ON t.seq = k.number
        WHERE k.principal = p_principal AND k.digest = p_digest AND k.state :IS_OPEN
          AND t.hub <> current_setting('sayso.hub')::bigint
        ORDER BY k.number + 0 DESC LIMIT 1;
    ELSE
      SELECT k.number, k.id, k.digest INTO seq, other, made_of
        FROM asks k JOIN events t ON t.seq = k.number
        WHERE k.principal = p_principal AND k.idempotency_key = p_key AND k.state :IS_OPEN
          AND t.hub <> current_setting('sayso.hub')::bigint
        ORDER BY k.number + 0 DESC LIMIT 1;
    END IF;
    IF other IS NULL THEN
      SELECT k.number, k.id, k.digest INTO seq, other, made_of
        FROM asks k JOIN events t ON t.seq = k.number
        WHERE k.delivered_ms = 0 AND k.state :BY_PERSON AND k.principal = p_principal
          AND CASE WHEN p_key IS NULL THEN k.digest = p_digest ELSE k.idempotency_key = p_key END
          AND t.hub <> current_setting('sayso.hub')::bigint
        ORDER BY k.number DESC LIMIT 1;
    END IF;
    IF other IS NOT NULL THEN
      outcome := CASE WHEN made_of = p_digest THEN 2 ELSE 1 END;
      said := sayso_said(CASE outcome WHEN 2 THEN 'R' ELSE 'L' END, seq);
      RETURN;
    END IF;
  END IF;
  outcome := 0;
  seq := current_setting('sayso.seq')::bigint + 1;
  IF NOT EXISTS (SELECT FROM principals WHERE id = p_asker) AND p_asker IS NOT NULL THEN
    PERFORM sayso_principal(p_asker, p_kind, p_uid, p_name, p_place, p_created_ms);
  END IF;
  INSERT INTO asks (number, id, principal, digest, state, interface, flags, version, form_version,
      created_ms, deadline_ms, original_ms, hold_used_ms, deliver_after_ms, delivered_ms,
      decided_ms, ended_ms, seq, earlier_seq, answer_seq, tool, title, origin, idempotency_key,
      launch_code_hash, agent, hub)
    VALUES (seq, p_id, p_principal, p_digest, p_state, p_interface, p_flags, p_version,
      p_form_version, p_created_ms, p_deadline_ms, p_original_ms, p_hold_used_ms,
      p_deliver_after_ms, p_delivered_ms, p_decided_ms,
      CASE WHEN p_state :IS_OVER THEN p_created_ms ELSE 0 END, seq, 0, 0, p_tool, p_title, p_origin,
      p_key, p_launch, p_agent, current_setting('sayso.hub')::bigint);
  INSERT INTO events (seq, hub, ask, kind, actor, body, earlier_seq, prev_hash, form, arguments)
    VALUES (seq, current_setting('sayso.hub')::bigint, p_id, :EVENT_CREATED, '', p_body, 0, previous, p_form,
      p_arguments);
  said := set_config('sayso.seq', seq::text, true);
  said := set_config('sayso.hash',
    encode(sayso_hash(previous, seq::text, p_id, ':EVENT_CREATED', '', p_body), 'hex'), true);
  said := sayso_said('D', seq);
END $f$;

-- The row of an ask as it stands.
CREATE FUNCTION sayso_row(p_outcome integer, p_seq bigint, p_id text) RETURNS sayso_reply
LANGUAGE plpgsql AS $f$
DECLARE
  reply sayso_reply;
BEGIN
  SELECT p_outcome, p_seq, @ROW_WHOLE@ 0 INTO reply
    FROM asks k JOIN events t ON t.seq = k.number LEFT JOIN events a ON a.seq = k.answer_seq
    WHERE k.id = p_id;
  RETURN reply;
END $f$;

-- After a change that changed nothing. Somebody else's ask is, for this principal, none at all.
CREATE FUNCTION sayso_lost(p_id text, p_principal text) RETURNS sayso_reply
LANGUAGE plpgsql AS $f$
DECLARE
  reply sayso_reply := sayso_row(1, 0, p_id);
  said text;
BEGIN
  IF reply.outcome IS NULL OR reply."k.principal" <> p_principal THEN
    reply := NULL;
    reply.outcome := 3;
    reply.seq := 0;
    said := sayso_said('M', 0);
  ELSE
    said := sayso_said('L', 0);
  END IF;
  RETURN reply;
END $f$;

-- The ask and the answer that a key came with; its outcome is NULL where there is none.
CREATE FUNCTION sayso_repeated(p_key text) RETURNS sayso_reply LANGUAGE plpgsql AS $f$
DECLARE
  reply sayso_reply;
  said text;
BEGIN
  SELECT 2, 0, @ROW_WHOLE@ 0 INTO reply
    FROM events a JOIN asks k ON k.id = a.ask JOIN events t ON t.seq = k.number
    WHERE a.answer_key = p_key;
  IF reply.outcome IS NOT NULL THEN
    said := sayso_said('R', 0);
  END IF;
  RETURN reply;
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
CREATE FUNCTION sayso_change(
  p_id text, p_principal text, p_event bigint, p_from bigint, p_if_version bigint, p_raises bigint,
  p_to_state bigint, p_interface bigint, p_deadline_ms bigint, p_original_ms bigint,
  p_hold_used_ms bigint, p_deliver_after_ms bigint, p_delivered_ms bigint, p_decided_ms bigint,
  p_set_flags bigint, p_clear_flags bigint, p_now bigint, p_actor text, p_person text,
  p_answer text, p_key text, p_brings boolean, p_removes boolean, p_skips boolean, p_launch bytea,
  p_if_launch bytea, p_when bigint, p_rest text) RETURNS sayso_reply
LANGUAGE plpgsql SET search_path FROM CURRENT SET enable_seqscan = off AS $f$
DECLARE
  previous bytea := decode(current_setting('sayso.hash'), 'hex');
  head bigint := current_setting('sayso.seq')::bigint + 1;
  ask record;
  body text;
  said text;
  reply sayso_reply;
BEGIN
  IF p_key IS NOT NULL AND EXISTS (SELECT FROM events WHERE answer_key = p_key) THEN
    reply := sayso_repeated(p_key);
    IF reply.outcome IS NOT NULL THEN
      RETURN reply;
    END IF;
  END IF;
  UPDATE asks k SET
      state = COALESCE(p_to_state, k.state), interface = COALESCE(p_interface, k.interface),
      deadline_ms = COALESCE(p_deadline_ms, k.deadline_ms),
      original_ms = COALESCE(p_original_ms, k.original_ms),
      hold_used_ms = COALESCE(p_hold_used_ms, k.hold_used_ms),
      deliver_after_ms = COALESCE(p_deliver_after_ms, k.deliver_after_ms),
      delivered_ms = COALESCE(p_delivered_ms, k.delivered_ms),
      decided_ms = COALESCE(p_decided_ms, k.decided_ms),
      flags = (k.flags | p_set_flags) & ~p_clear_flags, version = k.version + p_raises,
      ended_ms = CASE WHEN p_to_state IS NULL THEN k.ended_ms WHEN p_to_state :IS_OVER THEN p_now
        ELSE 0 END,
      earlier_seq = k.seq, seq = head,
      launch_code_hash = COALESCE(p_launch, k.launch_code_hash),
      hub = CASE WHEN p_event = :EVENT_AGENT_REATTACHED THEN current_setting('sayso.hub')::bigint ELSE k.hub END,
      answer_seq = CASE WHEN p_removes THEN -abs(k.answer_seq) WHEN p_brings THEN head
        ELSE k.answer_seq END
    WHERE k.id = p_id AND (p_from >> k.state::integer) & 1 = 1
      AND (p_if_version = 0 OR k.version = p_if_version)
      AND (p_principal IS NULL OR k.principal = p_principal)
      AND (p_if_launch IS NULL OR k.launch_code_hash = p_if_launch)
      AND CASE p_when
        WHEN 1 THEN k.deadline_ms > 0 AND k.deadline_ms <= sayso_now()
        WHEN 2 THEN k.delivered_ms = 0 AND k.deliver_after_ms > sayso_now()
        WHEN 3 THEN k.flags & :ASK_DETACHED = 0 AND sayso_is_gone(k.hub)
        ELSE true END
    RETURNING k.number, k.state, k.version, k.earlier_seq INTO ask;
  IF NOT FOUND THEN
    RETURN sayso_lost(p_id, p_principal);
  END IF;
  IF p_removes THEN
    PERFORM sayso_undo(ask.number, p_person, p_now);
  END IF;
  body := '{"at":' || p_now || ',"state":' || ask.state || ',"version":' || ask.version || p_rest;
  INSERT INTO events (seq, hub, ask, kind, actor, body, earlier_seq, prev_hash, answer, person,
      answer_key, decisive, answered_ms)
    VALUES (head, current_setting('sayso.hub')::bigint, p_id, p_event, p_actor, body,
      ask.earlier_seq, previous, p_answer, CASE WHEN p_brings THEN p_person END,
      CASE WHEN p_brings THEN p_key END, CASE WHEN p_brings THEN 1 END,
      CASE WHEN p_brings THEN p_now END);
  said := set_config('sayso.seq', head::text, true);
  said := set_config('sayso.hash',
    encode(sayso_hash(previous, head::text, p_id, p_event::text, p_actor, body), 'hex'), true);
  said := sayso_said('D', head);
  IF NOT p_skips THEN
    RETURN sayso_row(0, head, p_id);
  END IF;
  reply.outcome := 0;
  reply.seq := head;
  RETURN reply;
END $f$;

-- Results have reached their agent, p_id and those of p_more, a space between. One event tells of
-- all of them, beside the chains of the asks. Returns its number; 0: there was none to deliver.
CREATE FUNCTION sayso_hand_over(
  p_id text, p_more text, p_from bigint, p_principal text, p_event bigint, p_delivered_ms bigint,
  p_now bigint, p_actor text) RETURNS bigint LANGUAGE plpgsql AS $f$
DECLARE
  previous bytea := decode(current_setting('sayso.hash'), 'hex');
  head bigint := current_setting('sayso.seq')::bigint + 1;
  list text := '"' || p_id || '"';
  of_ask text := p_id;
  body text;
  said text;
BEGIN
  IF p_more IS NULL THEN
    UPDATE asks k SET delivered_ms = p_delivered_ms
      WHERE k.id = p_id AND (p_from >> k.state::integer) & 1 = 1
        AND (p_principal IS NULL OR k.principal = p_principal);
    IF NOT FOUND THEN
      RETURN 0;
    END IF;
  ELSE
    WITH given AS (
      SELECT g.id, min(g.place) AS place
        FROM unnest(p_id || string_to_array(p_more, ' ')) WITH ORDINALITY AS g (id, place)
        GROUP BY g.id),
    handed AS (
      UPDATE asks k SET delivered_ms = p_delivered_ms FROM given g
        WHERE k.id = g.id AND (p_from >> k.state::integer) & 1 = 1
          AND (p_principal IS NULL OR k.principal = p_principal)
        RETURNING g.id, g.place)
    SELECT string_agg('"' || h.id || '"', ',' ORDER BY h.place) INTO list FROM handed h;
    IF list IS NULL THEN
      RETURN 0;
    END IF;
    of_ask := '';
  END IF;
  body := '{"at":' || p_now || ',"asks":[' || list || ']}';
  INSERT INTO events (seq, hub, ask, kind, actor, body, earlier_seq, prev_hash)
    VALUES (head, current_setting('sayso.hub')::bigint, of_ask, p_event, p_actor, body, 0,
      previous);
  said := set_config('sayso.seq', head::text, true);
  said := set_config('sayso.hash',
    encode(sayso_hash(previous, head::text, of_ask, p_event::text, p_actor, body), 'hex'), true);
  RETURN head;
END $f$;

CREATE FUNCTION sayso_deliver(
  p_id text, p_more text, p_from bigint, p_principal text, p_event bigint, p_delivered_ms bigint,
  p_now bigint, p_actor text) RETURNS sayso_reply
LANGUAGE plpgsql SET search_path FROM CURRENT SET enable_seqscan = off AS $f$
DECLARE
  reply sayso_reply;
  said text;
BEGIN
  reply.seq := sayso_hand_over(p_id, p_more, p_from, p_principal, p_event, p_delivered_ms, p_now,
    p_actor);
  IF reply.seq = 0 THEN
    RETURN sayso_lost(p_id, p_principal);
  END IF;
  reply.outcome := 0;
  said := sayso_said('D', reply.seq);
  RETURN reply;
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
  UPDATE asks k SET flags = (k.flags | p_set_flags) & ~p_clear_flags
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
