-- SPDX-License-Identifier: Apache-2.0
-- 0265 - what the planner reads of waiting jobs is what changed (ADR 0133). ready_xid: the transaction that stored the job,
-- so the jobs that came since a moment are found; job_change: what became of waiting jobs otherwise, written by the trigger
-- job_changed and removed by the leader once it has read it.
-- N-1: additive; older programs name the columns that they write, and the default and the trigger know what they do. A
-- scheduler of the release before does not remove what the trigger writes: a row for each waiting job that was put back,
-- held or cancelled.
-- Locks job while the index is built: on a large table take a window.
SET LOCAL ROLE falaj_owner;
ALTER TABLE job ADD COLUMN ready_xid xid8 NOT NULL DEFAULT '0';
ALTER TABLE job ALTER COLUMN ready_xid SET DEFAULT pg_current_xact_id();
COMMENT ON COLUMN job.ready_xid IS 'The transaction that stored it; 0: before that was kept';
CREATE INDEX job_came ON job (ready_xid) WHERE queued AND not_before IS NULL;
CREATE TABLE job_change (
  changed_xid xid8 NOT NULL,
  of_tenant   uuid NOT NULL,              -- the table is the platform's: no tenant sees it
  of_job      uuid NOT NULL
);
COMMENT ON TABLE job_change IS 'Waiting jobs that were put back, changed, held or ended, until the planner has read it';
CREATE INDEX job_change_at ON job_change (changed_xid);
SELECT falaj_platform_table('job_change');
GRANT SELECT, DELETE ON job_change TO falaj_scheduler;
GRANT INSERT ON job_change TO falaj_system;
