-- SPDX-License-Identifier: Apache-2.0
-- Guards every table, those of later migrations too when they call it again. Left out: what is written by the thousand and
-- stands for nothing by itself. ALWAYS: session_replication_role does not switch it off. The logins are texts and not names, of 64
-- bytes each, because every statement that writes parses the condition.
CREATE OR REPLACE FUNCTION audit_guard_tables() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  t text;
  ours CONSTANT text := '(session_user::text <> ALL (''{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,'
                        'falaj_retention,falaj_migrate}''::text[]))';
BEGIN
  FOR t IN SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
              AND c.relname NOT IN ('idempotency', 'job_log', 'job_metric', 'audit_cursor', 'audit_task') AND c.relname NOT LIKE 'schema\_%'
              AND NOT EXISTS (SELECT FROM pg_trigger g WHERE g.tgrelid = c.oid AND g.tgname = 'audit_shadow') LOOP
    EXECUTE format('CREATE TRIGGER audit_shadow AFTER %s ON %I FOR EACH ROW WHEN %s EXECUTE FUNCTION audit_shadow_note()',
                   CASE t WHEN 'audit_shadow' THEN 'UPDATE OR DELETE' ELSE 'INSERT OR UPDATE OR DELETE' END, t, ours);
    EXECUTE format('CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON %I FOR EACH STATEMENT WHEN %s EXECUTE FUNCTION audit_shadow_note()',
                   t, ours);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER audit_shadow', t);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER audit_shadow_truncate', t);
  END LOOP;
END $$;
REVOKE ALL ON FUNCTION audit_guard_tables() FROM PUBLIC;
-- Tables that programs write by the thousand and that were guarded when the logins were names.
DO $$
DECLARE t record;
BEGIN
  FOR t IN SELECT c.relname, replace(pg_get_triggerdef(g.oid), 'CREATE TRIGGER', 'CREATE OR REPLACE TRIGGER') AS made
             FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid
            WHERE g.tgname = 'audit_shadow' AND c.relnamespace = 'public'::regnamespace
              AND c.relname IN ('job', 'attempt', 'audit_event') AND pg_get_triggerdef(g.oid) LIKE '%::name[]%' LOOP
    EXECUTE replace(replace(t.made, '::name[]', '::text[]'), 'SESSION_USER <>', 'SESSION_USER::text <>');
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER audit_shadow', t.relname);
  END LOOP;
END $$;
