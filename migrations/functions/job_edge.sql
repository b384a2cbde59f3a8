-- SPDX-License-Identifier: Apache-2.0
-- The legal transitions of a job, as scheduler/jobs/job_state.def has them (a unit test compares the two), and their guard.
DELETE FROM job_edge;
INSERT INTO job_edge (from_state, event, to_state) VALUES
  ('PENDING',    'ADMIT',    'ADMITTED'),
  ('PENDING',    'HOLD',     'HELD'),
  ('PENDING',    'REJECT',   'REJECTED'),
  ('PENDING',    'CANCEL',   'CANCELLED'),
  ('PENDING',    'DEADLINE', 'DEADLINE'),
  ('PENDING',    'SUSPEND',  'SUSPENDED'),
  ('SUSPENDED',  'RESUME',   'PENDING'),
  ('SUSPENDED',  'CANCEL',   'CANCELLED'),
  ('SUSPENDED',  'DEADLINE', 'DEADLINE'),
  ('HELD',       'UNHOLD',   'PENDING'),
  ('HELD',       'CANCEL',   'CANCELLED'),
  ('HELD',       'DEADLINE', 'DEADLINE'),
  ('ADMITTED',   'TAKE',     'STARTING'),
  ('ADMITTED',   'CANCEL',   'CANCELLED'),
  ('ADMITTED',   'RETURN',   'PENDING'),
  ('ADMITTED',   'EXPIRE',   'PENDING'),
  ('ADMITTED',   'LOSE',     'NODE_FAIL'),
  ('ADMITTED',   'SUSPEND',  'SUSPENDED'),
  ('STARTING',   'START',    'RUNNING'),
  ('STARTING',   'CANCEL',   'CANCELLED'),
  ('STARTING',   'FAIL',     'FAILED'),
  ('STARTING',   'RETURN',   'PENDING'),
  ('STARTING',   'EXPIRE',   'PENDING'),
  ('STARTING',   'LOSE',     'NODE_FAIL'),
  ('STARTING',   'RETRY',    'PENDING'),
  ('STARTING',   'SUSPEND',  'SUSPENDED'),
  ('RUNNING',    'SUCCEED',  'COMPLETED'),
  ('RUNNING',    'FAIL',     'FAILED'),
  ('RUNNING',    'TIMEOUT',  'TIMEOUT'),
  ('RUNNING',    'OOM',      'OUT_OF_MEMORY'),
  ('RUNNING',    'CANCEL',   'CANCELLED'),
  ('RUNNING',    'PREEMPT',  'PENDING'),
  ('RUNNING',    'RETURN',   'PENDING'),
  ('RUNNING',    'EXPIRE',   'PENDING'),
  ('RUNNING',    'LOSE',     'NODE_FAIL'),
  ('RUNNING', 'EVICT', 'PREEMPTING'),
  ('RUNNING',    'RETRY',    'PENDING'),
  ('RUNNING',    'SUSPEND',  'SUSPENDED'),
  ('PREEMPTING', 'SUCCEED', 'COMPLETED'),
  ('PREEMPTING', 'FAIL', 'FAILED'),
  ('PREEMPTING', 'TIMEOUT', 'TIMEOUT'),
  ('PREEMPTING', 'OOM', 'OUT_OF_MEMORY'),
  ('PREEMPTING', 'CANCEL', 'CANCELLED'),
  ('PREEMPTING', 'PREEMPT', 'PENDING'),
  ('PREEMPTING', 'RETURN', 'PENDING'),
  ('PREEMPTING', 'EXPIRE', 'PENDING'),
  ('PREEMPTING', 'LOSE', 'NODE_FAIL'),
  ('PREEMPTING', 'RETRY', 'PENDING'),
  ('PREEMPTING', 'SUSPEND', 'SUSPENDED');

-- After the update, because a trigger before it makes the server lock each row first and compute generated columns that nothing
-- changed. The condition is read from the catalogue by every statement that moves jobs, so it names the two moves that most jobs
-- make, to the letter (FROM>TO, how far the version grows, how far the fence), and all others are asked in the function. A write may
-- pass STARTING on its way from ADMITTED, and RUNNING on its way from there, when they were reported together with what follows:
-- then the version says so.
DO $$
BEGIN
  EXECUTE format($f$
    CREATE OR REPLACE FUNCTION job_edge_refuse() RETURNS trigger LANGUAGE plpgsql AS $b$
    DECLARE
      edges CONSTANT text[] := %L;
      steps CONSTANT bigint := NEW.version - OLD.version;
    BEGIN
      IF NEW.state = OLD.state THEN
        RETURN NULL;
      END IF;
      IF steps <= 0 OR NEW.fence < OLD.fence THEN
        RAISE EXCEPTION 'job version and fence only grow' USING ERRCODE = 'FJ409';
      END IF;
      IF OLD.state || '>' || NEW.state = ANY (edges)
         OR ('RUNNING>' || NEW.state = ANY (edges) AND steps >= CASE OLD.state WHEN 'STARTING' THEN 2 WHEN 'ADMITTED' THEN 3 END)
         OR ('STARTING>' || NEW.state = ANY (edges) AND OLD.state = 'ADMITTED' AND steps >= 2) THEN
        RETURN NULL;
      END IF;
      RAISE EXCEPTION 'job state %% does not lead to %%', OLD.state, NEW.state USING ERRCODE = 'FJ409';
    END $b$ $f$, (SELECT array_agg(DISTINCT from_state || '>' || to_state) FROM job_edge));
END $$;
CREATE OR REPLACE TRIGGER job_edge AFTER UPDATE OF state ON job FOR EACH ROW
  WHEN (concat(OLD.state, '>', NEW.state, NEW.version - OLD.version, NEW.fence - OLD.fence)
        <> ALL ('{PENDING>ADMITTED11,ADMITTED>COMPLETED30}'::text[]))
  EXECUTE FUNCTION job_edge_refuse();
