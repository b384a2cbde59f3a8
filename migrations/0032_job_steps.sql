-- SPDX-License-Identifier: Apache-2.0
-- 0032 - when an attempt was taken stands in its row: the steps STARTING, and RUNNING where start and end were reported together, have no
-- rows in job_event any more and are read from the attempt (view job_step). N-1: the older program writes rows for every step, and the view
-- shows each step once; attempts that it takes have no taken_at, and a row.
SET LOCAL ROLE falaj_owner;
ALTER TABLE attempt ADD COLUMN taken_at timestamptz;
