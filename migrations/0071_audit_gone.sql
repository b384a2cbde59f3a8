-- SPDX-License-Identifier: Apache-2.0
-- 0071 - the audit log names things by id, and people ask by name: what was deleted keeps its name for them, so that
-- "who read it" can be asked afterwards too. Rows come from a trigger (functions/audit_gone_note.sql) and go with their tenant.
-- N-1: the older program neither reads nor writes it.
SET LOCAL ROLE falaj_owner;
CREATE TABLE audit_gone (
  tenant_id  uuid NOT NULL,
  kind       text NOT NULL,
  thing_id   uuid NOT NULL,
  name       text NOT NULL,
  gone_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant_id, thing_id)
);
CREATE INDEX audit_gone_name ON audit_gone (tenant_id, lower(name));
SELECT falaj_tenant_table('audit_gone');
GRANT SELECT ON audit_gone TO falaj_app;
GRANT SELECT, INSERT, DELETE ON audit_gone TO falaj_system;
