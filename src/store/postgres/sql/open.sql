-- The beginning of the one statement that makes the schema or brings it up to date (schema.c adds
-- the steps and the functions, and the end). What it refuses it raises under codes of its own; see
-- schema.c. The lock is of this database and schema; from there on the search_path is ours alone.
DO $sayso$
DECLARE
  place text := current_schema();
  ours bigint;
  others bigint;
  behind bigint;
  made_of text;
  made_by text;
BEGIN
  IF current_setting('server_version_num')::integer < 130000 THEN
    RAISE EXCEPTION 'PostgreSQL %', current_setting('server_version') USING ERRCODE = 'SY005';
  END IF;
  IF current_setting('server_encoding') <> 'UTF8' THEN
    RAISE EXCEPTION 'encoding %', current_setting('server_encoding') USING ERRCODE = 'SY004';
  END IF;
  IF place IS NULL THEN
    RAISE EXCEPTION 'search_path %', current_setting('search_path') USING ERRCODE = 'SY006';
  END IF;
  PERFORM set_config('search_path', quote_ident(place) || ', pg_temp', true);
  PERFORM pg_advisory_xact_lock(1935765875, hashtext(place));
  -- What belongs to an extension is nobody's data.
  SELECT count(*) FILTER (WHERE c.relname IN ('asks', 'counter', 'events')), count(*)
    INTO ours, others FROM pg_class c
    WHERE c.relnamespace = quote_ident(place)::regnamespace
      AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass
                      AND d.objid = c.oid AND d.deptype = 'e');
  IF to_regclass(quote_ident(place) || '.sayso') IS NULL THEN
    IF others > 0 THEN
      RAISE EXCEPTION 'schema %', place USING ERRCODE = 'SY002';
    END IF;
    CREATE TABLE sayso (
      "only" integer PRIMARY KEY CHECK ("only" = 1), version bigint NOT NULL,
      functions text NOT NULL);
    INSERT INTO sayso VALUES (1, 0, '');
  END IF;
  SELECT s.version, s.functions INTO behind, made_of FROM sayso s;
  IF behind IS NULL OR behind < 0 OR (behind > 0) <> (ours = 3) OR (behind = 0 AND ours > 0) THEN
    RAISE EXCEPTION 'version % with % of its tables', behind, ours USING ERRCODE = 'SY003';
  END IF;
  -- Its hubs would write what later ones rely on, and not what they rely on.
  IF behind BETWEEN 2 AND 4 THEN
    SELECT string_agg(h.id::text, ', ') INTO made_by FROM hubs h
      WHERE extract(epoch FROM clock_timestamp()) * 1000 - h.seen_ms < 12000;
    IF made_by IS NOT NULL THEN
      RAISE EXCEPTION 'hubs %', made_by USING ERRCODE = 'SY007';
    END IF;
  END IF;
