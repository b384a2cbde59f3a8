-- SPDX-License-Identifier: Apache-2.0
-- 0020 - uploads that survive a cut connection: a content arrives in parts, each an object of its own, until it becomes a version.
-- N-1: additive; the release before makes no parts and passes over those that are there.
SET LOCAL ROLE falaj_owner;

ALTER TABLE object DROP CONSTRAINT object_kind_check,
  ADD CONSTRAINT object_kind_check CHECK (kind IN ('dataset', 'model', 'checkpoint', 'artifact', 'part'));

CREATE TABLE upload (
  tenant_id     uuid NOT NULL REFERENCES tenant,
  upload_id     uuid NOT NULL,
  dataset_id    uuid NOT NULL,
  zone          text NOT NULL REFERENCES zone,
  size_bytes    bigint NOT NULL CHECK (size_bytes BETWEEN 1 AND 1073741824),
  sha256        bytea CHECK (length(sha256) = 32),      -- that the whole must have; NULL: any
  received      bigint NOT NULL DEFAULT 0 CHECK (received BETWEEN 0 AND size_bytes),
  parts         bigint NOT NULL DEFAULT 0 CHECK (parts BETWEEN 0 AND 4096),
  state         text NOT NULL DEFAULT 'OPEN' CHECK (state IN ('OPEN', 'COMPLETED')),
  version       bigint CHECK (version > 0),             -- of the data set, once completed
  created_by    uuid NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  expires_at    timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, upload_id),
  FOREIGN KEY (tenant_id, dataset_id) REFERENCES dataset,
  CHECK ((state = 'COMPLETED') = (version IS NOT NULL))
);
CREATE INDEX upload_due ON upload (expires_at);

CREATE TABLE upload_part (
  tenant_id     uuid NOT NULL,
  upload_id     uuid NOT NULL,
  start         bigint NOT NULL CHECK (start >= 0),     -- of the part's first byte in the content
  object_id     uuid NOT NULL,
  PRIMARY KEY (tenant_id, upload_id, start),
  FOREIGN KEY (tenant_id, upload_id) REFERENCES upload,
  FOREIGN KEY (tenant_id, object_id) REFERENCES object
);

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['upload', 'upload_part'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_tenant ON %I TO falaj_app USING (tenant_id = current_setting(''app.tenant'')::uuid)', t);
    EXECUTE format('CREATE POLICY system ON %I TO falaj_system, falaj_worker_api, falaj_owner USING (true)', t);
  END LOOP;
END $$;
CREATE POLICY in_projects ON upload AS RESTRICTIVE TO falaj_app USING (projects_all() OR EXISTS (SELECT FROM dataset d
  WHERE d.tenant_id = upload.tenant_id AND d.dataset_id = upload.dataset_id));
CREATE POLICY in_projects ON upload_part AS RESTRICTIVE TO falaj_app USING (projects_all() OR EXISTS (SELECT FROM upload u
  WHERE u.tenant_id = upload_part.tenant_id AND u.upload_id = upload_part.upload_id));

GRANT SELECT, INSERT, UPDATE, DELETE ON upload TO falaj_app;
GRANT SELECT, INSERT, DELETE ON upload_part TO falaj_app;
GRANT SELECT ON upload TO falaj_worker_api, falaj_system;
SELECT audit_guard_tables();

GRANT CREATE ON SCHEMA public TO falaj_system;
-- Open uploads of the whole tenant, also for those who are held to some of its projects.
CREATE FUNCTION uploads_open(in_tenant uuid, in_user uuid, OUT of_tenant bigint, OUT of_user bigint)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF in_tenant IS DISTINCT FROM nullif(current_setting('app.tenant', true), '')::uuid THEN
    RETURN;
  END IF;
  SELECT count(*), count(*) FILTER (WHERE u.created_by = in_user) INTO of_tenant, of_user
    FROM upload u WHERE u.tenant_id = in_tenant AND u.state = 'OPEN';
END $$;
REVOKE ALL ON FUNCTION uploads_open(uuid, uuid) FROM PUBLIC;
ALTER FUNCTION uploads_open(uuid, uuid) OWNER TO falaj_system;
REVOKE ALL ON FUNCTION uploads_open(uuid, uuid) FROM falaj_owner;
GRANT EXECUTE ON FUNCTION uploads_open(uuid, uuid) TO falaj_app;
REVOKE CREATE ON SCHEMA public FROM falaj_system;
