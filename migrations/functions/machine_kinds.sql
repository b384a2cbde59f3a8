-- SPDX-License-Identifier: Apache-2.0
-- The ready machines with what every attempt holds of them, alike ones together, those of the pool and with most room first:
-- never whose it is.
CREATE OR REPLACE FUNCTION machine_kinds(in_pool text, most bigint)
RETURNS TABLE (zone text, pool text, flavor text, gpu_model text, gpu_shared boolean, programs boolean, slots bigint, gpus bigint,
               cpu_milli bigint, memory_bytes bigint, used_slots bigint, used_gpus bigint, used_cpu_milli bigint,
               used_memory_bytes bigint, held text, machines bigint)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT n.zone, n.pool, n.flavor, n.gpu_model, n.gpu_shared, n.programs, n.slots, n.gpus, n.cpu_milli, n.memory_bytes,
         coalesce(a.slots, 0), coalesce(a.gpus, 0), coalesce(a.cpu_milli, 0), coalesce(a.memory_bytes, 0),
         coalesce(a.held, ''), count(*)
    FROM node n LEFT JOIN (
      SELECT x.node_id, sum(x.slots)::bigint AS slots, sum(x.gpus)::bigint AS gpus, sum(x.cpu_milli)::bigint AS cpu_milli,
             sum(x.memory_bytes)::bigint AS memory_bytes,
             string_agg(x.devices || ':' || x.gpus || ':' || x.gpu_milli, ',') FILTER (WHERE x.gpus > 0) AS held
        FROM machine_hold x GROUP BY x.node_id) a ON a.node_id = n.node_id
   WHERE n.state = 'READY' GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
   ORDER BY n.pool = in_pool DESC, n.slots - coalesce(a.slots, 0) DESC, n.gpus - coalesce(a.gpus, 0) DESC LIMIT most;
END $$;
SELECT falaj_system_function('machine_kinds', 'falaj_app');
