-- Drafts, settings, tokens, rules, keys, facts: small writes that events do not tell of. What hubs
-- keep in memory raises counter.misc.

-- An empty body removes it.
CREATE FUNCTION sayso_draft(p_ask text, p_person text, p_body text, p_now bigint,
                            OUT outcome integer, OUT seq bigint)
LANGUAGE plpgsql SET search_path FROM CURRENT SET enable_seqscan = off AS $f$
DECLARE
  said text;
BEGIN
  outcome := 0;
  seq := 0;
  PERFORM FROM asks WHERE id = p_ask FOR KEY SHARE; -- else retention might leave the draft
  IF NOT FOUND THEN
    outcome := 3;
    said := sayso_said('M', 0);
    RETURN;
  END IF;
  IF p_body = '' THEN
    DELETE FROM drafts WHERE ask = p_ask AND person = p_person;
  ELSE
    INSERT INTO drafts AS d (ask, person, body, counter, saved_ms)
      VALUES (p_ask, p_person, p_body, 1, p_now)
      ON CONFLICT (ask, person) DO UPDATE
        SET body = excluded.body, counter = d.counter + 1, saved_ms = excluded.saved_ms;
  END IF;
  said := sayso_said('D', 0);
END $f$;

CREATE FUNCTION sayso_setting(p_person text, p_name text, p_value text,
                              OUT outcome integer, OUT seq bigint)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $f$
DECLARE
  said text;
BEGIN
  outcome := 0;
  seq := 0;
  IF p_value IS NULL THEN
    DELETE FROM settings WHERE person = p_person AND name = p_name;
  ELSE
    INSERT INTO settings (person, name, value) VALUES (p_person, p_name, p_value)
      ON CONFLICT (person, name) DO UPDATE SET value = excluded.value;
  END IF;
  PERFORM sayso_touched();
  said := sayso_said('D', 0);
END $f$;

CREATE FUNCTION sayso_token(p_hash bytea, p_kind text, p_label text, p_sub_agent boolean,
                            p_may_answer boolean, p_created_ms bigint, p_expires_ms bigint,
                            p_used_ms bigint, p_browser text, OUT outcome integer, OUT seq bigint)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $f$
DECLARE
  said text;
BEGIN
  outcome := 0;
  seq := 0;
  INSERT INTO tokens (hash, kind, person, label, sub_agent, may_answer, created_ms, expires_ms,
      used_ms, browser)
    VALUES (p_hash, p_kind, 'owner', p_label, p_sub_agent::integer, p_may_answer::integer,
      p_created_ms, p_expires_ms, p_used_ms, p_browser);
  PERFORM sayso_touched();
  said := sayso_said('D', 0);
END $f$;

CREATE FUNCTION sayso_token_revoke(p_hash bytea, p_now bigint, OUT outcome integer, OUT seq bigint)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $f$
DECLARE
  said text;
BEGIN
  outcome := 0;
  seq := 0;
  UPDATE tokens SET revoked_ms = p_now WHERE hash = p_hash AND revoked_ms = 0;
  IF NOT FOUND THEN
    outcome := 3;
    said := sayso_said('M', 0);
    RETURN;
  END IF;
  PERFORM sayso_touched();
  said := sayso_said('D', 0);
END $f$;

CREATE FUNCTION sayso_token_use(p_hash bytea, p_now bigint, OUT outcome integer, OUT seq bigint)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $f$
DECLARE
  said text;
BEGIN
  outcome := 0;
  seq := 0;
  UPDATE tokens SET used_ms = greatest(used_ms, p_now) WHERE hash = p_hash AND revoked_ms = 0;
  IF NOT FOUND THEN
    outcome := 3;
    said := sayso_said('M', 0);
    RETURN;
  END IF;
  PERFORM sayso_touched();
  said := sayso_said('D', 0);
END $f$;

