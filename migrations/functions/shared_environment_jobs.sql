-- SPDX-License-Identifier: Apache-2.0
-- How many jobs of all tenants name this shared image in this zone and have not ended: a number for the platform's staff, who
-- learn nothing else of them. Asked in the platform's scope alone.
CREATE OR REPLACE FUNCTION shared_environment_jobs(image text, of_zone text) RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT CASE WHEN current_setting('app.tenant')::uuid = '00000000-0000-0000-0000-000000000000' THEN (
    SELECT count(*) FROM job j
     WHERE j.spec->>'environment' LIKE 'shared/%' AND j.spec->>'environment' = 'shared/' || image
       AND j.zone = of_zone AND j.finished_at IS NULL) ELSE 0 END
$$;
SELECT falaj_system_function('shared_environment_jobs', 'falaj_app');
