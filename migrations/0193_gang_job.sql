-- SPDX-License-Identifier: Apache-2.0
-- 0193 - jobs that run on several machines at once (gangs), and machines that know how.
-- N-1: additive; a scheduler of the release before gives such a job one machine, which runs it as a world of one.
SET LOCAL ROLE falaj_owner;
ALTER TABLE job ADD COLUMN nodes bigint NOT NULL DEFAULT 1;
COMMENT ON COLUMN job.nodes IS 'Machines that it runs on at once, each with its slots, GPUs and memory';
