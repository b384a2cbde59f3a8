-- SPDX-License-Identifier: Apache-2.0
-- As job_read_many in 0003, with whole rows, so that a later column needs no new function.
CREATE OR REPLACE FUNCTION job_rows(tenants uuid[], jobs uuid[]) RETURNS SETOF job
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  RETURN QUERY SELECT j.* FROM unnest(tenants, jobs) AS i(tenant_id, job_id) JOIN job j ON j.tenant_id = i.tenant_id AND j.job_id = i.job_id;
END $$;
SELECT falaj_system_function('job_rows', 'falaj_app');
