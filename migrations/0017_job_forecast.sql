-- SPDX-License-Identifier: Apache-2.0
-- 0017 - what a tenant may know of the machines and of the queue before and while a job waits. N-1: additive.
SET LOCAL ROLE falaj_owner;
GRANT CREATE ON SCHEMA public TO falaj_system;

-- The ready machines with their room, alike ones together, those of the pool first: what every attempt has booked there, never whose it is.
CREATE FUNCTION machine_room(in_pool text, most bigint)
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

-- How many waiting jobs of the transaction's tenant go before one of that priority and id, counted up to `most`.
CREATE FUNCTION job_ahead(t uuid, id uuid, in_priority bigint, most bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF t IS DISTINCT FROM nullif(current_setting('app.tenant', true), '')::uuid THEN
    RETURN 0;
  END IF;
  RETURN (SELECT count(*) FROM (
    (SELECT FROM job WHERE tenant_id = t AND queued AND priority > in_priority LIMIT most) UNION ALL
    (SELECT FROM job WHERE tenant_id = t AND queued AND priority = in_priority AND job_id < id LIMIT most) LIMIT most) x);
END $$;

DO $$
DECLARE f text;
BEGIN
  FOREACH f IN ARRAY ARRAY['machine_room(text, bigint)', 'job_ahead(uuid, uuid, bigint, bigint)'] LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
    EXECUTE format('ALTER FUNCTION %s OWNER TO falaj_system', f);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM falaj_owner', f);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO falaj_app', f);
  END LOOP;
END $$;
REVOKE CREATE ON SCHEMA public FROM falaj_system;
