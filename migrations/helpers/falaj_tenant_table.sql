-- SPDX-License-Identifier: Apache-2.0
-- The walls of a table whose rows belong to tenants: row-level security, forced on the owner too; falaj_app sees the rows of the
-- transaction's tenant (app.tenant), the other programs all. With a project_id column falaj_app is held to its projects as well
-- (app.projects). Grants follow in the migration: who may do what is the table's own.
--   SELECT falaj_tenant_table('label');
CREATE OR REPLACE FUNCTION falaj_tenant_table(t regclass) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = t AND a.attname = 'tenant_id' AND a.attnotnull AND NOT a.attisdropped) THEN
    RAISE EXCEPTION 'table % has no column tenant_id uuid NOT NULL', t;
  END IF;
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', t);
  EXECUTE format('CREATE POLICY own_tenant ON %s TO falaj_app USING (tenant_id = current_setting(''app.tenant'')::uuid)', t);
  EXECUTE format('CREATE POLICY system ON %s TO falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer, falaj_owner USING (true)', t);
  IF EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = t AND a.attname = 'project_id' AND NOT a.attisdropped) THEN
    EXECUTE format('CREATE POLICY in_projects ON %s AS RESTRICTIVE TO falaj_app USING (project_visible(project_id))', t);
  END IF;
END $$;
