-- SPDX-License-Identifier: Apache-2.0
-- How many keys of a zone hang on each root version: the platform counts them without seeing whose they are. A table that keeps a
-- key wrapped by a root joins the union.
CREATE OR REPLACE FUNCTION root_key_users(in_zone text)
RETURNS TABLE (root_version bigint, keys bigint)
LANGUAGE sql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT u.root_version, count(*) FROM (
    SELECT k.root_version FROM tenant_key k WHERE k.zone = in_zone AND k.wrapped IS NOT NULL AND k.tier = 'wrapped'
    UNION ALL
    SELECT a.root_version FROM auth_key a WHERE a.zone = in_zone) u GROUP BY 1 ORDER BY 1
$$;
SELECT falaj_system_function('root_key_users', 'falaj_app', 'falaj_scheduler');
