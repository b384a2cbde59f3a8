-- SPDX-License-Identifier: Apache-2.0
-- 0211 - environments: a name for an image that was checked by a job of ours, whose result says what is in it; the keys with
-- which a tenant signs images, and whether it takes others. How an import stands is its job's state, told once.
-- N-1: additive; the release before deletes no data set that an environment needs (functions/content_delete.sql).
SET LOCAL ROLE falaj_owner;
CREATE TABLE environment_key (
  tenant_id   uuid NOT NULL REFERENCES tenant,
  key_id      uuid NOT NULL,
  name        text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  public_key  bytea NOT NULL CHECK (length(public_key) = 32),
  created_by  uuid NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, key_id),
  UNIQUE (tenant_id, name),
  UNIQUE (tenant_id, public_key)
);
COMMENT ON TABLE environment_key IS 'Ed25519 public keys with which a tenant signs digests of images';
SELECT falaj_tenant_table('environment_key');
GRANT SELECT, INSERT, DELETE ON environment_key TO falaj_app;
GRANT SELECT ON environment_key TO falaj_worker_api, falaj_system;

CREATE TABLE environment_policy (
  tenant_id       uuid PRIMARY KEY REFERENCES tenant,
  require_signed  boolean NOT NULL DEFAULT false,
  changed_by      uuid NOT NULL,
  changed_at      timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE environment_policy IS 'What images a tenant lets its programs run in; no row: any';
SELECT falaj_tenant_table('environment_policy');
GRANT SELECT, INSERT, UPDATE ON environment_policy TO falaj_app;
GRANT SELECT ON environment_policy TO falaj_worker_api, falaj_system;

CREATE TABLE environment (
  tenant_id        uuid NOT NULL REFERENCES tenant,
  environment_id   uuid NOT NULL,
  project_id       uuid,                        -- of its data set; NULL: of the tenant as a whole
  name             text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),       -- one name may have many digests
  description      text NOT NULL DEFAULT '' CHECK (length(description) <= 256),
  dataset_id       uuid,                        -- NULL: refused, and its archive is gone
  dataset_version  bigint NOT NULL CHECK (dataset_version > 0),
  object_id        uuid NOT NULL,               -- of the archive
  asked_digest     text NOT NULL DEFAULT '' CHECK (asked_digest ~ '^(sha256:[0-9a-f]{64})?$'),
  allow_setuid     boolean NOT NULL,
  owns_archive     boolean NOT NULL,            -- its data set was made for it and goes with it
  job_id           uuid NOT NULL,               -- of the import
  signature        bytea CHECK (length(signature) = 64),
  key_id           uuid,                        -- the key that it was checked with when it was given
  signed_at        timestamptz,
  version          bigint NOT NULL DEFAULT 1,
  created_by       uuid NOT NULL,
  created_at       timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, environment_id),
  FOREIGN KEY (tenant_id, project_id) REFERENCES project,
  FOREIGN KEY (tenant_id, dataset_id) REFERENCES dataset ON DELETE SET NULL (dataset_id),
  FOREIGN KEY (tenant_id, object_id) REFERENCES object
);
COMMENT ON TABLE environment IS 'Images by name, as a job of kind inspect found them';
CREATE INDEX environment_name ON environment (tenant_id, name, environment_id DESC);
CREATE INDEX environment_dataset ON environment (tenant_id, dataset_id);
SELECT falaj_tenant_table('environment');
GRANT SELECT, INSERT, UPDATE, DELETE ON environment TO falaj_app;
GRANT SELECT ON environment TO falaj_worker_api, falaj_system;
SELECT audit_guard_tables();
