-- SPDX-License-Identifier: Apache-2.0
-- 0086 - jobs that wait for others, by Slurm's names. An open row keeps its job back: job.not_before is infinity until none
-- is open. N-1: additive; the older scheduler places no job whose not_before has not come, and leaves the rows open.
SET LOCAL ROLE falaj_owner;
CREATE TABLE job_dependency (
  tenant_id   uuid NOT NULL REFERENCES tenant,
  job_id      uuid NOT NULL,
  on_job_id   uuid NOT NULL CHECK (on_job_id <> job_id),
  type        text NOT NULL CHECK (type IN ('after', 'afterany', 'afterok', 'afternotok')),
  open        boolean NOT NULL DEFAULT true,
  PRIMARY KEY (tenant_id, job_id, on_job_id, type),
  FOREIGN KEY (tenant_id, job_id) REFERENCES job,
  FOREIGN KEY (tenant_id, on_job_id) REFERENCES job
);
CREATE INDEX job_dependency_open ON job_dependency (tenant_id, job_id, on_job_id) WHERE open;
COMMENT ON COLUMN job_dependency.open IS 'Not met yet, and its job still waits';
SELECT falaj_tenant_table('job_dependency');
GRANT SELECT, INSERT, DELETE ON job_dependency TO falaj_app;
GRANT SELECT, UPDATE ON job_dependency TO falaj_scheduler;
GRANT SELECT, INSERT, DELETE ON job_dependency TO falaj_system;
SELECT audit_guard_tables();
