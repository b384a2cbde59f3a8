-- SPDX-License-Identifier: Apache-2.0
-- The windows of machines (reservation) for a run ahead of the planner, by machine and time: machines, tenants and projects under
-- their aliases, as functions/queue_machines.sql and queue_jobs.sql tell them; for maintenance the nil id.
CREATE OR REPLACE FUNCTION queue_reserved(most bigint)
RETURNS TABLE (machine uuid, tenant_id uuid, project_id uuid, from_us bigint, until_us bigint)
LANGUAGE sql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT queue_alias(m.node_id::text), coalesce(queue_alias(r.for_tenant::text), '00000000-0000-0000-0000-000000000000'),
         coalesce(queue_alias(r.for_project::text), '00000000-0000-0000-0000-000000000000'),
         (extract(epoch FROM r.from_at) * 1000000)::bigint, (extract(epoch FROM r.until_at) * 1000000)::bigint
    FROM reservation r JOIN reservation_machine m ON m.reservation_id = r.reservation_id
   WHERE r.until_at > now() ORDER BY 1, 4 LIMIT most
$$;
SELECT falaj_system_function('queue_reserved', 'falaj_app');
