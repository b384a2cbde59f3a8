-- SPDX-License-Identifier: Apache-2.0
-- 0014 - every key that hangs on another, wherever its row is: what a rewrap moves and what keeps an old version from being destroyed.
-- A table that keeps a key wrapped by a tenant's key joins the view; one that keeps a key wrapped by a root joins root_key_users.
-- N-1: additive.
SET LOCAL ROLE falaj_owner;

CREATE VIEW wrapped_data_key WITH (security_invoker = true) AS
  SELECT d.tenant_id, d.dek_id AS key_id, d.zone, d.key_version, d.wrapped, o.kind, o.object_id, o.version AS object_version, false AS is_person
    FROM dek d JOIN object o ON o.tenant_id = d.tenant_id AND o.object_id = d.object_id
   WHERE d.wrapped IS NOT NULL
  UNION ALL
  SELECT s.tenant_id, s.key_id, s.zone, s.key_version, s.wrapped, 'audit-subject', s.key_id, 1, true
    FROM audit_subject_key s WHERE s.wrapped IS NOT NULL;
GRANT SELECT ON wrapped_data_key TO falaj_app, falaj_scheduler;
GRANT SELECT, UPDATE ON audit_subject_key TO falaj_scheduler;
GRANT SELECT, UPDATE ON auth_key TO falaj_scheduler;
CREATE INDEX audit_subject_key_version ON audit_subject_key (tenant_id, zone, key_version, key_id);

CREATE OR REPLACE FUNCTION root_key_users(in_zone text)
RETURNS TABLE (root_version bigint, keys bigint)
LANGUAGE sql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT u.root_version, count(*) FROM (
    SELECT k.root_version FROM tenant_key k WHERE k.zone = in_zone AND k.wrapped IS NOT NULL AND k.tier = 'wrapped'
    UNION ALL
    SELECT a.root_version FROM auth_key a WHERE a.zone = in_zone) u GROUP BY 1 ORDER BY 1
$$;
GRANT SELECT ON auth_key TO falaj_system;
SELECT audit_guard_tables();
