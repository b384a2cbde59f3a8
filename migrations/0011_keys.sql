-- SPDX-License-Identifier: Apache-2.0
-- 0011 - the life of keys: when a version was made, used, left, destroyed; root versions; rewraps in batches; certificates of erasure.
-- N-1: additive; the old program makes version 1 and reads PRIMARY and DECRYPT_ONLY as before.
SET LOCAL ROLE falaj_owner;

ALTER TABLE tenant_key
  ADD COLUMN origin        text NOT NULL DEFAULT 'generated' CHECK (origin IN ('generated', 'imported')),
  ADD COLUMN tier          text NOT NULL DEFAULT 'wrapped' CHECK (tier IN ('wrapped', 'sovereign')),
  ADD COLUMN blob_sha      bytea CHECK (length(blob_sha) = 32),       -- of wrapped; kept after destruction as the blob's only trace
  ADD COLUMN retired_at    timestamptz,                              -- left PRIMARY
  ADD COLUMN disabled_at   timestamptz,
  ADD COLUMN destroy_after timestamptz,
  ADD COLUMN destroyed_at  timestamptz,
  ADD CHECK ((state = 'DESTROY_SCHEDULED') <= (destroy_after IS NOT NULL)),
  ADD CHECK ((state = 'DESTROYED') = (destroyed_at IS NOT NULL));
CREATE INDEX tenant_key_root ON tenant_key (zone, root_version) WHERE wrapped IS NOT NULL;
CREATE INDEX tenant_key_due ON tenant_key (destroy_after) WHERE state = 'DESTROY_SCHEDULED';
CREATE INDEX dek_version ON dek (tenant_id, zone, key_version, dek_id);

-- The edges of a key version's life; the trigger holds them whoever writes.
CREATE TABLE key_edge (from_state text NOT NULL, to_state text NOT NULL, PRIMARY KEY (from_state, to_state));
INSERT INTO key_edge VALUES
  ('PENDING', 'PRIMARY'), ('PENDING', 'DESTROYED'),
  ('PRIMARY', 'DECRYPT_ONLY'), ('PRIMARY', 'DISABLED'), ('PRIMARY', 'DESTROY_SCHEDULED'),
  ('DECRYPT_ONLY', 'DISABLED'), ('DECRYPT_ONLY', 'DESTROY_SCHEDULED'),
  ('DISABLED', 'DECRYPT_ONLY'), ('DISABLED', 'DESTROY_SCHEDULED'),
  ('DESTROY_SCHEDULED', 'DISABLED'), ('DESTROY_SCHEDULED', 'DESTROYED');
CREATE FUNCTION tenant_key_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF NEW.state <> OLD.state AND NOT EXISTS (SELECT FROM key_edge WHERE from_state = OLD.state AND to_state = NEW.state) THEN
    RAISE EXCEPTION 'key state % does not become %', OLD.state, NEW.state USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER tenant_key_guard BEFORE UPDATE OF state ON tenant_key FOR EACH ROW EXECUTE FUNCTION tenant_key_guard();

-- Versions of a zone's root as Falaj has known them; the keys themselves are in the provider. Platform data.
CREATE TABLE root_key (
  zone          text NOT NULL REFERENCES zone,
  version       bigint NOT NULL CHECK (version > 0),
  provider      text NOT NULL,
  state         text NOT NULL CHECK (state IN ('CURRENT', 'RETIRED', 'DESTROYED')),
  created_at    timestamptz NOT NULL DEFAULT now(),
  retired_at    timestamptz,
  destroyed_at  timestamptz,
  PRIMARY KEY (zone, version)
);

