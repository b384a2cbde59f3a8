-- SPDX-License-Identifier: Apache-2.0
-- 0076 - jobs that end are counted in a row of their own, so that a report does not wait for the commit of a submission, nor a
-- submission for a report's: a submission takes off quota.used what has ended since the one before. A tenant's live jobs are
-- used + quota.ended - job_end.ended, at every moment and in every order of the two.
-- N-1: the older program takes what ends off quota.used itself, which leaves that sum as true.
SET LOCAL ROLE falaj_owner;
CREATE TABLE job_end (
  tenant_id  uuid PRIMARY KEY,
  ended      bigint NOT NULL DEFAULT 0 CHECK (ended >= 0)      -- jobs, ever
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
SELECT falaj_tenant_table('job_end');
GRANT SELECT, INSERT, UPDATE ON job_end TO falaj_app, falaj_worker_api, falaj_scheduler;
GRANT SELECT, DELETE ON job_end TO falaj_system;
-- Of the row of jobs: so many of job_end.ended are taken off `used`.
ALTER TABLE quota ADD COLUMN ended bigint NOT NULL DEFAULT 0;
COMMENT ON TABLE quota IS 'jobs: live (not terminal) jobs, when what has ended since is taken off (job_end); '
  'stored_bytes, objects: committed objects. slots, gpus, running_jobs, pending_jobs and api_rate_per_minute are limits without '
  'a counter: what is used is counted when asked';
SELECT audit_guard_tables();
