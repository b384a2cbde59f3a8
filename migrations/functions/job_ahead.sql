-- SPDX-License-Identifier: Apache-2.0
-- How many waiting jobs of the transaction's tenant go before one of that class, priority and id, counted up to `most`: by
-- the value of the class, then by priority, then by age. A class that was removed counts as of the value 0.
CREATE OR REPLACE FUNCTION job_ahead(t uuid, id uuid, in_class text, in_priority bigint, most bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  mine bigint := coalesce((SELECT value FROM priority_class WHERE class = in_class), 0);
BEGIN
  IF t IS DISTINCT FROM nullif(current_setting('app.tenant', true), '')::uuid THEN
    RETURN 0;
  END IF;
  RETURN (SELECT count(*) FROM (
    SELECT FROM job LEFT JOIN priority_class c ON c.class = job.class
     WHERE tenant_id = t AND queued AND (coalesce(c.value, 0), priority) >= (mine, in_priority)
       AND ((coalesce(c.value, 0), priority) > (mine, in_priority) OR job_id < id) LIMIT most) x);
END $$;
SELECT falaj_system_function('job_ahead', 'falaj_app');
