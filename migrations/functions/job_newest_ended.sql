-- SPDX-License-Identifier: Apache-2.0
-- The newest ended jobs below an id ($2) of a tenant ($1), in their order, with the columns that filters look at.
CREATE OR REPLACE FUNCTION job_newest_ended(below uuid) RETURNS text LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT 'SELECT job_id, name, kind, ended, zone, pool, created_by, project_id, submitted_at FROM job WHERE tenant_id = $1 AND ended IS NOT NULL'
      || CASE WHEN below IS NULL THEN '' ELSE ' AND job_id < $2' END || ' ORDER BY job_id DESC' $$;
