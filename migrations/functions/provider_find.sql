-- SPDX-License-Identifier: Apache-2.0
-- Where somebody who is not known yet wants to sign in.
CREATE OR REPLACE FUNCTION provider_find(tenant_name text, provider_name text)
RETURNS TABLE (tenant_id uuid, tenant_state text, provider_id uuid)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT t.tenant_id, t.state, p.provider_id FROM tenant t JOIN identity_provider p ON p.tenant_id = t.tenant_id
   WHERE t.name = tenant_name AND p.name = provider_name AND p.state = 'ACTIVE';
END $$;
SELECT falaj_system_function('provider_find', 'falaj_app');
