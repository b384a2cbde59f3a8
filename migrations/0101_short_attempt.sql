-- SPDX-License-Identifier: Apache-2.0
-- 0101 - as 0100, for attempts: in a step of its own, so that it never holds two tables that programs lock in either order. N-1:
-- the same rows are allowed as before.
SET LOCAL ROLE falaj_owner;
ALTER TABLE attempt
  DROP CONSTRAINT attempt_check, DROP CONSTRAINT attempt_check1, DROP CONSTRAINT attempt_state_check,
  ADD CONSTRAINT attempt_state_check CHECK (CASE WHEN live
    THEN finished_at IS NULL AND state = ANY ('{LEASED,STARTING,RUNNING}'::text[])
    ELSE finished_at IS NOT NULL AND
         state = ANY ('{SUCCEEDED,FAILED,PREEMPTED,CANCELLED,LEASE_RETURNED,LEASE_EXPIRED,FENCED}'::text[]) END);
