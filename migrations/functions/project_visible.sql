-- SPDX-License-Identifier: Apache-2.0
-- The projects a transaction may see: app.projects, an array's text, set beside app.tenant by db_begin; empty: all of the tenant.
CREATE OR REPLACE FUNCTION project_visible(project uuid) RETURNS boolean LANGUAGE sql STABLE AS
  $$ SELECT coalesce(pg_catalog.current_setting('app.projects', true), '') = ''
         OR project = ANY (nullif(pg_catalog.current_setting('app.projects', true), '')::uuid[]) $$;
