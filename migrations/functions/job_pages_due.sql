-- SPDX-License-Identifier: Apache-2.0
-- Tenants with `size` jobs behind their last page and below an id, at most `most` of them, those with the oldest jobs first:
-- from where to where their next pages go.
CREATE OR REPLACE FUNCTION job_pages_due(below uuid, size bigint, most bigint) RETURNS TABLE (tenant_id uuid, after_id uuid,
    last_id uuid)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT t.tenant_id, p.after_id, f.job_id
    FROM tenant t
   CROSS JOIN LATERAL (SELECT coalesce((SELECT j.last_id
       FROM job_page j WHERE j.tenant_id = t.tenant_id ORDER BY j.last_id DESC LIMIT 1),
                                       '00000000-0000-0000-0000-000000000000') AS after_id) p
   CROSS JOIN LATERAL (SELECT j.job_id FROM job j WHERE j.tenant_id = t.tenant_id AND j.job_id > p.after_id AND j.job_id < below
                        ORDER BY j.job_id OFFSET size - 1 LIMIT 1) f
   ORDER BY f.job_id LIMIT most $$;
