-- SPDX-License-Identifier: Apache-2.0
-- What authentication needs to know of a user, whichever way it has proved itself: see tenants/principal_load.h. One row or none; the
-- caller judges states and conditions. At most 256 bindings count.
CREATE OR REPLACE FUNCTION authn_principal(t uuid, u uuid)
RETURNS TABLE (tenant_id uuid, user_id uuid, tenant_name text, tenant_state text, home_zone text, user_name text, user_kind text,
               user_state text, allowed_zones text[], bindings jsonb, authz_rev bigint)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT n.tenant_id, a.user_id, n.name, n.state, n.home_zone, a.name, a.kind, a.state, n.allowed_zones,
         (SELECT coalesce(jsonb_agg(b.j), '[]')
            FROM (SELECT bindings_json(r) AS j FROM role_binding r WHERE r.tenant_id = t AND r.user_id = u
                   ORDER BY r.role, r.binding_id LIMIT 256) b),
         n.authz_rev
    FROM app_user a JOIN tenant n ON n.tenant_id = a.tenant_id
   WHERE a.tenant_id = t AND a.user_id = u;
END $$;
SELECT falaj_system_function('authn_principal', 'falaj_app');
