-- SPDX-License-Identifier: Apache-2.0
-- 0279 - jobs that run on as many machines as are free, between two bounds. queue_jobs gets a column, so its old form goes;
-- functions/ makes it anew in the same migration.
-- N-1: additive; a scheduler of the release before gives such a job its least number of machines.
SET LOCAL ROLE falaj_owner;
ALTER TABLE job ADD COLUMN nodes_max bigint NOT NULL DEFAULT 1;
COMMENT ON COLUMN job.nodes IS 'Machines that it runs on at once, each with its slots, GPUs and memory; at least';
COMMENT ON COLUMN job.nodes_max IS 'It takes more where they are free, up to so many; not above nodes: always nodes';
-- What grows is looked for every few seconds; most jobs have no entry.
CREATE INDEX job_elastic ON job (tenant_id, job_id) WHERE ended IS NULL AND NOT queued AND nodes_max > nodes;
DROP FUNCTION IF EXISTS queue_jobs(bigint, interval);
