-- SPDX-License-Identifier: Apache-2.0
-- 0248 - the queue clock sees all machines of a job on several, and windows of machines: queue_jobs tells how many machines a
-- job wants, queue_machines what parts of such a job must share, queue_reserved the windows. The first two get columns, so their
-- old forms go; functions/ makes them anew in the same migration.
-- N-1: additive; older programs name the columns that they read.
SET LOCAL ROLE falaj_owner;
DROP FUNCTION IF EXISTS queue_machines(bigint);
DROP FUNCTION IF EXISTS queue_jobs(bigint, interval);
