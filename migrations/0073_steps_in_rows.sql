-- SPDX-License-Identifier: Apache-2.0
-- 0073 - the submission, the admission and the end of a job have no rows of their own in job_event any more: the rows of the
-- job and of its attempt, which are written anyway, say all of it, and the view job_step tells them as before. The two
-- columns below say which transaction wrote them, for J6; the end's stands in usage_record.
-- N-1: the older program writes events of admissions and ends, and attempts without these columns; the view shows each step
-- once.
SET LOCAL ROLE falaj_owner;
-- NULL: its submission has a row in job_event.
ALTER TABLE job ADD COLUMN submitted_xid xid8;
-- The job's version by which it was admitted; NULL: that has a row in job_event.
ALTER TABLE attempt ADD COLUMN admitted_version bigint;
ALTER TABLE attempt ADD COLUMN admitted_xid xid8;
