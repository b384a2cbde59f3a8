-- SPDX-License-Identifier: Apache-2.0
-- 0306 - images that the platform's staff publish to every tenant of a zone (ADR 0156): what one tenant has offered, by zone
-- and digest, with what its import found, copied, since nobody else sees that tenant's rows. The bytes and their key stay the
-- owner's.
-- N-1: additive. The release before knows no environment of the form shared/sha256:… and refuses it at submit.
-- job_shared locks job against writing while it looks through it; it is empty then.
SET LOCAL ROLE falaj_owner;
ALTER TABLE environment ADD COLUMN offered_by uuid, ADD COLUMN offered_at timestamptz,
  ADD CONSTRAINT environment_offered CHECK ((offered_by IS NULL) = (offered_at IS NULL));
COMMENT ON COLUMN environment.offered_at IS 'Since when the platform''s staff may publish it to others; NULL: they may not';

CREATE TABLE shared_environment (
  shared_id         uuid PRIMARY KEY,
  zone              text NOT NULL REFERENCES zone,
  digest            text NOT NULL CHECK (digest ~ '^sha256:[0-9a-f]{64}$'),
  name              text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  description       text NOT NULL DEFAULT '' CHECK (length(description) <= 256),
  owner_id          uuid NOT NULL,              -- the tenant whose object it is, under a key of its own
  environment_id    uuid NOT NULL,
  object_id         uuid NOT NULL,              -- the archive, or its copy, in that zone
  data_class        text NOT NULL,
  size_bytes        bigint NOT NULL CHECK (size_bytes >= 0),
  unpacked_bytes    bigint NOT NULL,
  files             bigint NOT NULL,
  package_count     bigint NOT NULL,
  package_source    text NOT NULL,
  layers            jsonb NOT NULL,
  packages          jsonb NOT NULL,
  published_by      uuid NOT NULL,
  published_at      timestamptz NOT NULL DEFAULT now(),
  withdrawn_by      uuid,
  withdrawn_at      timestamptz,                -- no lease gets its key from then on
  withdrawn_reason  text NOT NULL DEFAULT '' CHECK (length(withdrawn_reason) <= 512),
  version           bigint NOT NULL DEFAULT 1,
  CHECK ((withdrawn_by IS NULL) = (withdrawn_at IS NULL)),
  UNIQUE (zone, digest)
);
COMMENT ON TABLE shared_environment IS 'Images that the platform''s staff let every tenant of a zone run programs in';
CREATE INDEX shared_environment_owner ON shared_environment (owner_id, environment_id);
ALTER TABLE shared_environment ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
-- Everybody reads them; a tenant's transaction makes only what is its own (staff publish in the owner's scope), and staff alone
-- change what is there.
CREATE POLICY everybody ON shared_environment FOR SELECT TO falaj_app USING (true);
CREATE POLICY own ON shared_environment FOR INSERT TO falaj_app WITH CHECK (owner_id = current_setting('app.tenant')::uuid);
CREATE POLICY staff_change ON shared_environment FOR UPDATE TO falaj_app
  USING (current_setting('app.tenant')::uuid = '00000000-0000-0000-0000-000000000000');
CREATE POLICY staff_delete ON shared_environment FOR DELETE TO falaj_app
  USING (current_setting('app.tenant')::uuid = '00000000-0000-0000-0000-000000000000');
CREATE POLICY system ON shared_environment
  TO falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer, falaj_owner USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON shared_environment TO falaj_app;
GRANT SELECT ON shared_environment TO falaj_worker_api, falaj_system;

CREATE TABLE environment_signature (
  tenant_id   uuid NOT NULL REFERENCES tenant,
  digest      text NOT NULL CHECK (digest ~ '^sha256:[0-9a-f]{64}$'),
  signature   bytea NOT NULL CHECK (length(signature) = 64),
  key_id      uuid NOT NULL,                    -- the key that it was checked with when it was given
  signed_by   uuid NOT NULL,
  signed_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, digest)
);
COMMENT ON TABLE environment_signature IS 'A tenant''s signatures over digests of shared images';
SELECT falaj_tenant_table('environment_signature');
GRANT SELECT, INSERT, UPDATE ON environment_signature TO falaj_app;
GRANT SELECT ON environment_signature TO falaj_worker_api, falaj_system;

ALTER TABLE environment_policy ADD COLUMN allow_shared boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN environment_policy.allow_shared IS 'Programs may run in images that the platform''s staff publish';

CREATE INDEX job_shared ON job ((spec->>'environment'), zone) WHERE spec->>'environment' LIKE 'shared/%';
SELECT audit_guard_tables();
