-- SPDX-License-Identifier: Apache-2.0
-- 0001 - tenants, zones, people, keys, data, jobs, audit. N-1: first migration, nothing older runs beside it.
-- Every tenant table has tenant_id first in its primary key, composite foreign keys and forced row-level security (end of file).
SET LOCAL ROLE falaj_owner;

-- ---------------------------------------------------------------------------------------------------------------- places
CREATE TABLE zone (
  code          text PRIMARY KEY CHECK (code ~ '^[a-z0-9][a-z0-9-]{1,30}$'),
  name          text NOT NULL,
  country       text NOT NULL CHECK (country ~ '^[A-Z]{2}$'),
  legal_regimes text[] NOT NULL DEFAULT '{}',
  created_at    timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE node (
  node_id       uuid PRIMARY KEY,
  zone          text NOT NULL REFERENCES zone,
  pool          text NOT NULL,
  name          text NOT NULL,
  identity      text NOT NULL UNIQUE,                -- the certificate's one URI SAN
  state         text NOT NULL DEFAULT 'READY' CHECK (state IN ('READY', 'DRAINING', 'QUARANTINED', 'LOST')),
  slots         bigint NOT NULL CHECK (slots BETWEEN 0 AND 4096),
  cpus          bigint NOT NULL,
  memory_bytes  bigint NOT NULL,
  gpus          bigint NOT NULL DEFAULT 0,
  backend       text NOT NULL DEFAULT '',
  version       text NOT NULL,
  boot_id       uuid NOT NULL,                       -- changes when the agent restarts: its old leases are void
  last_seen_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  created_at    timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

-- -------------------------------------------------------------------------------------------------------------- tenants
CREATE TABLE tenant (
  tenant_id     uuid PRIMARY KEY,
  name          text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  display_name  text NOT NULL,
  state         text NOT NULL DEFAULT 'ACTIVE' CHECK (state IN ('ACTIVE', 'SUSPENDED', 'DELETING')),
  home_zone     text REFERENCES zone,
  allowed_zones text[] NOT NULL DEFAULT '{}',
  authz_rev     bigint NOT NULL DEFAULT 1,
  version       bigint NOT NULL DEFAULT 1,
  created_at    timestamptz NOT NULL DEFAULT now(),
  CHECK (tenant_id = '00000000-0000-0000-0000-000000000000' OR (home_zone IS NOT NULL AND home_zone = ANY (allowed_zones)))
);

CREATE TABLE app_user (
  tenant_id     uuid NOT NULL REFERENCES tenant,
  user_id       uuid NOT NULL,
  name          text NOT NULL CHECK (length(name) BETWEEN 1 AND 128),
  kind          text NOT NULL DEFAULT 'person' CHECK (kind IN ('person', 'service')),
  state         text NOT NULL DEFAULT 'ACTIVE' CHECK (state IN ('ACTIVE', 'DISABLED')),
  version       bigint NOT NULL DEFAULT 1,
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, user_id),
  UNIQUE (tenant_id, name)
);

CREATE TABLE role_binding (
  tenant_id     uuid NOT NULL,
  binding_id    uuid NOT NULL,
  user_id       uuid NOT NULL,
  role          text NOT NULL,
  created_by    uuid NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, binding_id),
  UNIQUE (tenant_id, user_id, role),
  FOREIGN KEY (tenant_id, user_id) REFERENCES app_user
);

CREATE TABLE api_token (
  tenant_id     uuid NOT NULL,
  token_id      uuid NOT NULL,
  user_id       uuid NOT NULL,
  name          text NOT NULL,
  hash          bytea NOT NULL UNIQUE CHECK (length(hash) = 32),   -- SHA-256 of a token of >= 178 random bits
  hint          text NOT NULL,                                      -- prefix and last four characters, for people
  scopes        text[] NOT NULL DEFAULT '{}',                       -- empty: all that the user's roles allow
  expires_at    timestamptz NOT NULL,
  revoked_at    timestamptz,
  last_used_at  timestamptz,
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, token_id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES app_user
);

