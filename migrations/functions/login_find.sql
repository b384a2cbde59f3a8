-- SPDX-License-Identifier: Apache-2.0
-- The account that a name in a tenant stands for, before anybody is signed in. One row or none.
CREATE OR REPLACE FUNCTION login_find(tenant_name text, user_name text)
RETURNS TABLE (tenant_id uuid, tenant_state text, user_id uuid, user_state text, phc text, zone text, has_totp boolean)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT t.tenant_id, t.state, u.user_id, u.state, p.phc, p.zone,
         EXISTS (SELECT FROM totp o WHERE o.tenant_id = u.tenant_id AND o.user_id = u.user_id AND o.confirmed_at IS NOT NULL)
    FROM tenant t
    JOIN app_user u ON u.tenant_id = t.tenant_id AND u.name = user_name AND u.kind = 'person'
    JOIN password p ON p.tenant_id = u.tenant_id AND p.user_id = u.user_id
   WHERE t.name = tenant_name;
END $$;
SELECT falaj_system_function('login_find', 'falaj_app');
