-- SPDX-License-Identifier: Apache-2.0
-- Every key that hangs on another, wherever its row is: what a rewrap moves and what keeps an old version from being destroyed. A table
-- that keeps a key wrapped by a tenant's key joins the view; one that keeps a key wrapped by a root joins root_key_users.
CREATE OR REPLACE VIEW wrapped_data_key WITH (security_invoker = true) AS
  SELECT d.tenant_id, d.dek_id AS key_id, d.zone, d.key_version, d.wrapped, o.kind, o.object_id, o.version AS object_version, false AS is_person
    FROM dek d JOIN object o ON o.tenant_id = d.tenant_id AND o.object_id = d.object_id
   WHERE d.wrapped IS NOT NULL
  UNION ALL
  SELECT s.tenant_id, s.key_id, s.zone, s.key_version, s.wrapped, 'audit-subject', s.key_id, 1, true
    FROM audit_subject_key s WHERE s.wrapped IS NOT NULL;
GRANT SELECT ON wrapped_data_key TO falaj_app, falaj_scheduler;
