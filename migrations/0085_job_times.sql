-- SPDX-License-Identifier: Apache-2.0
-- 0085 - a job may begin at a time (job.not_before holds it back until then) and has a deadline, until which it must have
-- started. N-1: additive; the older program's jobs have neither, and it neither sees nor ends by them.
SET LOCAL ROLE falaj_owner;
ALTER TABLE job ADD COLUMN begin_at timestamptz, ADD COLUMN deadline_at timestamptz;
COMMENT ON COLUMN job.deadline_at IS 'A job that still waits then ends as DEADLINE';
CREATE INDEX job_deadline ON job (deadline_at) WHERE deadline_at IS NOT NULL AND ended IS NULL;
SELECT audit_guard_tables();
