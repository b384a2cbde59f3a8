-- SPDX-License-Identifier: Apache-2.0
-- Does the transaction see every project of its tenant?
CREATE OR REPLACE FUNCTION projects_all() RETURNS boolean LANGUAGE sql STABLE AS
  $$ SELECT coalesce(pg_catalog.current_setting('app.projects', true), '') = '' $$;
