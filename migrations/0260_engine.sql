-- SPDX-License-Identifier: Apache-2.0
-- 0260 - engines: outside schedulers that lend machines for one lease, and the runs that were asked of them (ADR 0131).
-- A run names its tenant and job by id alone, for no tenant sees it, and is kept for seven days after its end.
-- job_pool_wait finds who waits in an engine's pool; jobs of the pool `default`, which no engine serves, cost nothing by it.
-- N-1: additive; a scheduler of the release before asks no engine, and a run waits until one of this release leads again.
SET LOCAL ROLE falaj_owner;
CREATE TABLE engine (
  engine_id     uuid PRIMARY KEY,
  name          text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,47}$'),
  kind          text NOT NULL CHECK (kind IN ('slurm')),
  zone          text NOT NULL REFERENCES zone,
  pool          text NOT NULL CHECK (pool ~ '^[a-z0-9][a-z0-9-]{0,62}$' AND pool <> 'default'),
  address       text NOT NULL CHECK (length(address) <= 256),
  account       text NOT NULL CHECK (length(account) <= 64),            -- there
  -- Files of scheduler.engines_dir:
  credential    text NOT NULL DEFAULT '' CHECK (credential ~ '^([a-z0-9][a-z0-9._-]{0,62})?$'),
  authority     text NOT NULL DEFAULT '' CHECK (authority ~ '^([a-z0-9][a-z0-9._-]{0,62})?$'),
  place         text NOT NULL DEFAULT '' CHECK (length(place) <= 64),
  worker        text NOT NULL CHECK (worker ~ '^/' AND length(worker) <= 256),
  worker_config text NOT NULL CHECK (worker_config ~ '^/' AND length(worker_config) <= 256),
  folder        text NOT NULL CHECK (folder ~ '^/' AND length(folder) <= 256),
  machines      bigint NOT NULL CHECK (machines BETWEEN 1 AND 1000),
  longest_seconds     bigint NOT NULL CHECK (longest_seconds BETWEEN 60 AND 31622400),
  enabled       boolean NOT NULL DEFAULT true,
  health        text NOT NULL DEFAULT 'UNKNOWN' CHECK (health IN ('UNKNOWN', 'UP', 'DOWN')),
  health_says   text NOT NULL DEFAULT '' CHECK (length(health_says) <= 256),
  heard_at      timestamptz,
  created_by    uuid NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (zone, pool)
);
COMMENT ON TABLE engine IS 'Outside schedulers that lend machines for one lease';
CREATE TABLE engine_run (
  run_id         uuid PRIMARY KEY,
  engine_id      uuid NOT NULL REFERENCES engine,
  for_tenant     uuid NOT NULL,
  for_job        uuid NOT NULL,
  state          text NOT NULL DEFAULT 'WANTED' CHECK (state IN ('WANTED', 'SENT', 'ENDED')),
  seats          bigint[] NOT NULL CHECK (cardinality(seats) BETWEEN 1 AND 64),
  slots          bigint NOT NULL,
  cpus           bigint NOT NULL,
  gpus           bigint NOT NULL,
  memory_bytes   bigint NOT NULL,
  minutes        bigint NOT NULL,
  tries          bigint NOT NULL DEFAULT 0,
  digest         text NOT NULL DEFAULT '',
  external_id    text NOT NULL DEFAULT '' CHECK (length(external_id) <= 64),
  external_state text NOT NULL DEFAULT '' CHECK (length(external_state) <= 64),
  says           text NOT NULL DEFAULT '' CHECK (length(says) <= 256),
  outcome        text NOT NULL DEFAULT '',
  wanted_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  sent_at        timestamptz,
  wait_until     timestamptz,
  seen_at        timestamptz,
  ended_at       timestamptz,
  CHECK ((state = 'ENDED') = (ended_at IS NOT NULL))
);
COMMENT ON TABLE engine_run IS 'Machines that were asked of an engine, each time for one job';
CREATE UNIQUE INDEX engine_run_job ON engine_run (for_tenant, for_job) WHERE state <> 'ENDED';
CREATE INDEX engine_run_open ON engine_run (engine_id, run_id) WHERE state <> 'ENDED';
CREATE INDEX engine_run_ended ON engine_run (ended_at) WHERE state = 'ENDED';
CREATE INDEX engine_run_last ON engine_run (for_tenant, for_job, ended_at) WHERE state = 'ENDED';
CREATE INDEX job_pool_wait ON job (pool, tenant_id, job_id) WHERE queued AND pool <> 'default';
SELECT falaj_platform_table('engine');
SELECT falaj_platform_table('engine_run');
GRANT SELECT, INSERT, DELETE, UPDATE (enabled) ON engine TO falaj_app;
GRANT SELECT, UPDATE (health, health_says, heard_at) ON engine TO falaj_scheduler;
GRANT SELECT, DELETE ON engine_run TO falaj_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON engine_run TO falaj_scheduler;
GRANT SELECT ON engine, engine_run TO falaj_system;
GRANT INSERT, SELECT, UPDATE, DELETE ON join_token TO falaj_scheduler;
GRANT SELECT, DELETE ON node_cert TO falaj_scheduler;
SELECT audit_guard_tables();
