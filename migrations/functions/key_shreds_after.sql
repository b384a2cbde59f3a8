-- SPDX-License-Identifier: Apache-2.0
-- In which zones, behind that place, no key of a tenant is left that opens or could be made to: how far, and since when.
CREATE OR REPLACE FUNCTION key_shreds_after(after_tenant uuid, after_zone text, most bigint)
RETURNS TABLE (tenant_id uuid, zone text, version bigint, since timestamptz)
LANGUAGE sql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT k.tenant_id, k.zone, max(k.version), max(greatest(k.created_at, k.disabled_at))
    FROM tenant_key k WHERE (k.tenant_id, k.zone) > (after_tenant, after_zone)
   GROUP BY k.tenant_id, k.zone HAVING bool_and(k.state IN ('DESTROY_SCHEDULED', 'DESTROYED'))
   ORDER BY k.tenant_id, k.zone LIMIT most
$$;
SELECT falaj_system_function('key_shreds_after', 'falaj_app');
