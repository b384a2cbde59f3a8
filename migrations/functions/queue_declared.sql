-- SPDX-License-Identifier: Apache-2.0
-- The declared queues of all tenants for a run ahead of the planner, under the names of queue_jobs.
CREATE OR REPLACE FUNCTION queue_declared(most bigint)
RETURNS TABLE (tenant_id uuid, project_id uuid, name text, mode text, stop_policy text, within_cluster_queue text,
               reclaim_within_cohort text, slot_usage bigint, gpu_usage bigint)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
  mine uuid := nullif(current_setting('app.tenant', true), '')::uuid;
BEGIN
  RETURN QUERY
  SELECT queue_alias(q.tenant_id::text), queue_alias(q.project_id::text),
         CASE WHEN q.tenant_id = mine THEN q.name ELSE queue_alias(q.tenant_id || q.name)::text END, q.mode, q.stop_policy,
         q.within_cluster_queue, q.reclaim_within_cohort, q.slot_usage, q.gpu_usage
    FROM queue q LIMIT most;
END $$;
SELECT falaj_system_function('queue_declared', 'falaj_app');
