-- SPDX-License-Identifier: Apache-2.0
-- Tenants whose grace is over, that nobody holds, and in which nothing runs any more.
CREATE OR REPLACE FUNCTION tenants_due(most bigint) RETURNS TABLE (tenant_id uuid)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT t.tenant_id FROM tenant t
   WHERE t.state = 'DELETING' AND t.delete_after <= now() AND NOT tenant_has_hold(t.tenant_id)
     AND NOT EXISTS (SELECT FROM attempt a WHERE a.tenant_id = t.tenant_id AND a.live)
     AND NOT EXISTS (SELECT FROM job j WHERE j.tenant_id = t.tenant_id AND j.finished_at IS NULL)
   ORDER BY t.delete_after LIMIT most;
END $$;
SELECT falaj_system_function('tenants_due', 'falaj_scheduler');
