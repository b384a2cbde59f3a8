-- SPDX-License-Identifier: Apache-2.0
-- The walls of a table that belongs to the platform: falaj_app sees it in the platform's scope (the nil tenant) only, the other
-- programs always.
--   SELECT falaj_platform_table('enrolment');
CREATE OR REPLACE FUNCTION falaj_platform_table(t regclass) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', t);
  EXECUTE format('CREATE POLICY platform ON %s TO falaj_app USING (current_setting(''app.tenant'')::uuid = %L)', t,
                 '00000000-0000-0000-0000-000000000000');
  EXECUTE format('CREATE POLICY system ON %s TO falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer, falaj_owner USING (true)', t);
END $$;
