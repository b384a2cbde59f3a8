-- SPDX-License-Identifier: Apache-2.0
-- Gives the SECURITY DEFINER functions of a name (all parameter lists of it) to falaj_system and lets exactly these roles call them,
-- whatever was granted before:
--   SELECT falaj_system_function('authn_token', 'falaj_app');
CREATE OR REPLACE FUNCTION falaj_system_function(f name, VARIADIC callers name[] DEFAULT '{}') RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  p record;
  r name;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_proc x WHERE x.proname = f AND x.pronamespace = 'public'::regnamespace AND x.prosecdef) THEN
    RAISE EXCEPTION 'there is no SECURITY DEFINER function % to give to falaj_system', f;
  END IF;
  FOR p IN SELECT x.oid::regprocedure AS sig, x.proacl, x.proowner FROM pg_proc x
            WHERE x.proname = f AND x.pronamespace = 'public'::regnamespace LOOP
    IF pg_get_userbyid(p.proowner) <> 'falaj_system' THEN
      GRANT CREATE ON SCHEMA public TO falaj_system;     -- a new owner must be allowed to create where the function is
      EXECUTE format('ALTER FUNCTION %s OWNER TO falaj_system', p.sig);
      REVOKE CREATE ON SCHEMA public FROM falaj_system;
    END IF;
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC, falaj_owner', p.sig);
    FOR r IN SELECT DISTINCT pg_get_userbyid(a.grantee) FROM aclexplode(p.proacl) a
              WHERE a.grantee NOT IN (0, p.proowner, 'falaj_system'::regrole) AND pg_get_userbyid(a.grantee) <> ALL (callers) LOOP
      EXECUTE format('REVOKE ALL ON FUNCTION %s FROM %I', p.sig, r);
    END LOOP;
    FOREACH r IN ARRAY callers LOOP
      EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', p.sig, r);
    END LOOP;
  END LOOP;
END $$;
