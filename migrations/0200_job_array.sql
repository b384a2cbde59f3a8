-- SPDX-License-Identifier: Apache-2.0
-- 0200 - arrays of jobs: one row for up to 10,000 tasks, and a row of array_task from the moment that one has become a job.
-- Of a row: live = started - completed - failed - again, and what never ran = total - started.
-- N-1: additive; an older scheduler starts no tasks, and those that are jobs already go on.
SET LOCAL ROLE falaj_owner;
CREATE TABLE job_array (
  tenant_id    uuid NOT NULL REFERENCES tenant,
  array_id     uuid NOT NULL,
  project_id   uuid,
  name         text NOT NULL,
  tasks        text NOT NULL,                   -- as it was asked for: 0-9999:2%64
  first_index  bigint NOT NULL CHECK (first_index >= 0),
  step         bigint NOT NULL CHECK (step >= 1),
  total        bigint NOT NULL CHECK (total BETWEEN 1 AND 10000),
  most         bigint NOT NULL CHECK (most >= 1),                   -- jobs at once
  template     jsonb NOT NULL,                  -- what each task becomes (scheduler/jobs/array_template.h)
  started      bigint NOT NULL DEFAULT 0 CHECK (started BETWEEN 0 AND total),   -- became a job, in the order of indexes
  completed    bigint NOT NULL DEFAULT 0 CHECK (completed >= 0),
  failed       bigint NOT NULL DEFAULT 0 CHECK (failed >= 0),       -- ended in any other way
  again        bigint NOT NULL DEFAULT 0 CHECK (again >= 0),        -- failed ones that are to run once more
  paused       text NOT NULL DEFAULT '' CHECK (paused IN ('', 'HELD', 'SUSPENDED')),
  cancelled_at timestamptz,                     -- no further task becomes a job
  message      text NOT NULL DEFAULT '',        -- why none did at its last turn
  turn_at      timestamptz NOT NULL DEFAULT now(),                  -- of those that have room the leader takes the earliest first
  ended_at     timestamptz,
  version      bigint NOT NULL DEFAULT 1,
  created_by   uuid NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, array_id),
  FOREIGN KEY (tenant_id, project_id) REFERENCES project,
  CHECK (completed + failed + again <= started)
);
CREATE INDEX job_array_turn ON job_array (turn_at) WHERE ended_at IS NULL AND cancelled_at IS NULL AND paused = '';
CREATE INDEX job_array_open ON job_array (tenant_id) WHERE ended_at IS NULL;
CREATE TABLE array_task (
  tenant_id    uuid NOT NULL,
  array_id     uuid NOT NULL,
  task_index   bigint NOT NULL,
  try          bigint NOT NULL CHECK (try >= 1),
  job_id       uuid NOT NULL,
  live         boolean NOT NULL DEFAULT true,   -- its job's end is not counted yet
  newest       boolean NOT NULL DEFAULT true,
  again        boolean NOT NULL DEFAULT false,
  PRIMARY KEY (tenant_id, array_id, task_index, try),
  UNIQUE (tenant_id, job_id),
  FOREIGN KEY (tenant_id, array_id) REFERENCES job_array,
  FOREIGN KEY (tenant_id, job_id) REFERENCES job,
  CHECK (NOT again OR (newest AND NOT live))
);
CREATE UNIQUE INDEX array_task_newest ON array_task (tenant_id, array_id, task_index) WHERE newest;
CREATE INDEX array_task_live ON array_task (tenant_id, array_id, job_id) WHERE live;
CREATE INDEX array_task_again ON array_task (tenant_id, array_id, task_index) WHERE again;
COMMENT ON TABLE job_array IS 'Arrays of jobs; a task has no other row until it becomes a job';
COMMENT ON TABLE array_task IS 'Which job a task of an array became, at each of its tries';
SELECT falaj_tenant_table('job_array');
SELECT falaj_tenant_table('array_task');
CREATE POLICY in_projects ON array_task AS RESTRICTIVE TO falaj_app USING (projects_all() OR EXISTS (
  SELECT FROM job_array a WHERE a.tenant_id = array_task.tenant_id AND a.array_id = array_task.array_id));
GRANT SELECT, INSERT, UPDATE ON job_array TO falaj_app;
GRANT SELECT, UPDATE ON array_task TO falaj_app;
GRANT SELECT, UPDATE ON job_array TO falaj_scheduler;
GRANT SELECT, INSERT, UPDATE ON array_task TO falaj_scheduler;
GRANT SELECT, DELETE ON job_array, array_task TO falaj_system;
SELECT audit_guard_tables();
