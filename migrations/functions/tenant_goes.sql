-- SPDX-License-Identifier: Apache-2.0
-- Whether a tenant is in use: neither suspended nor on its way out.
CREATE OR REPLACE FUNCTION tenant_goes(t uuid) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT EXISTS (SELECT FROM tenant WHERE tenant_id = t AND state = 'ACTIVE') $$;
SELECT falaj_system_function('tenant_goes', 'falaj_scheduler');
