-- SPDX-License-Identifier: Apache-2.0
-- Which engine the models of jobs need that this transaction has just stored; most need none and cost no statement.
CREATE OR REPLACE FUNCTION job_engine_put(tenants uuid[], jobs uuid[], engines text[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  UPDATE job SET engine = i.engine
    FROM unnest(tenants, jobs, engines) AS i(tenant_id, job_id, engine)
   WHERE job.tenant_id = i.tenant_id AND job.job_id = i.job_id AND job.submitted_xid = pg_current_xact_id() $$;
SELECT falaj_system_function('job_engine_put', 'falaj_app', 'falaj_scheduler');
