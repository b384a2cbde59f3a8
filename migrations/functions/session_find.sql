-- SPDX-License-Identifier: Apache-2.0
-- Who holds this cookie? One row or none; the caller judges states and times.
CREATE OR REPLACE FUNCTION session_find(cookie_hash bytea)
RETURNS TABLE (tenant_id uuid, user_id uuid, tenant_name text, tenant_state text, home_zone text, user_name text, user_kind text,
               user_state text, allowed_zones text[], bindings jsonb, authz_rev bigint,
               session_id uuid, method text, stage text, proved_at timestamptz, mfa_at timestamptz, last_seen timestamptz, until timestamptz,
               ended_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT p.*, s.session_id, s.method, s.stage, s.proved_at, s.mfa_at, s.last_seen, s.until, s.ended_at
    FROM session s CROSS JOIN LATERAL authn_principal(s.tenant_id, s.user_id) p
   WHERE s.hash = cookie_hash;
END $$;
SELECT falaj_system_function('session_find', 'falaj_app');
