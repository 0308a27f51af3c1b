-- Before functions are made anew.
FOR made_of IN SELECT p.oid::regprocedure::text FROM pg_proc p
    WHERE p.pronamespace = quote_ident(place)::regnamespace AND p.proname LIKE 'sayso\_%' LOOP
  EXECUTE 'DROP FUNCTION ' || made_of || ' CASCADE';
END LOOP;
DROP TYPE IF EXISTS sayso_reply;
