-- SPDX-License-Identifier: Apache-2.0
-- How many machines jobs that this transaction has just stored want: a statement of its own, because few want more than one and
-- job_submit_many is on the way of all. Jobs of other transactions are left alone. Their shape follows (job_reshape).
CREATE OR REPLACE FUNCTION job_nodes_put(tenants uuid[], jobs uuid[], nodess bigint[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  UPDATE job SET nodes = i.nodes FROM unnest(tenants, jobs, nodess) AS i(tenant_id, job_id, nodes)
   WHERE job.tenant_id = i.tenant_id AND job.job_id = i.job_id AND job.submitted_xid = pg_current_xact_id() $$;
SELECT falaj_system_function('job_nodes_put', 'falaj_app', 'falaj_scheduler');
