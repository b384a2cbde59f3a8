-- SPDX-License-Identifier: Apache-2.0
-- Which tenant an invitation belongs to; everything else is read in that tenant's scope.
CREATE OR REPLACE FUNCTION invitation_find(token_hash bytea) RETURNS TABLE (tenant_id uuid, tenant_name text, tenant_state text)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT i.tenant_id, t.name, t.state FROM invitation i JOIN tenant t ON t.tenant_id = i.tenant_id WHERE i.hash = token_hash;
END $$;
SELECT falaj_system_function('invitation_find', 'falaj_app');
