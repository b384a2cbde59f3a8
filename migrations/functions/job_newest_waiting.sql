-- SPDX-License-Identifier: Apache-2.0
-- The newest waiting jobs of a tenant that pass the conditions. They are in the order of their queue, by priority and id, so the newest of each
-- priority are taken, and of those the newest.
CREATE OR REPLACE FUNCTION job_newest_waiting(conditions text) RETURNS text LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT format('(WITH RECURSIVE p AS (SELECT max(priority) AS level FROM job WHERE tenant_id = $1 AND queued UNION ALL'
                ' SELECT (SELECT max(priority) FROM job WHERE tenant_id = $1 AND queued AND priority < p.level) FROM p WHERE p.level IS NOT NULL)'
                ' SELECT j.* FROM p CROSS JOIN LATERAL (SELECT job.* FROM job WHERE tenant_id = $1 AND queued AND priority = p.level%s'
                ' ORDER BY job_id DESC LIMIT $15) j) job WHERE true', conditions) $$;
