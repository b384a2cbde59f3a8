-- SPDX-License-Identifier: Apache-2.0
-- The array of each of these jobs that is a task of one, by its place among those asked for.
CREATE OR REPLACE FUNCTION job_array_ids(tenants uuid[], jobs uuid[]) RETURNS TABLE (ord bigint, array_id uuid)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  RETURN QUERY SELECT i.ord, t.array_id FROM unnest(tenants, jobs) WITH ORDINALITY AS i(tenant_id, job_id, ord)
    JOIN array_task t ON t.tenant_id = i.tenant_id AND t.job_id = i.job_id;
END $$;
SELECT falaj_system_function('job_array_ids', 'falaj_app');
