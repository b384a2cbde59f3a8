-- SPDX-License-Identifier: Apache-2.0
-- 0118 - named views of lists: filters, order and columns that a person keeps, for itself or for the whole tenant.
-- N-1: additive; the release before keeps them in the browser.
SET LOCAL ROLE falaj_owner;
CREATE TABLE saved_view (
  tenant_id  uuid NOT NULL,
  view_id    uuid NOT NULL,
  owner_id   uuid NOT NULL,
  list       text NOT NULL CHECK (length(list) BETWEEN 1 AND 128),
  name       text NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
  query      text NOT NULL CHECK (length(query) <= 4096),
  shared     boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, view_id),
  UNIQUE (tenant_id, owner_id, list, name),
  FOREIGN KEY (tenant_id, owner_id) REFERENCES app_user (tenant_id, user_id)
);
COMMENT ON TABLE saved_view IS 'Views of lists under a name; one that is shared is seen by everybody of its tenant';
CREATE INDEX saved_view_shared ON saved_view (tenant_id, list) WHERE shared;
SELECT falaj_tenant_table('saved_view');
GRANT SELECT, INSERT, UPDATE, DELETE ON saved_view TO falaj_app;
GRANT SELECT, DELETE ON saved_view TO falaj_system;
SELECT audit_guard_tables();
