-- SPDX-License-Identifier: Apache-2.0
-- What engines (record.h) could lend: machines of any size for so long, and what those lack that it lent within an hour.
-- is_known false: it lent none by which that could be told, so it is tried.
CREATE OR REPLACE FUNCTION engine_shapes() RETURNS TABLE (engine_id uuid, zone text, pool text, name text, machines bigint,
                                                          longest_s bigint, is_known boolean, programs boolean, engines text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT g.engine_id, g.zone, g.pool, g.name, least(g.machines, 64), g.longest_seconds, count(n.node_id) > 0,
         coalesce(bool_or(n.programs), false), coalesce(string_agg(DISTINCT n.engines, ', ') FILTER (WHERE n.engines <> ''), '')
    FROM engine g LEFT JOIN node n
      ON n.zone = g.zone AND n.pool = g.pool AND n.state <> 'QUARANTINED'
     AND n.last_seen_at > clock_timestamp() - interval '1 hour'
     AND left(n.name, length(g.name) + 1) = g.name || '-' AND substr(n.name, length(g.name) + 2) ~ '^[0-9]+$'
   WHERE g.enabled GROUP BY g.engine_id $$;
SELECT falaj_system_function('engine_shapes', 'falaj_app', 'falaj_scheduler');
