-- SPDX-License-Identifier: Apache-2.0
-- When the first of these machines has that much free at the latest, if what runs there runs until its limit and nothing else
-- takes its place; null: what runs until it is told to stop is in the way. A job that has not begun counts from now.
CREATE OR REPLACE FUNCTION machine_room_by(in_zones text[], in_pool text, in_models text, in_slots bigint, in_gpus bigint,
                                           in_cpu_milli bigint, in_memory_bytes bigint) RETURNS timestamptz
LANGUAGE sql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT nullif(min(r.ends_at), 'infinity') FROM (
    SELECT l.ends_at, l.slots - sum(l.held_slots) OVER rest AS slots, l.gpus - sum(l.held_gpus) OVER rest AS gpus,
           l.cpu_milli - sum(l.held_cpu_milli) OVER rest AS cpu_milli,
           l.memory_bytes - sum(l.held_memory_bytes) OVER rest AS memory_bytes,
           l.slots AS all_slots, l.gpus AS all_gpus, l.cpu_milli AS all_cpu_milli, l.memory_bytes AS all_memory_bytes,
           row_number() OVER (PARTITION BY l.node_id ORDER BY l.ends_at DESC, l.attempt_id DESC) = 1 AS is_last
      FROM (SELECT n.node_id, a.attempt_id, n.slots, n.gpus, greatest(n.cpu_milli, n.slots * 1000) AS cpu_milli,
                   greatest(n.memory_bytes, n.slots * 1073741824) AS memory_bytes, a.slots AS held_slots, a.gpus AS held_gpus,
                   a.cpu_milli AS held_cpu_milli, a.memory_bytes AS held_memory_bytes,
                   CASE WHEN job_stays(j.kind) THEN 'infinity'
                        ELSE coalesce(a.started_at, now()) + j.max_runtime_s * interval '1 second' END AS ends_at
              FROM node n JOIN machine_hold a ON a.node_id = n.node_id
              JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id
             WHERE n.state = 'READY' AND n.pool = in_pool AND n.zone = ANY (in_zones)
               AND (in_gpus = 0 OR in_models = '' OR n.gpu_model = ANY (string_to_array(in_models, ',')))) l
    -- What is still held behind the end of this one: those that end later.
    WINDOW rest AS (PARTITION BY l.node_id ORDER BY l.ends_at DESC, l.attempt_id DESC
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) r
   WHERE CASE WHEN r.is_last THEN r.all_slots >= in_slots AND r.all_gpus >= in_gpus AND r.all_cpu_milli >= in_cpu_milli
                                  AND r.all_memory_bytes >= in_memory_bytes
              ELSE r.slots >= in_slots AND r.gpus >= in_gpus AND r.cpu_milli >= in_cpu_milli
                  AND r.memory_bytes >= in_memory_bytes END
$$;
SELECT falaj_system_function('machine_room_by', 'falaj_app');
