-- SPDX-License-Identifier: Apache-2.0
-- 0079 - jobs ask for processors, memory, a share of a GPU and its models beside slots; machines say what they have of
-- each, and an
-- attempt which devices it holds. A slot stands for a processor and a GiB where a job says nothing else, and an attempt is
-- booked with
-- both. Priority classes go before priority: a job's class has a value, and says whether it may be preempted.
-- N-1: additive; the older program's jobs and attempts have the defaults. job.shape is made anew, since jobs of one shape
-- ask for the
-- same: rewrites job; on a large table take a window.
SET LOCAL ROLE falaj_owner;
CREATE TABLE priority_class (
  class           text PRIMARY KEY CHECK (class ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  value           bigint NOT NULL CHECK (value BETWEEN -1000000 AND 1000000),
  preemptible     boolean NOT NULL DEFAULT true,
  grace_s         bigint NOT NULL DEFAULT 60 CHECK (grace_s BETWEEN 0 AND 86400),
  min_runtime_s   bigint NOT NULL DEFAULT 0 CHECK (min_runtime_s BETWEEN 0 AND 2592000),
  description     text NOT NULL DEFAULT '' CHECK (length(description) <= 512),
  created_at      timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE priority_class IS
  'Within a tenant jobs of a class with a higher value go first; priority orders inside one class';
INSERT INTO priority_class (class, value, description) VALUES ('default', 0, 'What a job belongs to that names no class');
GRANT SELECT, INSERT, UPDATE, DELETE ON priority_class TO falaj_app;
GRANT SELECT ON priority_class TO falaj_scheduler, falaj_worker_api, falaj_system;

DROP INDEX job_shape;
ALTER TABLE job DROP COLUMN shape,
  ADD COLUMN cpu_milli bigint NOT NULL DEFAULT 0, ADD COLUMN memory_bytes bigint NOT NULL DEFAULT 0,
  ADD COLUMN gpu_milli bigint NOT NULL DEFAULT 1000, ADD COLUMN gpu_models text NOT NULL DEFAULT '',
  ADD COLUMN class text NOT NULL DEFAULT 'default';
ALTER TABLE job ADD COLUMN shape bigint NOT NULL GENERATED ALWAYS AS (hashtextextended(
  coalesce(project_id::text, '') || '|' || queue || '|' || kind || '|' || data_class || '|' || coalesce(zone, '') || '|' ||
    pool || '|' ||
  slots::text || '|' || gpus::text || '|' || class || '|' || cpu_milli::text || '|' || memory_bytes::text || '|' ||
    gpu_milli::text ||
  '|' || gpu_models, 0)) STORED;
CREATE INDEX job_shape ON job (tenant_id, shape, priority DESC, job_id) WHERE queued;
COMMENT ON COLUMN job.cpu_milli IS '0: what its slots stand for, as memory_bytes';
COMMENT ON COLUMN job.gpu_models IS 'Between commas; empty: any';

ALTER TABLE attempt ADD COLUMN cpu_milli bigint NOT NULL DEFAULT 0, ADD COLUMN memory_bytes bigint NOT NULL DEFAULT 0,
  ADD COLUMN gpu_milli bigint NOT NULL DEFAULT 1000, ADD COLUMN devices bigint NOT NULL DEFAULT 0;
UPDATE attempt SET cpu_milli = slots * 1000, memory_bytes = slots * 1073741824 WHERE live;
COMMENT ON COLUMN attempt.devices IS
  'Bit i: it holds gpu_milli thousandths of device i of its machine; 0 with gpus: from before they had numbers';

ALTER TABLE node ADD COLUMN cpu_milli bigint NOT NULL DEFAULT 0, ADD COLUMN gpu_model text NOT NULL DEFAULT '',
  ADD COLUMN gpu_shared boolean NOT NULL DEFAULT false, ADD COLUMN devices jsonb NOT NULL DEFAULT '[]';
COMMENT ON COLUMN node.cpu_milli IS '0: not said, its slots stand for them';
COMMENT ON COLUMN node.gpu_shared IS 'Its devices keep jobs apart that have shares of one';
SELECT audit_guard_tables();
