-- SPDX-License-Identifier: Apache-2.0
-- 0171 - a running job is asked to be put aside. Cleared when it has been; the index has those that a machine still has.
-- N-1: additive; an older scheduler sends nobody away for it, and such a job goes on.
SET LOCAL ROLE falaj_owner;
ALTER TABLE job ADD COLUMN suspend_requested boolean NOT NULL DEFAULT false;
CREATE INDEX job_suspends ON job (tenant_id, job_id) WHERE suspend_requested AND ended IS NULL;
COMMENT ON COLUMN job.suspend_requested IS 'It becomes SUSPENDED when its machine has ended it';
