-- SPDX-License-Identifier: Apache-2.0
-- Carries out the platform's approved appointment of a compliance officer in a tenant: the account loses its other roles and
-- every credential, and is vouched for. Called in the platform's scope; true when it did something.
CREATE OR REPLACE FUNCTION tenant_officer(t uuid, u uuid, binding uuid, role_name text, by_user uuid, approved_by uuid,
    event uuid,
                                          event_body bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE tenant SET authz_rev = authz_rev + 1 WHERE tenant_id = t AND home_zone IS NOT NULL AND state = 'ACTIVE';
  IF NOT FOUND OR NOT EXISTS (SELECT FROM app_user WHERE tenant_id = t AND user_id = u AND kind = 'person' AND state =
      'ACTIVE') THEN
    RETURN false;
  END IF;
  DELETE FROM role_binding b WHERE b.tenant_id = t AND b.user_id = u AND b.role <> role_name;
  INSERT INTO role_binding (tenant_id, binding_id, user_id, role, created_by)
  SELECT t, binding, u, role_name, by_user WHERE NOT EXISTS (SELECT FROM role_binding b WHERE b.tenant_id = t AND b.user_id = u);
  PERFORM person_vouch(t, u, approved_by);
  INSERT INTO audit_event (tenant_id, event_id, body) VALUES (t, event, event_body);
  RETURN true;
END $$;
SELECT falaj_system_function('tenant_officer', 'falaj_app');