CREATE TABLE quota (
  tenant_id     uuid NOT NULL REFERENCES tenant,
  resource      text NOT NULL CHECK (resource IN ('jobs', 'slots', 'gpus', 'stored_bytes', 'objects')),
  hard_limit    bigint NOT NULL CHECK (hard_limit >= 0),
  used          bigint NOT NULL DEFAULT 0 CHECK (used >= 0),
  version       bigint NOT NULL DEFAULT 1,
  PRIMARY KEY (tenant_id, resource),
  CHECK (used <= hard_limit)
) WITH (fillfactor = 20);
COMMENT ON TABLE quota IS 'jobs: live (not terminal) jobs; slots, gpus: booked by live attempts; stored_bytes, objects: committed objects';

-- No foreign key to tenant here, in job and in audit_event: their rows are written by the thousand, for tenants that the writer has
-- just locked (quota) or authenticated; checking each row again took 60 % of a submission. Tenants are never deleted as rows.
CREATE TABLE idempotency (
  tenant_id     uuid NOT NULL,
  principal_id  uuid NOT NULL,
  route         text NOT NULL,
  key           text NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
  request_sha   bytea NOT NULL,
  status        int NOT NULL DEFAULT 0,               -- 0: the first call is still running
  resource_id   uuid,
  body          text,                                 -- NULL where the answer is rebuilt from the resource
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, principal_id, route, key)
);
CREATE INDEX idempotency_age ON idempotency USING brin (created_at);

-- ----------------------------------------------------------------------------------------------------------------- keys
CREATE TABLE tenant_key (
  tenant_id     uuid NOT NULL REFERENCES tenant,
  zone          text NOT NULL REFERENCES zone,
  version       bigint NOT NULL CHECK (version > 0),
  state         text NOT NULL CHECK (state IN ('PENDING', 'PRIMARY', 'DECRYPT_ONLY', 'DISABLED', 'DESTROY_SCHEDULED', 'DESTROYED')),
  wrapped       bytea,                                -- by the zone root; NULL once destroyed
  root_version  bigint NOT NULL,
  provider      text NOT NULL,
  wraps         bigint NOT NULL DEFAULT 0 CHECK (wraps < 4294967296),
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, zone, version),
  CHECK ((state = 'DESTROYED') = (wrapped IS NULL))
);
CREATE UNIQUE INDEX tenant_key_primary ON tenant_key (tenant_id, zone) WHERE state = 'PRIMARY';

CREATE TABLE object (
  tenant_id     uuid NOT NULL REFERENCES tenant,
  object_id     uuid NOT NULL,
  zone          text NOT NULL REFERENCES zone,
  kind          text NOT NULL CHECK (kind IN ('dataset', 'model', 'checkpoint', 'artifact')),
  version       bigint NOT NULL DEFAULT 1,
  data_class    text NOT NULL DEFAULT 'internal' CHECK (data_class IN ('public', 'internal', 'personal', 'sensitive', 'health', 'banking', 'gov')),
  state         text NOT NULL CHECK (state IN ('WRITING', 'COMMITTED', 'DELETED')),
  size_bytes    bigint NOT NULL DEFAULT 0 CHECK (size_bytes >= 0),
  sha256        bytea CHECK (length(sha256) = 32),    -- of the plaintext
  stored_bytes  bigint NOT NULL DEFAULT 0,
  stored_sha256 bytea CHECK (length(stored_sha256) = 32), -- of the ciphertext file
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, object_id),
  CHECK (state <> 'COMMITTED' OR (sha256 IS NOT NULL AND stored_sha256 IS NOT NULL))
);

CREATE TABLE dek (
  tenant_id     uuid NOT NULL,
  dek_id        uuid NOT NULL,
  object_id     uuid NOT NULL,
  zone          text NOT NULL,
  key_version   bigint NOT NULL,
  wrapped       bytea,
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, dek_id),
  UNIQUE (tenant_id, object_id),
  FOREIGN KEY (tenant_id, object_id) REFERENCES object,
  FOREIGN KEY (tenant_id, zone, key_version) REFERENCES tenant_key
);

