-- SPDX-License-Identifier: Apache-2.0
-- Where somebody who is not known yet may sign in, by the name of the tenant. No such tenant, and a tenant without providers: no rows.
CREATE OR REPLACE FUNCTION provider_names(tenant_name text) RETURNS TABLE (provider_id uuid, name text)
LANGUAGE sql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT p.provider_id, p.name FROM tenant t JOIN identity_provider p ON p.tenant_id = t.tenant_id
   WHERE t.name = tenant_name AND t.state = 'ACTIVE' AND p.state = 'ACTIVE' ORDER BY p.name LIMIT 100
$$;
SELECT falaj_system_function('provider_names', 'falaj_app');
