-- SPDX-License-Identifier: Apache-2.0
-- 0016 - what the platform's staff see of the work on machines: how much and whose, never what; and where people of a tenant may sign in.
-- N-1: functions only.
SET LOCAL ROLE falaj_owner;
GRANT CREATE ON SCHEMA public TO falaj_system;

-- How much of a machine is taken by live attempts. In a tenant's scope there is no row: what others run is not told by sums either.
CREATE FUNCTION node_load(node uuid) RETURNS TABLE (used_slots bigint, used_gpus bigint, running bigint)
LANGUAGE sql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT coalesce(sum(a.slots), 0)::bigint, coalesce(sum(a.gpus), 0)::bigint, count(*) FROM attempt a WHERE a.node_id = node AND a.live
  HAVING current_setting('app.tenant')::uuid = '00000000-0000-0000-0000-000000000000'
$$;

-- The live attempts of a machine, after one of them. Ids, sizes and times; no name, message, spec or data of the tenant.
CREATE FUNCTION node_work(node uuid, behind uuid, most bigint)
RETURNS TABLE (attempt_id uuid, job_id uuid, tenant_id uuid, kind text, zone text, slots bigint, gpus bigint, state text, leased_at timestamptz,
               started_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  IF current_setting('app.tenant')::uuid <> '00000000-0000-0000-0000-000000000000' THEN
    RAISE EXCEPTION 'machines are the platform''s' USING ERRCODE = 'FJ403';
  END IF;
  RETURN QUERY SELECT a.attempt_id, a.job_id, a.tenant_id, j.kind, n.zone, a.slots, a.gpus, a.state, a.leased_at, a.started_at
    FROM attempt a JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id JOIN node n ON n.node_id = a.node_id
   WHERE a.node_id = node AND a.live AND (behind IS NULL OR a.attempt_id > behind) ORDER BY a.attempt_id LIMIT most;
END $$;

-- Where somebody who is not known yet may sign in, by the name of the tenant. No such tenant, and a tenant without providers: no rows.
CREATE FUNCTION provider_names(tenant_name text) RETURNS TABLE (provider_id uuid, name text)
LANGUAGE sql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT p.provider_id, p.name FROM tenant t JOIN identity_provider p ON p.tenant_id = t.tenant_id
   WHERE t.name = tenant_name AND t.state = 'ACTIVE' AND p.state = 'ACTIVE' ORDER BY p.name LIMIT 100
$$;

REVOKE ALL ON FUNCTION node_load(uuid), node_work(uuid, uuid, bigint), provider_names(text) FROM PUBLIC;
ALTER FUNCTION provider_names(text) OWNER TO falaj_system;
ALTER FUNCTION node_load(uuid) OWNER TO falaj_system;
ALTER FUNCTION node_work(uuid, uuid, bigint) OWNER TO falaj_system;
REVOKE ALL ON FUNCTION node_load(uuid), node_work(uuid, uuid, bigint), provider_names(text) FROM falaj_owner;
GRANT EXECUTE ON FUNCTION node_load(uuid), node_work(uuid, uuid, bigint), provider_names(text) TO falaj_app;
REVOKE CREATE ON SCHEMA public FROM falaj_system;