-- ------------------------------------------------------------------------------------------------------------- registry
CREATE TABLE dataset (
  tenant_id     uuid NOT NULL REFERENCES tenant,
  dataset_id    uuid NOT NULL,
  name          text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  description   text NOT NULL DEFAULT '',
  data_class    text NOT NULL DEFAULT 'internal',
  label_column  text NOT NULL,
  classes       bigint NOT NULL CHECK (classes BETWEEN 2 AND 100000),
  latest_version bigint NOT NULL DEFAULT 0,
  version       bigint NOT NULL DEFAULT 1,
  created_by    uuid NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, dataset_id),
  UNIQUE (tenant_id, name)
);

CREATE TABLE dataset_version (
  tenant_id     uuid NOT NULL,
  dataset_id    uuid NOT NULL,
  version       bigint NOT NULL CHECK (version > 0),
  object_id     uuid NOT NULL,
  row_count     bigint NOT NULL,
  column_count  bigint NOT NULL,
  created_by    uuid NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, dataset_id, version),
  FOREIGN KEY (tenant_id, dataset_id) REFERENCES dataset,
  FOREIGN KEY (tenant_id, object_id) REFERENCES object
);

CREATE TABLE model (
  tenant_id     uuid NOT NULL REFERENCES tenant,
  model_id      uuid NOT NULL,
  name          text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  description   text NOT NULL DEFAULT '',
  latest_version bigint NOT NULL DEFAULT 0,
  version       bigint NOT NULL DEFAULT 1,
  created_by    uuid NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, model_id),
  UNIQUE (tenant_id, name)
);

-- ----------------------------------------------------------------------------------------------------------------- jobs
CREATE TABLE job (
  tenant_id     uuid NOT NULL,                        -- see idempotency
  job_id        uuid NOT NULL,
  name          text NOT NULL CHECK (length(name) BETWEEN 1 AND 128),
  kind          text NOT NULL CHECK (kind IN ('noop', 'train', 'serve')),
  state         text NOT NULL DEFAULT 'PENDING',
  reason        text NOT NULL DEFAULT '',
  message       text NOT NULL DEFAULT '',
  spec          jsonb NOT NULL,
  zone          text,                                 -- pinned by the caller, else NULL
  pool          text NOT NULL DEFAULT 'default',
  data_class    text NOT NULL DEFAULT 'internal',
  slots         bigint NOT NULL DEFAULT 1 CHECK (slots BETWEEN 1 AND 4096),
  gpus          bigint NOT NULL DEFAULT 0 CHECK (gpus BETWEEN 0 AND 64),
  priority      bigint NOT NULL DEFAULT 0 CHECK (priority BETWEEN -1000 AND 1000),
  max_attempts  bigint NOT NULL DEFAULT 3 CHECK (max_attempts BETWEEN 1 AND 100),
  max_runtime_s bigint NOT NULL DEFAULT 86400,
  requeue_count bigint NOT NULL DEFAULT 0,
  fence         bigint NOT NULL DEFAULT 0,            -- of the newest attempt; only grows
  version       bigint NOT NULL DEFAULT 1,            -- grows with every transition
  queued        boolean NOT NULL DEFAULT true,        -- state = PENDING; its own column so that other transitions stay HOT
  cancel_requested boolean NOT NULL DEFAULT false,
  result        jsonb,
  created_by    uuid NOT NULL,
  submitted_at  timestamptz NOT NULL DEFAULT now(),
  not_before    timestamptz,
  started_at    timestamptz,
  finished_at   timestamptz,
  PRIMARY KEY (tenant_id, job_id),
  CHECK (queued = (state = 'PENDING')),
  CHECK (state IN ('PENDING', 'HELD', 'ADMITTED', 'STARTING', 'RUNNING', 'COMPLETING', 'SUSPENDED', 'PREEMPTING', 'COMPLETED', 'FAILED',
                   'CANCELLED', 'TIMEOUT', 'DEADLINE', 'OUT_OF_MEMORY', 'NODE_FAIL', 'PREEMPTED', 'REJECTED')),
  CHECK ((finished_at IS NOT NULL) = (state IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT', 'DEADLINE', 'OUT_OF_MEMORY', 'NODE_FAIL',
                   'PREEMPTED', 'REJECTED')))
) WITH (fillfactor = 60);
CREATE INDEX job_queued ON job (priority DESC, job_id) WHERE queued;

