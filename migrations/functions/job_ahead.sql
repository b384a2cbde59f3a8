-- SPDX-License-Identifier: Apache-2.0
-- How many waiting jobs of the transaction's tenant go before one of that priority and id, counted up to `most`.
CREATE OR REPLACE FUNCTION job_ahead(t uuid, id uuid, in_priority bigint, most bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF t IS DISTINCT FROM nullif(current_setting('app.tenant', true), '')::uuid THEN
    RETURN 0;
  END IF;
  RETURN (SELECT count(*) FROM (
    (SELECT FROM job WHERE tenant_id = t AND queued AND priority > in_priority LIMIT most) UNION ALL
    (SELECT FROM job WHERE tenant_id = t AND queued AND priority = in_priority AND job_id < id LIMIT most) LIMIT most) x);
END $$;
SELECT falaj_system_function('job_ahead', 'falaj_app');
