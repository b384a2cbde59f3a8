-- SPDX-License-Identifier: Apache-2.0
-- A new tenant with all it starts with: first administrator and token, quotas, key of its home zone, first audit event.
-- Called by falaj-api in the platform's scope; the caller holds tenant:create.
CREATE OR REPLACE FUNCTION tenant_create(
  t uuid, tenant_name text, shown_name text, home text, zones text[], admin_id uuid, admin_name text, binding uuid, role_name text,
  by_user uuid, token uuid, token_hash bytea, token_hint text, token_until timestamptz, key_wrapped bytea, key_root bigint,
  key_provider text, event uuid, event_body bytea, shown_name_ar text DEFAULT '') RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  INSERT INTO tenant (tenant_id, name, display_name, display_name_ar, home_zone, allowed_zones)
    VALUES (t, tenant_name, shown_name, shown_name_ar, home, zones);
  INSERT INTO app_user (tenant_id, user_id, name, created_by) VALUES (t, admin_id, admin_name, by_user);
  INSERT INTO role_binding (tenant_id, binding_id, user_id, role, created_by) VALUES (t, binding, admin_id, role_name, by_user);
  INSERT INTO api_token (tenant_id, token_id, user_id, name, hash, hint, expires_at)
    VALUES (t, token, admin_id, 'first administrator', token_hash, token_hint, token_until);
  INSERT INTO quota (tenant_id, resource, hard_limit) VALUES
    (t, 'jobs', 10000), (t, 'slots', 64), (t, 'gpus', 8), (t, 'stored_bytes', 10737418240), (t, 'objects', 100000);
  INSERT INTO tenant_key (tenant_id, zone, version, state, wrapped, root_version, provider)
    VALUES (t, home, 1, 'PRIMARY', key_wrapped, key_root, key_provider);
  INSERT INTO audit_event (tenant_id, event_id, body) VALUES (t, event, event_body);
END $$;
SELECT falaj_system_function('tenant_create', 'falaj_app');
