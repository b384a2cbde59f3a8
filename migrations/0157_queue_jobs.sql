-- SPDX-License-Identifier: Apache-2.0
-- 0157 - the queue clock plays who waits for whom and who makes room: functions/queue_jobs.sql comes back with those columns.
-- N-1: the release before names the columns that it reads, and finds them all.
SET LOCAL ROLE falaj_owner;
DROP FUNCTION IF EXISTS queue_jobs(bigint, interval);
