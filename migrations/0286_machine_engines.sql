-- SPDX-License-Identifier: Apache-2.0
-- 0286 - which engines for models outside our own operations a machine has, and which one a job's model needs (ADR 0149).
-- Functions that list machines or jobs get a column more: they are made anew from functions/.
-- N-1: additive. An agent of the release before does not say it and counts as a machine without; jobs that were stored before
-- ask for none and go where they went; a scheduler of the release before places by neither.
SET LOCAL ROLE falaj_owner;
ALTER TABLE node ADD COLUMN engines text NOT NULL DEFAULT '';
COMMENT ON COLUMN node.engines IS 'What computes models outside our operations there: names and versions between commas';
ALTER TABLE job ADD COLUMN engine text NOT NULL DEFAULT '';
COMMENT ON COLUMN job.engine IS 'What computes its model (node.engines, by name); empty: our own operations';
DROP FUNCTION IF EXISTS machine_kinds(text, bigint);
DROP FUNCTION IF EXISTS queue_machines(bigint);
DROP FUNCTION IF EXISTS queue_jobs(bigint, interval);
