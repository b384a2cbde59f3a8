-- SPDX-License-Identifier: Apache-2.0
-- 0084 - why a job waits is told of all that it asks for: functions/machine_kinds.sql and functions/machine_room_by.sql take the
-- place of machine_room, functions/job_ahead.sql knows priority classes. N-1: nothing changes in the tables; machine_room and the
-- job_ahead of four arguments stay in databases that have them for the older program's two questions.
SET LOCAL ROLE falaj_owner;
COMMENT ON COLUMN job.not_before IS 'A waiting job is not placed before';
