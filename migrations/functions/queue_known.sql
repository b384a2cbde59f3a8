-- SPDX-License-Identifier: Apache-2.0
-- Has the caller's tenant a queue of that name (job_names_unknown)? Asked by programs of a release before.
CREATE OR REPLACE FUNCTION queue_known(in_name text) RETURNS boolean
LANGUAGE sql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT NOT EXISTS (SELECT FROM job_names_unknown(ARRAY[current_setting('app.tenant')::uuid], ARRAY[in_name], '{}', '{}', '{}'))
$$;
SELECT falaj_system_function('queue_known', 'falaj_app');
