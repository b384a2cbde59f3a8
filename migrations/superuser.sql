-- SPDX-License-Identifier: Apache-2.0
-- superuser.sql - notes changes of the schema, by whomever. Run by a superuser in Falaj's database after the migrations of 0012 or later
-- (falaj dev does it); idempotent. In production: psql -U postgres -d falaj -f migrations/superuser.sql
--
-- An event trigger writes into audit_shadow, and the sequencer makes audit.shadow events of the rows: op is the command's tag, the table is
-- the object, and the first row's key tells what guards a table after it: row-level security, and triggers that are switched off.
-- Not seen, because PostgreSQL calls no event trigger for it: commands on roles, databases and event triggers themselves.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_event_trigger WHERE evtname = 'audit_ddl' AND evtenabled = 'A')
     AND EXISTS (SELECT FROM pg_event_trigger WHERE evtname = 'audit_ddl_drop' AND evtenabled = 'A') THEN
    RETURN;
  END IF;
  DROP EVENT TRIGGER IF EXISTS audit_ddl;
  DROP EVENT TRIGGER IF EXISTS audit_ddl_drop;

  CREATE OR REPLACE FUNCTION audit_ddl_note() RETURNS event_trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $f$
  DECLARE o record;
  BEGIN
    FOR o IN
      SELECT c.object_identity AS name, TG_TAG AS op,
             CASE WHEN c.object_type IN ('table', 'trigger', 'policy') THEN coalesce((
               SELECT format('rls=%s forced=%s off=%s', t.relrowsecurity, t.relforcerowsecurity,
                        (SELECT string_agg(g.tgname, ',' ORDER BY g.tgname) FROM pg_trigger g WHERE g.tgrelid = t.oid AND g.tgenabled = 'D'))
                 FROM pg_class t WHERE c.classid = 'pg_class'::regclass AND t.oid = c.objid), '') ELSE '' END AS state
        FROM pg_event_trigger_ddl_commands() c
       WHERE TG_EVENT = 'ddl_command_end' AND c.schema_name IS DISTINCT FROM 'pg_temp'
    LOOP
      PERFORM audit_ddl_write(o.name, o.op, o.state);
    END LOOP;
  END $f$;

  CREATE OR REPLACE FUNCTION audit_ddl_note_drop() RETURNS event_trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $f$
  DECLARE o record;
  BEGIN
    FOR o IN SELECT d.object_identity AS name FROM pg_event_trigger_dropped_objects() d WHERE d.original AND NOT d.is_temporary LOOP
      PERFORM audit_ddl_write(o.name, TG_TAG, 'dropped');
    END LOOP;
  END $f$;

  CREATE OR REPLACE FUNCTION audit_ddl_write(name text, op text, state text) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $f$
    INSERT INTO public.audit_shadow (tenant_id, table_name, op, login, address, program, statement_sha, row_key)
    VALUES ('00000000-0000-0000-0000-000000000000', coalesce(name, ''), op, session_user, host(inet_client_addr()),
            coalesce(current_setting('application_name', true), ''), sha256(convert_to(current_query(), 'UTF8')), state)
  $f$;

  GRANT CREATE ON SCHEMA public TO falaj_system;
  ALTER FUNCTION audit_ddl_note() OWNER TO falaj_system;
  ALTER FUNCTION audit_ddl_note_drop() OWNER TO falaj_system;
  ALTER FUNCTION audit_ddl_write(text, text, text) OWNER TO falaj_system;
  REVOKE CREATE ON SCHEMA public FROM falaj_system;
  REVOKE ALL ON FUNCTION audit_ddl_note(), audit_ddl_note_drop(), audit_ddl_write(text, text, text) FROM PUBLIC;

  CREATE EVENT TRIGGER audit_ddl ON ddl_command_end EXECUTE FUNCTION audit_ddl_note();
  CREATE EVENT TRIGGER audit_ddl_drop ON sql_drop EXECUTE FUNCTION audit_ddl_note_drop();
  ALTER EVENT TRIGGER audit_ddl ENABLE ALWAYS;
  ALTER EVENT TRIGGER audit_ddl_drop ENABLE ALWAYS;
END $$;
