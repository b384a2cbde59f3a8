-- SPDX-License-Identifier: Apache-2.0
-- The rules of all tenants for a run ahead of the planner, under the names of queue_jobs; what is used of them follows from the
-- attempts. A limit of running jobs is one more rule, of whole jobs, as in rules_read.
CREATE OR REPLACE FUNCTION queue_rules(most bigint)
RETURNS TABLE (tenant_id uuid, project_id uuid, place text, resource text, queue text, flavor text, zone text, nominal bigint,
               borrowing_limit bigint, lending_limit bigint, weight bigint, used bigint)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
  mine uuid := nullif(current_setting('app.tenant', true), '')::uuid;
BEGIN
  RETURN QUERY
  SELECT queue_alias(q.tenant_id::text), queue_alias(q.project_id::text), q.place, q.resource,
         CASE WHEN q.queue = '' OR q.tenant_id = mine THEN q.queue ELSE queue_alias(q.tenant_id || q.queue)::text END, q.flavor,
             q.zone,
         q.nominal, coalesce(q.borrowing_limit, -1), coalesce(q.lending_limit, -1), q.weight, 0::bigint
    FROM (SELECT tenant_id, project_id, place, resource, queue, flavor, zone, nominal, borrowing_limit, lending_limit, weight
            FROM quota_rule
          UNION ALL
          SELECT tenant_id, NULL, 'tenant', 'jobs', '', '', '', hard_limit, 0, 0,
              1000 FROM quota WHERE resource = 'running_jobs') q
   ORDER BY 1 LIMIT most;
END $$;
SELECT falaj_system_function('queue_rules', 'falaj_app');
