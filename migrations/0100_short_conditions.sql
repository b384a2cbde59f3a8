-- SPDX-License-Identifier: Apache-2.0
-- 0100 - what a statement that writes jobs reads from the catalogue before it writes: every CHECK, generated column and condition
-- of a trigger is parsed anew by each statement (docs/adr/0061). So the CHECKs of states are one with constants for lists; what
-- never changes in a job is checked where it is written (trigger job_fixed, migrations/functions), and its shape is computed by
-- who inserts it, in a statement whose plan is kept.
-- N-1: the same rows are allowed as before. An older program's insertions go through job_submit_many; whoever else inserts or
-- changes what a job asks for leaves the shape to triggers (migrations/functions/job_shape_keep.sql). What the older function
-- inserts before they are there has the shape 0, which they put right.
SET LOCAL ROLE falaj_owner;
ALTER TABLE job
  DROP CONSTRAINT job_check, DROP CONSTRAINT job_check1, DROP CONSTRAINT job_state_check, DROP CONSTRAINT job_gpus_check,
  DROP CONSTRAINT job_kind_check, DROP CONSTRAINT job_max_attempts_check, DROP CONSTRAINT job_name_check,
  DROP CONSTRAINT job_priority_check, DROP CONSTRAINT job_queue_check, DROP CONSTRAINT job_slots_check,
  ADD CONSTRAINT job_state_check CHECK (CASE WHEN finished_at IS NULL
    THEN queued = (state = 'PENDING') AND
         state = ANY ('{PENDING,ADMITTED,RUNNING,STARTING,HELD,PREEMPTING,COMPLETING,SUSPENDED}'::text[])
    ELSE NOT queued AND
         state = ANY ('{COMPLETED,FAILED,CANCELLED,TIMEOUT,DEADLINE,OUT_OF_MEMORY,NODE_FAIL,PREEMPTED,REJECTED}'::text[]) END),
  ALTER COLUMN shape DROP EXPRESSION;
ALTER TABLE job ALTER COLUMN shape SET DEFAULT 0;