CREATE TABLE job_event (
  tenant_id     uuid NOT NULL,
  job_id        uuid NOT NULL,
  version       bigint NOT NULL,                      -- the job's version after the transition
  state         text NOT NULL,
  reason        text NOT NULL DEFAULT '',
  message       text NOT NULL DEFAULT '',
  fence         bigint NOT NULL DEFAULT 0,
  at            timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant_id, job_id, version)
);

CREATE TABLE job_object (
  tenant_id     uuid NOT NULL,
  job_id        uuid NOT NULL,
  direction     text NOT NULL CHECK (direction IN ('input', 'output')),
  name          text NOT NULL,
  object_id     uuid NOT NULL,
  fence         bigint NOT NULL DEFAULT 0,            -- of the attempt that wrote an output; 0 for inputs
  PRIMARY KEY (tenant_id, job_id, direction, name, fence),
  FOREIGN KEY (tenant_id, job_id) REFERENCES job,
  FOREIGN KEY (tenant_id, object_id) REFERENCES object
);

CREATE TABLE attempt (
  tenant_id     uuid NOT NULL,
  attempt_id    uuid NOT NULL,
  job_id        uuid NOT NULL,
  fence         bigint NOT NULL,
  node_id       uuid NOT NULL,                        -- of node; chosen by the plan among the rows it has read
  state         text NOT NULL DEFAULT 'LEASED' CHECK (state IN ('LEASED', 'STARTING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'PREEMPTED', 'CANCELLED',
                   'LEASE_RETURNED', 'LEASE_EXPIRED', 'FENCED')),
  live          boolean NOT NULL DEFAULT true,
  slots         bigint NOT NULL,
  gpus          bigint NOT NULL,
  lease_until   timestamptz NOT NULL,
  endpoint      text,                                 -- host:port of a serving attempt
  exit_code     bigint,
  message       text NOT NULL DEFAULT '',
  leased_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  started_at    timestamptz,
  finished_at   timestamptz,
  PRIMARY KEY (tenant_id, attempt_id),
  UNIQUE (tenant_id, job_id, fence),
  FOREIGN KEY (tenant_id, job_id) REFERENCES job,
  CHECK (live = (state IN ('LEASED', 'STARTING', 'RUNNING'))),
  CHECK (live = (finished_at IS NULL))
) WITH (fillfactor = 60);
CREATE INDEX attempt_live ON attempt (node_id, attempt_id) WHERE live;

CREATE TABLE job_log (
  tenant_id     uuid NOT NULL,
  job_id        uuid NOT NULL,
  log_id        bigint GENERATED ALWAYS AS IDENTITY,
  fence         bigint NOT NULL,
  at            timestamptz NOT NULL DEFAULT clock_timestamp(),
  stream        text NOT NULL CHECK (stream IN ('stdout', 'stderr', 'system')),
  text          text NOT NULL,
  PRIMARY KEY (tenant_id, job_id, log_id)
);

CREATE TABLE job_metric (
  tenant_id     uuid NOT NULL,
  job_id        uuid NOT NULL,
  metric_id     bigint GENERATED ALWAYS AS IDENTITY,
  fence         bigint NOT NULL,
  at            timestamptz NOT NULL DEFAULT clock_timestamp(),
  step          bigint NOT NULL,
  values        jsonb NOT NULL,
  PRIMARY KEY (tenant_id, job_id, metric_id)
);

CREATE TABLE usage_record (
  tenant_id     uuid NOT NULL,
  attempt_id    uuid NOT NULL,
  job_id        uuid NOT NULL,
  zone          text NOT NULL,
  pool          text NOT NULL,
  slots         bigint NOT NULL,
  gpus          bigint NOT NULL,
  wall_ms       bigint NOT NULL,
  slot_ms       bigint NOT NULL,
  gpu_ms        bigint NOT NULL,
  ended_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant_id, attempt_id)
);

