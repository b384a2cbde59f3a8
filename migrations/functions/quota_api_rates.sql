-- SPDX-License-Identifier: Apache-2.0
-- The few tenants with a rate of their own, for the memory of each falaj-api.
CREATE OR REPLACE FUNCTION quota_api_rates() RETURNS TABLE (tenant_id uuid, per_minute bigint)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT q.tenant_id, q.hard_limit FROM quota q WHERE q.resource = 'api_rate_per_minute' ORDER BY 1;
END $$;
SELECT falaj_system_function('quota_api_rates', 'falaj_app');
