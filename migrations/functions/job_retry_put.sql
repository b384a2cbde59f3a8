-- SPDX-License-Identifier: Apache-2.0
-- What jobs that this transaction has just stored say of retries: a statement of its own, because few jobs say anything and
-- job_submit_many is on the way of all. Jobs of other transactions are left alone.
CREATE OR REPLACE FUNCTION job_retry_put(tenants uuid[], jobs uuid[], retries text[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  UPDATE job SET retry = i.retry::jsonb FROM unnest(tenants, jobs, retries) AS i(tenant_id, job_id, retry)
   WHERE job.tenant_id = i.tenant_id AND job.job_id = i.job_id AND job.submitted_xid = pg_current_xact_id() $$;
SELECT falaj_system_function('job_retry_put', 'falaj_app', 'falaj_scheduler');
