-- SPDX-License-Identifier: Apache-2.0
-- 0304 - what was read out of words or forgotten. node.is_spent: a machine that an engine lent for one lease has had it, which
-- was known by the text of its reason alone, as anybody may write one. engine_run.is_left: something of an
-- ended run may still be at its engine, until it was seen removed. And falaj_scheduler reads of job_session what the idle rule
-- asks, not what people run.
-- N-1: additive. A scheduler of the release before writes the words and no mark; until no such scheduler runs, a trigger sets the
-- mark for it (migrations/functions/node_spent.sql), and a release after this one drops that. It leaves is_left as it is, so
-- a run that it ends is taken to have left nothing, as before. The columns it reads of job_session stay readable to it.
-- Locks: node, for a column with a constant default and for the rows of engines' machines; engine_run, for an index.
SET LOCAL ROLE falaj_owner;
ALTER TABLE node ADD COLUMN is_spent boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN node.is_spent IS 'An engine lent it for one lease and it has had it: it takes no other until its next run';
UPDATE node n SET is_spent = true
  FROM engine g WHERE n.reason = 'lent for one lease' AND n.is_drained AND g.zone = n.zone AND g.pool = n.pool;
ALTER TABLE engine_run ADD COLUMN is_left boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN engine_run.is_left IS 'It ended here, and what it left at its engine was not yet seen removed';
CREATE INDEX engine_run_left ON engine_run (engine_id, ended_at) WHERE is_left;
REVOKE SELECT ON job_session FROM falaj_scheduler;
GRANT SELECT (tenant_id, attempt_id, kind) ON job_session TO falaj_scheduler;
