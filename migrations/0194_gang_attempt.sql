-- SPDX-License-Identifier: Apache-2.0
-- 0194 - the members of an attempt on several machines. An attempt on one machine has no rows here.
-- N-1: additive; a program of the release before makes none, and what it ends ends for all members (trigger attempt_members).
SET LOCAL ROLE falaj_owner;
ALTER TABLE attempt ADD COLUMN nodes bigint NOT NULL DEFAULT 1;
COMMENT ON COLUMN attempt.nodes IS
  'Its machines; slots, gpus, cpu_milli and memory_bytes are those of all together, node_id is that of rank 0';
CREATE TABLE attempt_member (
  tenant_id     uuid NOT NULL,
  attempt_id    uuid NOT NULL,
  rank          bigint NOT NULL CHECK (rank BETWEEN 0 AND 63),
  job_id        uuid NOT NULL,
  node_id       uuid NOT NULL,                        -- of node; no two members share a machine
  slots         bigint NOT NULL,
  gpus          bigint NOT NULL,
  cpu_milli     bigint NOT NULL,
  memory_bytes  bigint NOT NULL,
  gpu_milli     bigint NOT NULL,
  devices       bigint NOT NULL,
  state         text NOT NULL DEFAULT 'LEASED',
  live          boolean NOT NULL DEFAULT true,
  lease_until   timestamptz NOT NULL,                 -- of rank 0: the attempt's own counts
  endpoint      text,                                 -- host:port where it meets the others; NULL: it is not there yet
  leased_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  started_at    timestamptz,
  finished_at   timestamptz,
  PRIMARY KEY (tenant_id, attempt_id, rank),
  UNIQUE (tenant_id, attempt_id, node_id),
  FOREIGN KEY (tenant_id, attempt_id) REFERENCES attempt,
  CHECK (CASE WHEN live THEN finished_at IS NULL AND state = ANY ('{LEASED,STARTING,RUNNING}'::text[])
    ELSE finished_at IS NOT NULL AND
         state = ANY ('{SUCCEEDED,FAILED,PREEMPTED,CANCELLED,LEASE_RETURNED,LEASE_EXPIRED,FENCED}'::text[]) END)
) WITH (fillfactor = 60);
COMMENT ON TABLE attempt_member IS 'Machines of attempts that run on more than one, by rank, with what each holds there';
CREATE INDEX attempt_member_live ON attempt_member (node_id, attempt_id) WHERE live;
SELECT falaj_tenant_table('attempt_member');
GRANT SELECT ON attempt_member TO falaj_app, falaj_system;
GRANT SELECT, UPDATE ON attempt_member TO falaj_worker_api;
GRANT SELECT, INSERT, UPDATE ON attempt_member TO falaj_scheduler;
SELECT audit_guard_tables();
