-- SPDX-License-Identifier: Apache-2.0
-- Whose jobs wait or run, with their limits. Who they are is told to the platform alone; to a tenant, which of them it is.
CREATE OR REPLACE FUNCTION queue_tenants(most bigint)
RETURNS TABLE (tenant_id uuid, is_mine boolean, owner uuid, name text, slots_limit bigint, gpus_limit bigint, guarded boolean)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
  mine uuid := nullif(current_setting('app.tenant', true), '')::uuid;
  is_platform boolean := coalesce(mine = '00000000-0000-0000-0000-000000000000', false);
BEGIN
  RETURN QUERY
  SELECT queue_alias(t.tenant_id::text), coalesce(t.tenant_id = mine, false), CASE WHEN is_platform THEN t.tenant_id END,
         CASE WHEN is_platform THEN t.name ELSE '' END, coalesce(s.hard_limit, 0), coalesce(g.hard_limit, 0),
             coalesce(s.guarded, false)
    FROM tenant t
    LEFT JOIN quota s ON s.tenant_id = t.tenant_id AND s.resource = 'slots'
    LEFT JOIN quota g ON g.tenant_id = t.tenant_id AND g.resource = 'gpus'
   WHERE t.state = 'ACTIVE'
     AND (t.tenant_id = mine OR EXISTS (SELECT FROM job j WHERE j.tenant_id = t.tenant_id AND j.queued)
          OR EXISTS (SELECT FROM attempt a WHERE a.tenant_id = t.tenant_id AND a.live))
   ORDER BY 1 LIMIT most;
END $$;
SELECT falaj_system_function('queue_tenants', 'falaj_app');
