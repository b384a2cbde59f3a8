-- SPDX-License-Identifier: Apache-2.0
-- 0072 - jobs are looked for by a part of their name, or by a value that few have, in pages instead of by an index of names: of
-- every 1,024 jobs, in the order of their ids, a page has the names as one text, the ids, and the values that lists filter by.
-- The scheduler makes them (scheduler/duty/job_pages.c) when all ids of their range are older than a minute; younger jobs are
-- looked through. What never changes about a job is in a page, so pages do not change either, whatever becomes of the job.
-- Pages are no truth: they can be made anew from job.
-- N-1: the older program's searches of ended jobs are slow until it is replaced; pages of older jobs are made in the minutes
-- after the upgrade.
SET LOCAL ROLE falaj_owner;
CREATE TABLE job_page (
  tenant_id  uuid NOT NULL REFERENCES tenant,
  -- The page has the jobs with after_id < job_id <= last_id; pages follow each other without a gap.
  after_id   uuid NOT NULL,
  last_id    uuid NOT NULL CHECK (last_id > after_id),
  jobs       bigint NOT NULL,
  is_final   boolean NOT NULL DEFAULT false,    -- looked at again when every clock had passed it
  names      text NOT NULL,             -- small letters, in the order of ids, chr(1) between them
  ids        uuid[] NOT NULL,
  facets     text[] NOT NULL,           -- job_facets() of all of them
  PRIMARY KEY (tenant_id, last_id)
);
-- Uncompressed: a search reads all of them, and takes longer to unpack than to look through.
ALTER TABLE job_page ALTER COLUMN names SET STORAGE EXTERNAL, ALTER COLUMN ids SET STORAGE EXTERNAL;
CREATE INDEX job_page_open ON job_page (last_id) WHERE NOT is_final;
SELECT falaj_tenant_table('job_page');
GRANT SELECT, INSERT, UPDATE ON job_page TO falaj_scheduler;
GRANT SELECT, DELETE ON job_page TO falaj_system;
DROP INDEX job_ended_name;
DROP FUNCTION job_newest_ended(uuid);
SELECT audit_guard_tables();
