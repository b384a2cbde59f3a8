-- SPDX-License-Identifier: Apache-2.0
-- How many machines jobs that this transaction has just stored want, at least and at most: as job_nodes_put, which is that of the
-- release before, with the second number.
CREATE OR REPLACE FUNCTION job_bounds_put(tenants uuid[], jobs uuid[], nodess bigint[], mosts bigint[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  UPDATE job SET nodes = i.nodes, nodes_max = i.most
    FROM unnest(tenants, jobs, nodess, mosts) AS i(tenant_id, job_id, nodes, most)
   WHERE job.tenant_id = i.tenant_id AND job.job_id = i.job_id AND job.submitted_xid = pg_current_xact_id() $$;
SELECT falaj_system_function('job_bounds_put', 'falaj_app', 'falaj_scheduler');
