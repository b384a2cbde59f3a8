-- SPDX-License-Identifier: Apache-2.0
-- What crossed a zone's border in a time, in numbers: for the evidence of a zone, which names no tenant.
CREATE OR REPLACE FUNCTION evidence_zone_transfers(zone_code text, since timestamptz, until timestamptz)
RETURNS TABLE (from_zone text, to_zone text, data_class text, legal_basis text, transfers bigint, bytes bigint)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT x.from_zone, x.to_zone, x.data_class, coalesce(p.legal_basis, x.rule), count(*), coalesce(sum(x.bytes), 0)::bigint
    FROM transfer x LEFT JOIN transfer_policy p ON p.tenant_id = x.tenant_id AND p.policy_id = x.policy_id
   WHERE zone_code IN (x.from_zone, x.to_zone) AND x.at >= since AND x.at < until GROUP BY 1, 2, 3, 4;
END $$;
SELECT falaj_system_function('evidence_zone_transfers', 'falaj_app');
