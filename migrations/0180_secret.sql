-- SPDX-License-Identifier: Apache-2.0
-- 0180 - secrets that jobs may use: a name, and versions whose values are sealed objects nobody reads back.
-- N-1: additive; the release before makes no objects of this kind and hands none out.
SET LOCAL ROLE falaj_owner;
ALTER TABLE object DROP CONSTRAINT object_kind_check,
  ADD CONSTRAINT object_kind_check CHECK (kind IN ('dataset', 'model', 'checkpoint', 'artifact', 'part', 'secret'));

CREATE TABLE secret (
  tenant_id       uuid NOT NULL REFERENCES tenant,
  secret_id       uuid NOT NULL,
  project_id      uuid,                         -- NULL: of the tenant as a whole
  name            text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  description     text NOT NULL DEFAULT '' CHECK (length(description) <= 256),
  zone            text NOT NULL REFERENCES zone,
  state           text NOT NULL DEFAULT 'ACTIVE' CHECK (state IN ('ACTIVE', 'DISABLED')),
  latest_version  bigint NOT NULL DEFAULT 0 CHECK (latest_version >= 0),       -- 0: it has no value yet
  last_used_at    timestamptz,
  version         bigint NOT NULL DEFAULT 1,
  created_by      uuid NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, secret_id),
  FOREIGN KEY (tenant_id, project_id) REFERENCES project
);
COMMENT ON TABLE secret IS 'Names of secrets, each of one zone; a project''s own come before the tenant''s of that name';
CREATE UNIQUE INDEX secret_once ON secret (tenant_id, coalesce(project_id, '00000000-0000-0000-0000-000000000000'::uuid), name);
SELECT falaj_tenant_table('secret');
GRANT SELECT, INSERT, UPDATE, DELETE ON secret TO falaj_app;
GRANT SELECT, UPDATE (last_used_at) ON secret TO falaj_worker_api;
GRANT SELECT ON secret TO falaj_system;

CREATE TABLE secret_version (
  tenant_id   uuid NOT NULL,
  secret_id   uuid NOT NULL,
  version     bigint NOT NULL CHECK (version > 0),
  object_id   uuid NOT NULL,
  created_by  uuid NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, secret_id, version),
  UNIQUE (tenant_id, object_id),
  FOREIGN KEY (tenant_id, secret_id) REFERENCES secret,
  FOREIGN KEY (tenant_id, object_id) REFERENCES object
);
COMMENT ON TABLE secret_version IS 'Values of secrets, as sealed objects';
SELECT falaj_tenant_table('secret_version');
CREATE POLICY in_projects ON secret_version AS RESTRICTIVE TO falaj_app USING (projects_all() OR EXISTS (
  SELECT FROM secret s WHERE s.tenant_id = secret_version.tenant_id AND s.secret_id = secret_version.secret_id));
GRANT SELECT, INSERT, DELETE ON secret_version TO falaj_app;
GRANT SELECT ON secret_version TO falaj_worker_api, falaj_system;
SELECT audit_guard_tables();
