-- SPDX-License-Identifier: Apache-2.0
-- How much of a machine is taken by live attempts. In a tenant's scope there is no row: what others run is not told by sums either.
CREATE OR REPLACE FUNCTION node_load(node uuid) RETURNS TABLE (used_slots bigint, used_gpus bigint, running bigint)
LANGUAGE sql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT coalesce(sum(a.slots), 0)::bigint, coalesce(sum(a.gpus), 0)::bigint, count(*) FROM machine_hold a WHERE a.node_id = node
  HAVING current_setting('app.tenant')::uuid = '00000000-0000-0000-0000-000000000000'
$$;
SELECT falaj_system_function('node_load', 'falaj_app');
