-- SPDX-License-Identifier: Apache-2.0
-- Of these zones of tenants, in which all keys up to a version were ordered destroyed, those where this database has one of
-- them back that opens: a backup from before was restored. A key made after the order is another one, whatever its number.
CREATE OR REPLACE FUNCTION key_shreds_undone(tenants uuid[], zones text[], versions bigint[], ordered timestamptz[])
RETURNS TABLE (tenant_id uuid, zone text)
LANGUAGE sql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT DISTINCT k.tenant_id, k.zone FROM unnest(tenants, zones, versions, ordered) AS o(t, z, v, at)
    JOIN tenant_key k ON k.tenant_id = o.t AND k.zone = o.z AND k.version <= o.v AND k.created_at <= o.at
   WHERE k.state NOT IN ('DESTROY_SCHEDULED', 'DESTROYED')
$$;
SELECT falaj_system_function('key_shreds_undone', 'falaj_app');
