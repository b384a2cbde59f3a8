-- SPDX-License-Identifier: Apache-2.0
-- The ready machines with their room, alike ones together, those of the pool first: what every attempt has booked there, never whose it is.
CREATE OR REPLACE FUNCTION machine_room(in_pool text, most bigint)
RETURNS TABLE (zone text, pool text, flavor text, slots bigint, gpus bigint, free_slots bigint, free_gpus bigint, machines bigint)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT n.zone, n.pool, n.flavor, n.slots, n.gpus, n.slots - coalesce(a.slots, 0)::bigint AS free_slots, n.gpus - coalesce(a.gpus, 0)::bigint AS free_gpus, count(*)
    FROM node n LEFT JOIN (SELECT x.node_id, sum(x.slots) AS slots, sum(x.gpus) AS gpus FROM attempt x WHERE x.live GROUP BY x.node_id) a
      ON a.node_id = n.node_id
   WHERE n.state = 'READY' GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY n.pool = in_pool DESC, 6 DESC, 7 DESC LIMIT most;
END $$;
SELECT falaj_system_function('machine_room', 'falaj_app');
