-- Conversations of agent hosts, as in store/sqlite/conversation.c: made and stepped, with what happened
-- in them, one "KIND BODY" a line, under numbers of their own.

-- Each line ends with a newline.
CREATE FUNCTION sayso_lines(p_events text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $f$
  SELECT string_to_array(left(p_events, -1), chr(10))
$f$;

-- In which order conversations changed, whatever hub changed them.
CREATE FUNCTION sayso_stamp() RETURNS bigint LANGUAGE plpgsql AS $f$
DECLARE
  newest bigint;
BEGIN
  UPDATE counter SET stamp = stamp + 1 RETURNING stamp INTO newest;
  RETURN newest;
END $f$;

-- The last of them has number p_last. No more of one conversation are kept than p_most, and of no
-- more bytes than p_bytes, the newest.
CREATE FUNCTION sayso_happened(p_id text, p_lines text[], p_last bigint, p_most bigint,
                               p_bytes bigint) RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
  INSERT INTO conversation_events (conversation, number, kind, bytes, body)
    SELECT p_id, p_last - cardinality(p_lines) + l.place, split_part(l.line, ' ', 1),
        octet_length(l.line), substr(l.line, strpos(l.line, ' ') + 1)
      FROM unnest(p_lines) WITH ORDINALITY AS l (line, place);
  DELETE FROM conversation_events WHERE conversation = p_id AND number <= p_last - p_most;
  IF (SELECT sum(bytes) FROM conversation_events WHERE conversation = p_id) > p_bytes THEN
    DELETE FROM conversation_events WHERE conversation = p_id AND number <= (
      SELECT max(later.number)
        FROM (SELECT e.number, sum(e.bytes) OVER (ORDER BY e.number DESC) AS total
              FROM conversation_events e WHERE e.conversation = p_id) AS later
        WHERE later.total > p_bytes);
  END IF;
END $f$;

-- The oldest that is idle makes room, where there is none for one more.
CREATE FUNCTION sayso_conversation(
  p_id text, p_principal text, p_token_id text, p_label text, p_state text, p_body text, p_key text,
  p_created_ms bigint, p_events text, p_asker text, p_kind text, p_uid bigint, p_name text,
  p_place text, p_conversations bigint, p_most bigint, p_bytes bigint,
  OUT outcome integer, OUT seq bigint)
LANGUAGE plpgsql SET search_path FROM CURRENT SET enable_seqscan = off AS $f$
DECLARE
  lines text[] := sayso_lines(p_events);
  said text;
BEGIN
  outcome := 0;
  seq := cardinality(lines);
  IF p_key IS NOT NULL AND EXISTS (SELECT FROM conversations c
                                   WHERE c.principal = p_principal AND c.key = p_key) THEN
    outcome := 2;
    seq := 0;
    said := sayso_said('R', 0);
    RETURN;
  END IF;
  PERFORM sayso_principal(p_asker, p_kind, p_uid, p_name, p_place, p_created_ms);
  IF (SELECT count(*) FROM conversations c WHERE c.principal = p_principal) >= p_conversations THEN
    DELETE FROM conversations WHERE id = (
      SELECT c.id FROM conversations c WHERE c.principal = p_principal AND c.state = 'idle'
        ORDER BY c.changed_ms LIMIT 1);
    IF NOT FOUND THEN
      outcome := 1;
      said := sayso_said('L', seq);
      RETURN;
    END IF;
  END IF;
  INSERT INTO conversations (id, principal, token_id, label, state, body, key, version, created_ms,
      changed_ms, last_event, stamp, hub)
    VALUES (p_id, p_principal, p_token_id, p_label, p_state, p_body, p_key, 1, p_created_ms,
      p_created_ms, seq, sayso_stamp(), current_setting('sayso.hub')::bigint);
  PERFORM sayso_happened(p_id, lines, seq, p_most, p_bytes);
  said := sayso_said('D', seq);
END $f$;

-- Where an answer went into it, that answer's delivery is in the same transaction.
CREATE FUNCTION sayso_conversation_step(
  p_id text, p_if_version bigint, p_state text, p_body text, p_ask text, p_earlier_ask text,
  p_now bigint, p_events text, p_delivered text, p_delivered_from bigint, p_most bigint,
  p_bytes bigint, OUT outcome integer, OUT seq bigint)
LANGUAGE plpgsql SET search_path FROM CURRENT SET enable_seqscan = off AS $f$
DECLARE
  lines text[] := sayso_lines(p_events);
  said text;
BEGIN
  outcome := 0;
  UPDATE conversations c SET
      state = p_state, body = p_body, ask = p_ask, earlier_ask = p_earlier_ask,
      changed_ms = p_now, version = c.version + 1,
      last_event = c.last_event + cardinality(lines), stamp = sayso_stamp(),
      hub = current_setting('sayso.hub')::bigint
    WHERE c.id = p_id AND c.version = p_if_version
    RETURNING c.last_event INTO seq;
  IF NOT FOUND THEN
    seq := 0;
    IF EXISTS (SELECT FROM conversations c WHERE c.id = p_id) THEN
      outcome := 1;
      said := sayso_said('L', 0);
    ELSE
      outcome := 3;
      said := sayso_said('M', 0);
    END IF;
    RETURN;
  END IF;
  PERFORM sayso_happened(p_id, lines, seq, p_most, p_bytes);
  IF p_delivered IS NOT NULL THEN
    PERFORM sayso_hand_over(ARRAY[p_delivered], '{1}', ARRAY[p_delivered_from], ARRAY[NULL],
      ARRAY[p_now], ARRAY[p_now], '{""}');
  END IF;
  said := sayso_said('D', seq);
END $f$;
