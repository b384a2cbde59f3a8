-- SPDX-License-Identifier: Apache-2.0
-- 0290 - schedulers that stand by keep what waits (ADR 0151). plan_change: what a plan made of waiting jobs, one row for all of
-- its admissions and one for all that it told why they wait; change_swept: up to which transaction notes of both tables may be
-- gone, kept by a trigger (migrations/functions/changes_swept.sql), whoever removes them.
-- N-1: additive. A scheduler of the release before writes no plan_change; who stands by beside it finds that by comparing.
-- Locks: job_change, for the trigger.
SET LOCAL ROLE falaj_owner;
CREATE TABLE plan_change (
  changed_xid xid8 NOT NULL,
  writer      bigint NOT NULL,            -- whose plan: who wrote it knows it
  tenants     uuid[] NOT NULL,            -- the table is the platform's: no tenant sees it
  jobs        uuid[] NOT NULL,
  versions    bigint[]                    -- which the jobs have as ADMITTED; NULL: they were told something
);
COMMENT ON TABLE plan_change IS 'What a plan made of waiting jobs, until every scheduler that stands by has read it';
-- Ids do not get smaller by compression that is worth its time.
ALTER TABLE plan_change ALTER COLUMN tenants SET STORAGE EXTERNAL, ALTER COLUMN jobs SET STORAGE EXTERNAL,
      ALTER COLUMN versions SET STORAGE EXTERNAL;
CREATE INDEX plan_change_at ON plan_change (changed_xid);
CREATE TABLE change_swept (
  id   smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  upto xid8 NOT NULL DEFAULT '0'
);
COMMENT ON TABLE change_swept IS 'Notes of transactions up to this one may have been removed from job_change and plan_change';
INSERT INTO change_swept DEFAULT VALUES;
SELECT falaj_platform_table('plan_change');
SELECT falaj_platform_table('change_swept');
GRANT SELECT, INSERT, DELETE ON plan_change TO falaj_scheduler;
GRANT SELECT ON change_swept TO falaj_scheduler;
GRANT SELECT, UPDATE ON change_swept TO falaj_system;
SELECT audit_guard_tables();
