-- SPDX-License-Identifier: Apache-2.0
-- What lies in a zone, over all tenants, without saying whose: for the platform's evidence report.
CREATE OR REPLACE FUNCTION evidence_zone_stored(zone_code text)
RETURNS TABLE (data_class text, tenants bigint, objects bigint, bytes bigint, key_versions text, providers text)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT o.data_class, count(DISTINCT o.tenant_id), count(*), coalesce(sum(o.stored_bytes), 0)::bigint,
         coalesce(string_agg(DISTINCT 'v' || d.key_version, ' '), ''), coalesce(string_agg(DISTINCT k.provider, ' '), '')
    FROM object o LEFT JOIN dek d ON d.tenant_id = o.tenant_id AND d.object_id = o.object_id
         LEFT JOIN tenant_key k ON k.tenant_id = d.tenant_id AND k.zone = d.zone AND k.version = d.key_version
   WHERE o.zone = zone_code AND o.state = 'COMMITTED' GROUP BY o.data_class;
END $$;
SELECT falaj_system_function('evidence_zone_stored', 'falaj_app');
