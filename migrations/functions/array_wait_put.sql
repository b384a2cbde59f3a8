-- SPDX-License-Identifier: Apache-2.0
-- Which arrays the jobs wait for that this transaction has just stored: a statement of its own, because few do and
-- job_submit_many is on the way of all. Jobs of other transactions are left alone.
CREATE OR REPLACE FUNCTION array_wait_put(tenants uuid[], jobs uuid[], arrays uuid[], types text[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  WITH i AS MATERIALIZED (
    SELECT DISTINCT u.tenant_id, u.job_id, u.array_id, u.type
      FROM unnest(tenants, jobs, arrays, types) AS u(tenant_id, job_id, array_id, type)
      JOIN job ON job.tenant_id = u.tenant_id AND job.job_id = u.job_id AND job.submitted_xid = pg_current_xact_id()),
  d AS (INSERT INTO array_dependency (tenant_id, job_id, array_id, type) SELECT tenant_id, job_id, array_id, type FROM i)
  UPDATE job SET not_before = 'infinity', reason = 'Dependency' FROM (SELECT DISTINCT tenant_id, job_id FROM i) x
   WHERE job.tenant_id = x.tenant_id AND job.job_id = x.job_id $$;
SELECT falaj_system_function('array_wait_put', 'falaj_app', 'falaj_scheduler');
