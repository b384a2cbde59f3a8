-- SPDX-License-Identifier: Apache-2.0
-- 0140 - an attempt whose job was asked to stop says so itself (trigger job_cancel_told), so that what a machine is to hear is
-- found by one look at an index that is nearly always empty, with every lease that is handed out.
-- N-1: an older program asks the job, as before; what it cancels is told by the trigger.
SET LOCAL ROLE falaj_owner;
ALTER TABLE attempt ADD COLUMN cancel_asked boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN attempt.cancel_asked IS
  'Its job was asked to stop while this attempt was the newest; written by the trigger job_cancel_told';
UPDATE attempt SET cancel_asked = true FROM job
 WHERE attempt.live AND job.tenant_id = attempt.tenant_id AND job.job_id = attempt.job_id AND job.cancel_requested;
GRANT SELECT, UPDATE (cancel_asked) ON attempt TO falaj_system;
CREATE INDEX attempt_notice ON attempt (node_id, attempt_id) WHERE live AND (cancel_asked OR evict_until IS NOT NULL);
