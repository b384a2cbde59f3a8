-- SPDX-License-Identifier: Apache-2.0
-- Who holds this token? One row or none; the caller judges state, expiry and roles.
CREATE OR REPLACE FUNCTION authn_token(token_hash bytea)
RETURNS TABLE (tenant_id uuid, user_id uuid, tenant_name text, tenant_state text, home_zone text, user_name text, user_kind text,
               user_state text, allowed_zones text[], bindings jsonb, authz_rev bigint,
               token_id uuid, scopes text[], expires_at timestamptz, revoked_at timestamptz, cidrs text[], zones text[])
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT p.tenant_id, p.user_id, p.tenant_name, p.tenant_state, p.home_zone, p.user_name, p.user_kind, p.user_state, p.allowed_zones,
         p.bindings, p.authz_rev, k.token_id, k.scopes, k.expires_at, k.revoked_at, k.cidrs::text[], k.zones
    FROM api_token k CROSS JOIN LATERAL authn_principal(k.tenant_id, k.user_id) p
   WHERE k.hash = token_hash;
END $$;
SELECT falaj_system_function('authn_token', 'falaj_app');