-- Lost where one of that kind is in force.
CREATE FUNCTION sayso_rule(p_id text, p_kind bytea, p_facts text, p_answer text, p_actor text,
                           p_created_ms bigint, p_expires_ms bigint,
                           OUT outcome integer, OUT seq bigint)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $f$
DECLARE
  said text;
BEGIN
  outcome := 0;
  seq := 0;
  IF EXISTS (SELECT FROM rules
             WHERE kind = p_kind AND revoked_ms = 0 AND expires_ms > p_created_ms) THEN
    outcome := 1;
    said := sayso_said('L', 0);
    RETURN;
  END IF;
  INSERT INTO rules (id, kind, facts, answer, actor, created_ms, expires_ms)
    VALUES (p_id, p_kind, p_facts, p_answer, p_actor, p_created_ms, p_expires_ms);
  PERFORM sayso_touched();
  said := sayso_said('D', 0);
END $f$;

CREATE FUNCTION sayso_rule_revoke(p_id text, p_now bigint, OUT outcome integer, OUT seq bigint)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $f$
DECLARE
  said text;
BEGIN
  outcome := 0;
  seq := 0;
  UPDATE rules SET revoked_ms = p_now WHERE id = p_id AND revoked_ms = 0;
  IF NOT FOUND THEN
    outcome := 3;
    said := sayso_said('M', 0);
    RETURN;
  END IF;
  PERFORM sayso_touched();
  said := sayso_said('D', 0);
END $f$;

-- Its number is what is returned as seq.
CREATE FUNCTION sayso_key(p_purpose text, p_secret bytea, p_created_ms bigint,
                          OUT outcome integer, OUT seq bigint)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $f$
DECLARE
  said text;
BEGIN
  outcome := 0;
  INSERT INTO keys (id, purpose, secret, created_ms)
    SELECT COALESCE(max(k.id), 0) + 1, p_purpose, p_secret, p_created_ms FROM keys k
    RETURNING id INTO seq;
  PERFORM sayso_touched();
  said := sayso_said('D', seq);
END $f$;

CREATE FUNCTION sayso_meta(p_name text, p_value text, OUT outcome integer, OUT seq bigint)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $f$
DECLARE
  said text;
BEGIN
  outcome := 0;
  seq := 0;
  INSERT INTO meta (name, value) VALUES (p_name, p_value)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value;
  PERFORM sayso_touched();
  said := sayso_said('D', 0);
END $f$;

-- Names are the clients' to invent, so there are p_most at most: what was seen once, or is
-- forgotten, makes room first. Without a name all cut-offs are forgotten.
CREATE FUNCTION sayso_client(p_name text, p_version text, p_transport text, p_is_form boolean,
                             p_fact bigint, p_most bigint, OUT outcome integer, OUT seq bigint)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $f$
DECLARE
  said text;
BEGIN
  outcome := 0;
  seq := 0;
  IF p_name IS NULL THEN
    UPDATE client_facts SET cut_off_ms = NULL WHERE cut_off_ms IS NOT NULL;
  ELSE
    IF (SELECT count(*) FROM client_facts) >= p_most THEN
      DELETE FROM client_facts
        WHERE COALESCE(cut_off_ms, 0) <= 0 AND COALESCE(form_works, 0) <= 0;
    END IF;
    INSERT INTO client_facts AS f (name, version, transport, cut_off_ms, form_works)
      SELECT p_name, p_version, p_transport, CASE WHEN NOT p_is_form THEN p_fact END,
          CASE WHEN p_is_form THEN p_fact END
        WHERE (SELECT count(*) FROM client_facts) < p_most
          OR EXISTS (SELECT FROM client_facts c WHERE c.name = p_name AND c.version = p_version
                     AND c.transport = p_transport)
      ON CONFLICT (name, version, transport) DO UPDATE
        SET cut_off_ms = CASE WHEN p_is_form THEN f.cut_off_ms ELSE p_fact END,
          form_works = CASE WHEN p_is_form THEN p_fact ELSE f.form_works END;
  END IF;
  said := sayso_said('D', 0);
END $f$;