CREATE TABLE model_version (
  tenant_id     uuid NOT NULL,
  model_id      uuid NOT NULL,
  version       bigint NOT NULL CHECK (version > 0),
  object_id     uuid NOT NULL,
  job_id        uuid,
  fence         bigint NOT NULL DEFAULT 0,
  family        text NOT NULL,
  inputs        bigint NOT NULL,
  outputs       bigint NOT NULL,
  metrics       jsonb NOT NULL DEFAULT '{}',
  created_by    uuid NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, model_id, version),
  FOREIGN KEY (tenant_id, model_id) REFERENCES model,
  FOREIGN KEY (tenant_id, object_id) REFERENCES object
);

CREATE TABLE deployment (
  tenant_id     uuid NOT NULL,
  deployment_id uuid NOT NULL,
  name          text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  model_id      uuid NOT NULL,
  model_version bigint NOT NULL,
  job_id        uuid NOT NULL,
  state         text NOT NULL DEFAULT 'ACTIVE' CHECK (state IN ('ACTIVE', 'DELETED')),
  version       bigint NOT NULL DEFAULT 1,
  created_by    uuid NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, deployment_id),
  FOREIGN KEY (tenant_id, model_id, model_version) REFERENCES model_version,
  FOREIGN KEY (tenant_id, job_id) REFERENCES job
);
CREATE UNIQUE INDEX deployment_name ON deployment (tenant_id, name) WHERE state = 'ACTIVE';

-- ---------------------------------------------------------------------------------------------------------------- audit
CREATE TABLE audit_event (
  tenant_id     uuid NOT NULL,                        -- see idempotency
  event_id      uuid NOT NULL,
  xid           xid8 NOT NULL DEFAULT pg_current_xact_id(),
  ord           bigint GENERATED ALWAYS AS IDENTITY,
  at            timestamptz NOT NULL DEFAULT clock_timestamp(),
  body          bytea NOT NULL,                       -- canonical bytes; never rewritten
  PRIMARY KEY (tenant_id, event_id)
);
CREATE INDEX audit_event_order ON audit_event (xid, ord);

CREATE TABLE audit_seq (
  tenant_id     uuid NOT NULL,
  tseq          bigint NOT NULL CHECK (tseq > 0),
  event_id      uuid NOT NULL,
  leaf          bytea NOT NULL CHECK (length(leaf) = 32),
  chain         bytea NOT NULL CHECK (length(chain) = 32),
  PRIMARY KEY (tenant_id, tseq)
);

CREATE TABLE audit_log_state (
  tenant_id     uuid PRIMARY KEY,
  size          bigint NOT NULL,
  chain         bytea NOT NULL,
  frontier      bytea NOT NULL,
  updated_at    timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);

CREATE TABLE audit_head (
  tenant_id     uuid NOT NULL,
  size          bigint NOT NULL,
  root          bytea NOT NULL CHECK (length(root) = 32),
  chain         bytea NOT NULL,
  ts_us         bigint NOT NULL,
  prev_hash     bytea,
  key_id        text NOT NULL,
  zone          text NOT NULL,
  body          bytea NOT NULL,
  signature     bytea NOT NULL CHECK (length(signature) = 64),
  PRIMARY KEY (tenant_id, size)
);

CREATE TABLE audit_cursor (
  id            int PRIMARY KEY CHECK (id = 1),
  xid           xid8 NOT NULL,
  ord           bigint NOT NULL
);
INSERT INTO audit_cursor VALUES (1, '0', 0);

-- ------------------------------------------------------------------------------------------- the state machine's edges (J2)
-- The same edges as scheduler/job_state.def; tests/db compares the two. 0002 fills it and makes the trigger that enforces it.
CREATE TABLE job_edge (
  from_state    text NOT NULL,
  event         text NOT NULL,
  to_state      text NOT NULL,
  PRIMARY KEY (from_state, event, to_state)
);

