-- SPDX-License-Identifier: Apache-2.0
-- The ready machines with what every attempt holds of them, alike ones together, those of the pool and with most room first:
-- never whose it is. kept: their next 64 windows (reservation), as from:until:whose in microseconds since 1970 between
-- commas, by time; whose is - for maintenance and other tenants', * for the own tenant's, else the own project's id.
CREATE OR REPLACE FUNCTION machine_kinds(in_pool text, most bigint)
RETURNS TABLE (zone text, pool text, flavor text, gpu_model text, gpu_shared boolean, programs boolean, gangs boolean,
               gang_programs boolean, engines text, build text, kept text, slots bigint, gpus bigint,
               cpu_milli bigint, memory_bytes bigint,
               used_slots bigint, used_gpus bigint, used_cpu_milli bigint, used_memory_bytes bigint, held text, machines bigint)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
  mine uuid := nullif(current_setting('app.tenant', true), '')::uuid;
BEGIN
  RETURN QUERY
  SELECT n.zone, n.pool, n.flavor, n.gpu_model, n.gpu_shared, n.programs, n.gangs, n.gang_programs, n.engines,
         n.version || ' ' || n.backend,
         coalesce(k.kept, ''), n.slots, n.gpus, n.cpu_milli, n.memory_bytes,
         coalesce(a.slots, 0), coalesce(a.gpus, 0), coalesce(a.cpu_milli, 0), coalesce(a.memory_bytes, 0),
         coalesce(a.held, ''), count(*)
    FROM node n LEFT JOIN (
      SELECT x.node_id, sum(x.slots)::bigint AS slots, sum(x.gpus)::bigint AS gpus, sum(x.cpu_milli)::bigint AS cpu_milli,
             sum(x.memory_bytes)::bigint AS memory_bytes,
             string_agg(x.devices || ':' || x.gpus || ':' || x.gpu_milli, ',') FILTER (WHERE x.gpus > 0) AS held
        FROM machine_hold x GROUP BY x.node_id) a ON a.node_id = n.node_id
    LEFT JOIN (
      SELECT r.node_id, string_agg((extract(epoch FROM r.from_at) * 1000000)::bigint || ':' ||
               (extract(epoch FROM r.until_at) * 1000000)::bigint || ':' ||
               CASE WHEN r.for_tenant IS DISTINCT FROM mine THEN '-' ELSE coalesce(r.for_project::text, '*') END, ','
               ORDER BY r.from_at) AS kept
        FROM (SELECT m.node_id, x.from_at, x.until_at, x.for_tenant, x.for_project,
                     row_number() OVER (PARTITION BY m.node_id ORDER BY x.from_at) AS nth
                FROM reservation x JOIN reservation_machine m ON m.reservation_id = x.reservation_id
               WHERE x.until_at > now()) r
       WHERE r.nth <= 64 GROUP BY r.node_id) k ON k.node_id = n.node_id
   WHERE n.state = 'READY' GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20
   ORDER BY n.pool = in_pool DESC, n.slots - coalesce(a.slots, 0) DESC, n.gpus - coalesce(a.gpus, 0) DESC LIMIT most;
END $$;
SELECT falaj_system_function('machine_kinds', 'falaj_app');
