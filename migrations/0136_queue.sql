-- SPDX-License-Identifier: Apache-2.0
-- 0136 - queues that somebody declared: how their line goes, what they may do to others, and what they used before.
-- N-1: additive; an older scheduler reads none of it and plans as if no queue were declared.
SET LOCAL ROLE falaj_owner;
CREATE TABLE queue (
  tenant_id              uuid NOT NULL REFERENCES tenant,
  queue_id               uuid NOT NULL,
  project_id             uuid,                  -- NULL: of the tenant's own jobs
  name                   text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  mode                   text NOT NULL DEFAULT 'BestEffortFIFO' CHECK (mode IN ('StrictFIFO', 'BestEffortFIFO')),
  stop_policy            text NOT NULL DEFAULT 'None' CHECK (stop_policy IN ('None', 'Hold', 'HoldAndDrain')),
  within_cluster_queue   text NOT NULL DEFAULT 'Never'
    CHECK (within_cluster_queue IN ('Never', 'LowerPriority', 'LowerOrNewerEqualPriority')),
  reclaim_within_cohort  text NOT NULL DEFAULT 'Never' CHECK (reclaim_within_cohort IN ('Never', 'LowerPriority', 'Any')),
  slot_usage             bigint NOT NULL DEFAULT 0 CHECK (slot_usage >= 0),     -- slot and GPU seconds, halved every seven days
  gpu_usage              bigint NOT NULL DEFAULT 0 CHECK (gpu_usage >= 0),
  usage_at               timestamptz NOT NULL DEFAULT clock_timestamp(),
  version                bigint NOT NULL DEFAULT 1,
  created_by             uuid NOT NULL,
  created_at             timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, queue_id),
  FOREIGN KEY (tenant_id, project_id) REFERENCES project
);
CREATE UNIQUE INDEX queue_once ON queue (tenant_id, coalesce(project_id, '00000000-0000-0000-0000-000000000000'::uuid), name);
CREATE INDEX queue_drains ON queue (tenant_id) WHERE stop_policy = 'HoldAndDrain';
SELECT falaj_tenant_table('queue');
GRANT SELECT, INSERT, UPDATE, DELETE ON queue TO falaj_app;
GRANT SELECT, UPDATE (slot_usage, gpu_usage, usage_at) ON queue TO falaj_scheduler;
GRANT SELECT ON queue TO falaj_system;
SELECT audit_guard_tables();
