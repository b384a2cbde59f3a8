-- SPDX-License-Identifier: Apache-2.0
-- 0170 - which failures of a job are tried again, as it says itself, and why each attempt failed.
-- N-1: additive; an older program retries as if no job said anything, and names no cause.
SET LOCAL ROLE falaj_owner;
ALTER TABLE job ADD COLUMN retry jsonb;
ALTER TABLE attempt ADD COLUMN cause text NOT NULL DEFAULT '';
COMMENT ON COLUMN job.retry IS '{max, on, backoff_s} (scheduler/jobs/retry.h); NULL: where machines fail, up to max_attempts';
COMMENT ON COLUMN attempt.cause IS 'Why it failed (scheduler/jobs/retry_cause.def); empty: it did not';
