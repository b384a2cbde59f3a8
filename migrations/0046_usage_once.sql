-- SPDX-License-Identifier: Apache-2.0
-- 0046 - an ended attempt is charged in one row of usage_record, from which both lines of the ledger follow, instead of three;
-- and six indexes of ended jobs are one that has in it what the lists filter by. The view usage_debit reads the new rows and, of
-- attempts that ended before or by the older program, those of ledger_entry.
-- N-1: the older program leaves `queue` empty and writes ledger_entry as before, so each attempt is charged once.
SET LOCAL ROLE falaj_owner;
ALTER TABLE usage_record
  ADD COLUMN project_id   uuid,
  ADD COLUMN queue        text,                       -- NULL: the charge stands in ledger_entry
  ADD COLUMN flavor       text,
  ADD COLUMN energy_mj    bigint,
  ADD COLUMN money_micro  bigint,
  ADD COLUMN currency     text,
  ADD COLUMN xid          xid8,
  ADD CONSTRAINT usage_record_is_debit CHECK (
    queue IS NULL OR slot_ms >= 0 AND gpu_ms >= 0 AND energy_mj >= 0 AND money_micro >= 0
                     AND flavor IS NOT NULL AND currency IS NOT NULL AND xid IS NOT NULL);
ALTER TABLE usage_record ALTER COLUMN xid SET DEFAULT pg_current_xact_id();
CREATE INDEX usage_record_at ON usage_record (tenant_id, ended_at) WHERE queue IS NOT NULL;
DROP POLICY in_projects ON usage_record;
CREATE POLICY in_projects ON usage_record AS RESTRICTIVE TO falaj_app USING (
  CASE WHEN queue IS NOT NULL THEN project_visible(project_id)
       ELSE projects_all() OR EXISTS (
         SELECT FROM job WHERE job.tenant_id = usage_record.tenant_id AND job.job_id = usage_record.job_id)
  END);

-- In the order of each list: a common value fills a page at once, and a rare one is looked for in this index, without the rows.
CREATE INDEX job_ended_list ON job (tenant_id, ended, job_id) INCLUDE (kind, created_by, pool, zone, project_id)
  WHERE ended IS NOT NULL;
DROP INDEX job_ended, job_ended_kind, job_ended_creator, job_ended_pool, job_ended_zone, job_ended_project;
