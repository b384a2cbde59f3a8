-- SPDX-License-Identifier: Apache-2.0
-- 0053 - slots and GPUs of a quota have no counter any more: what live attempts hold is counted under the planners' lock, so that
-- neither a plan nor an end of an attempt waits for a row of its tenant. N-1: programs of the release before book and give back
-- in the column as they did. With a newer scheduler they give back what nobody booked, which is let through here; a newer
-- falaj-api does not give back what an older scheduler booked, which would fill the quota: upgrade the scheduler before it.
SET LOCAL ROLE falaj_owner;
ALTER TABLE quota DROP CONSTRAINT quota_used_check;
ALTER TABLE quota ADD CONSTRAINT quota_used_check CHECK (used >= 0 OR resource IN ('slots', 'gpus'));
