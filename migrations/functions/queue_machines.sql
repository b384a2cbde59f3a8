-- SPDX-License-Identifier: Apache-2.0
-- The machines that a run ahead of the planner places on, and those that only end what they have: never which machine it is.
-- once: it is here for one lease, as NODE_LENT of scheduler/engines/lent.h says it.
CREATE OR REPLACE FUNCTION queue_machines(most bigint)
RETURNS TABLE (machine uuid, is_ready boolean, zone text, pool text, flavor text, gpu_model text, gpu_shared boolean,
               programs boolean, gangs boolean, gang_programs boolean, engines text, build text, slots bigint,
               gpus bigint, cpu_milli bigint, memory_bytes bigint, once boolean)
LANGUAGE sql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT queue_alias(n.node_id::text), n.state = 'READY', n.zone, n.pool, n.flavor, n.gpu_model, n.gpu_shared, n.programs,
         n.gangs, n.gang_programs, n.engines, n.version || ' ' || n.backend, n.slots, n.gpus, n.cpu_milli, n.memory_bytes,
         EXISTS (SELECT FROM engine e WHERE e.zone = n.zone AND e.pool = n.pool
                    AND left(n.name, length(e.name) + 1) = e.name || '-' AND substr(n.name, length(e.name) + 2) ~ '^[0-9]+$')
    FROM node n
   WHERE n.state = 'READY' OR EXISTS (SELECT FROM machine_hold a WHERE a.node_id = n.node_id)
   ORDER BY n.state = 'READY' DESC, n.node_id LIMIT most
$$;
SELECT falaj_system_function('queue_machines', 'falaj_app');
