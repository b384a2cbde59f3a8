-- SPDX-License-Identifier: Apache-2.0
-- The projects that the transaction may see; NULL: all of the tenant.
CREATE OR REPLACE FUNCTION projects_visible() RETURNS uuid[] LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS
  $$ SELECT nullif(current_setting('app.projects', true), '')::uuid[] $$;