-- A rewrap moves wrapped keys to a newer version, batch by batch; what is left is always countable, so a stop loses nothing.
-- kind 'tenant': data keys of one tenant to its primary version; kind 'root' (tenant nil): tenant keys of a zone to the current root.
CREATE TABLE key_rewrap (
  tenant_id     uuid NOT NULL REFERENCES tenant,
  rewrap_id     uuid NOT NULL,
  zone          text NOT NULL REFERENCES zone,
  kind          text NOT NULL CHECK (kind IN ('tenant', 'root')),
  to_version    bigint NOT NULL,
  state         text NOT NULL DEFAULT 'RUNNING' CHECK (state IN ('RUNNING', 'DONE', 'SUPERSEDED')),
  total         bigint NOT NULL DEFAULT 0,
  done          bigint NOT NULL DEFAULT 0,
  failed        bigint NOT NULL DEFAULT 0,               -- did not open: named in the log, left as they are
  message       text NOT NULL DEFAULT '',
  after_id      uuid,                                    -- cursor of this pass
  started_at    timestamptz NOT NULL DEFAULT now(),
  updated_at    timestamptz NOT NULL DEFAULT now(),
  finished_at   timestamptz,
  PRIMARY KEY (tenant_id, rewrap_id)
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX key_rewrap_one ON key_rewrap (tenant_id, zone, kind) WHERE state = 'RUNNING';

CREATE TABLE erasure_certificate (
  tenant_id      uuid NOT NULL REFERENCES tenant,
  certificate_id uuid NOT NULL,
  zone           text NOT NULL REFERENCES zone,
  key_version    bigint NOT NULL,
  blob_sha       bytea,
  objects        bigint NOT NULL,                        -- that can no longer be read because of it
  destroyed_at   timestamptz NOT NULL,
  root_version   bigint NOT NULL,                        -- copies in backups open only under this root version …
  backups_until  timestamptz NOT NULL,                   -- … and are gone by then, whatever becomes of the root
  body           text NOT NULL,                          -- canonical JSON, what was signed
  signature      bytea NOT NULL CHECK (length(signature) = 64),
  key_id         text NOT NULL,
  created_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, certificate_id)
);

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['key_rewrap', 'erasure_certificate'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_tenant ON %I TO falaj_app USING (tenant_id = current_setting(''app.tenant'')::uuid)', t);
    EXECUTE format('CREATE POLICY system ON %I TO falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer, falaj_owner USING (true)', t);
  END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE ON key_rewrap TO falaj_app, falaj_scheduler;
GRANT SELECT ON erasure_certificate TO falaj_app;
GRANT SELECT, INSERT ON erasure_certificate TO falaj_scheduler;
GRANT SELECT, INSERT, UPDATE ON root_key TO falaj_app;
GRANT SELECT ON root_key TO falaj_scheduler, falaj_system, falaj_worker_api;
GRANT SELECT ON key_edge TO falaj_app, falaj_worker_api, falaj_scheduler, falaj_system, falaj_owner;
GRANT SELECT, UPDATE ON tenant_key, dek TO falaj_scheduler;

-- How many tenant keys of a zone still hang on an old root version: the platform counts them without seeing whose they are.
GRANT CREATE ON SCHEMA public TO falaj_system;
CREATE FUNCTION root_key_users(in_zone text)
RETURNS TABLE (root_version bigint, keys bigint)
LANGUAGE sql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT k.root_version, count(*) FROM tenant_key k WHERE k.zone = in_zone AND k.wrapped IS NOT NULL AND k.tier = 'wrapped' GROUP BY 1 ORDER BY 1
$$;
GRANT SELECT ON tenant_key TO falaj_system;
REVOKE ALL ON FUNCTION root_key_users(text) FROM PUBLIC;
ALTER FUNCTION root_key_users(text) OWNER TO falaj_system;
GRANT EXECUTE ON FUNCTION root_key_users(text) TO falaj_app, falaj_scheduler;
REVOKE CREATE ON SCHEMA public FROM falaj_system;

-- Nobody is held until 0012 says so; destruction asks.
DO $$
BEGIN
  IF to_regprocedure('tenant_has_hold(uuid)') IS NULL THEN
    CREATE FUNCTION tenant_has_hold(t uuid) RETURNS boolean LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp
      AS 'SELECT false';
  END IF;
END $$;