-- ------------------------------------------------------------------------------------------------------- row-level security
GRANT USAGE ON SCHEMA public TO falaj_system, falaj_app, falaj_worker_api, falaj_scheduler, falaj_sequencer;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['tenant', 'app_user', 'role_binding', 'api_token', 'quota', 'idempotency', 'tenant_key', 'object', 'dek', 'dataset',
      'dataset_version', 'model', 'model_version', 'job', 'job_event', 'job_object', 'attempt', 'job_log', 'job_metric', 'usage_record',
      'deployment', 'audit_event', 'audit_seq', 'audit_log_state', 'audit_head'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_tenant ON %I TO falaj_app USING (tenant_id = current_setting(''app.tenant'')::uuid)', t);
    EXECUTE format('CREATE POLICY system ON %I TO falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer, falaj_owner USING (true)', t);
  END LOOP;
END $$;
-- The platform's own scope (nil tenant) may see the directory of tenants, and nothing that is in them.
CREATE POLICY platform_directory ON tenant FOR SELECT TO falaj_app USING (current_setting('app.tenant')::uuid = '00000000-0000-0000-0000-000000000000');
-- What platform staff do in a tenant stands in the platform's log too; writing there is no reading.
CREATE POLICY platform_log ON audit_event FOR INSERT TO falaj_app WITH CHECK (tenant_id = '00000000-0000-0000-0000-000000000000');

GRANT SELECT, INSERT ON zone TO falaj_app;
GRANT SELECT ON node TO falaj_app;
GRANT SELECT, INSERT, UPDATE ON tenant, app_user, api_token, quota, idempotency, tenant_key, object, dek, dataset, model, deployment, job TO falaj_app;
GRANT SELECT, INSERT, DELETE ON role_binding TO falaj_app;
GRANT DELETE ON idempotency TO falaj_app;
GRANT SELECT, INSERT ON dataset_version, model_version, job_event, job_object, audit_event TO falaj_app;
GRANT SELECT ON attempt, job_log, job_metric, usage_record, audit_seq, audit_log_state, audit_head, job_edge TO falaj_app;

GRANT SELECT ON zone, tenant, tenant_key, dataset_version, job_object, model_version TO falaj_worker_api;
GRANT SELECT, INSERT, UPDATE ON node, object, dek TO falaj_worker_api;
GRANT SELECT, UPDATE ON job, attempt, quota, tenant_key TO falaj_worker_api;
GRANT SELECT, INSERT ON job_event, job_log, job_metric, usage_record, audit_event, job_object TO falaj_worker_api;
GRANT SELECT ON job_edge TO falaj_worker_api, falaj_scheduler, falaj_system;

GRANT SELECT ON zone, tenant, object, job_object TO falaj_scheduler;
GRANT SELECT, UPDATE ON node, job, quota TO falaj_scheduler;
GRANT SELECT, INSERT, UPDATE ON attempt TO falaj_scheduler;
GRANT SELECT, INSERT ON job_event, usage_record, audit_event, job_log TO falaj_scheduler;
GRANT SELECT, DELETE ON idempotency TO falaj_scheduler;

GRANT SELECT ON tenant, audit_event TO falaj_sequencer;
GRANT SELECT, INSERT ON audit_seq, audit_head TO falaj_sequencer;
GRANT SELECT, INSERT, UPDATE ON audit_log_state, audit_cursor TO falaj_sequencer;
GRANT INSERT ON audit_event TO falaj_sequencer;

GRANT SELECT ON tenant, app_user, role_binding, api_token, zone, node, attempt, deployment TO falaj_system;
GRANT UPDATE (last_used_at) ON api_token TO falaj_system;
GRANT SELECT, INSERT, UPDATE ON quota, idempotency, job TO falaj_system;
GRANT SELECT, INSERT ON job_event, job_object, audit_event TO falaj_system;
GRANT SELECT ON object TO falaj_system;

-- The platform itself is the tenant with the nil id: its users are platform staff, its audit log is the platform's.
INSERT INTO tenant (tenant_id, name, display_name) VALUES ('00000000-0000-0000-0000-000000000000', 'platform', 'Falaj platform');
