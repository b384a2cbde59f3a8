-- SPDX-License-Identifier: Apache-2.0
-- 0320 - registries that images may be pulled from (ADR 0167): rows of a zone, set by the platform's staff; and environments
-- whose archive a job of ours brings from one, which have no object before it has.
-- N-1: additive. The release before makes no such environment; one that is under way is IMPORTING to it, since its job has not
-- ended, and falaj-api of this release gives the archive its data set.
SET LOCAL ROLE falaj_owner;
CREATE TABLE registry_host (
  registry_id  uuid PRIMARY KEY,
  zone         text NOT NULL REFERENCES zone,
  host         text NOT NULL CHECK (host ~ '^[a-z0-9][a-z0-9.-]{0,252}(:[0-9]{1,5})?$'),
  description  text NOT NULL DEFAULT '' CHECK (length(description) <= 256),
  hosts        text[] NOT NULL DEFAULT '{}' CHECK (cardinality(hosts) <= 8),      -- where its redirects and tokens may lead
  ca_pem       text NOT NULL DEFAULT '' CHECK (length(ca_pem) <= 16384),          -- '': whom the machine believes
  reach        text NOT NULL CHECK (reach IN ('public', 'private', 'local')),
  max_bytes    bigint NOT NULL CHECK (max_bytes BETWEEN 1 AND 1073741824),
  silent_s     bigint NOT NULL CHECK (silent_s BETWEEN 1 AND 600),
  allowed      boolean NOT NULL DEFAULT true,
  changed_by   uuid NOT NULL,
  changed_at   timestamptz NOT NULL DEFAULT now(),
  version      bigint NOT NULL DEFAULT 1,
  UNIQUE (zone, host)
);
COMMENT ON TABLE registry_host IS 'Registries that machines of a zone may pull images from';
ALTER TABLE registry_host ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
-- Everybody reads them; staff alone, in the platform's scope, make and change them.
CREATE POLICY everybody ON registry_host FOR SELECT TO falaj_app USING (true);
CREATE POLICY staff ON registry_host TO falaj_app
  USING (current_setting('app.tenant')::uuid = '00000000-0000-0000-0000-000000000000');
CREATE POLICY system ON registry_host
  TO falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer, falaj_owner USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON registry_host TO falaj_app;
GRANT SELECT ON registry_host TO falaj_worker_api, falaj_system;

ALTER TABLE environment ALTER COLUMN object_id DROP NOT NULL,
  ADD COLUMN pulled_from text NOT NULL DEFAULT '' CHECK (length(pulled_from) <= 640),
  ADD CONSTRAINT environment_archive CHECK (object_id IS NOT NULL OR pulled_from <> '');
COMMENT ON COLUMN environment.pulled_from IS 'HOST/NAME@sha256:… of an image from a registry; empty: its archive was sent';
CREATE INDEX environment_pulling ON environment (tenant_id, job_id) WHERE object_id IS NULL;
SELECT audit_guard_tables();
