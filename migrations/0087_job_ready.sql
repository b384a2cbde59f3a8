-- SPDX-License-Identifier: Apache-2.0
-- 0087 - the planner's index holds the jobs that may start and no others: a job with a not_before, in the future or infinite, is
-- in job_due until its time has come and the leader clears the column (duty/due_jobs.c). Open dependencies are found from the
-- job that is waited for; from the one that waits the primary key finds them. N-1: the same rows mean the same; the older
-- leader's rounds read job_queue and sort until it is replaced, and a not_before in the past is to both as none.
SET LOCAL ROLE falaj_owner;
DROP INDEX job_shape;
CREATE INDEX job_ready ON job (tenant_id, shape, priority DESC, job_id) WHERE queued AND not_before IS NULL;
CREATE INDEX job_due ON job (not_before) WHERE queued AND not_before IS NOT NULL;
COMMENT ON COLUMN job.not_before IS 'The planner does not see a waiting job that has one; cleared when that time has come';
DROP INDEX job_dependency_open;
CREATE INDEX job_dependency_awaited ON job_dependency (tenant_id, on_job_id, type) WHERE open;
