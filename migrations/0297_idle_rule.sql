-- SPDX-License-Identifier: Apache-2.0
-- 0297 - the idle rule: since when what an attempt has is not used, as its machines say, and for how long a tenant lets that be.
-- N-1: additive. Machines of the release before say nothing, and such attempts are never idle; a falaj-api of it refuses what it
-- does not know, and the machine says it no more.
SET LOCAL ROLE falaj_owner;
CREATE TABLE idle_policy (
  tenant_id       uuid PRIMARY KEY REFERENCES tenant,
  after_minutes   bigint NOT NULL CHECK (after_minutes = 0 OR after_minutes BETWEEN 5 AND 43200),    -- 0: for ever
  notice_minutes  bigint NOT NULL CHECK (notice_minutes BETWEEN 1 AND 1440),
  projects        text[] NOT NULL DEFAULT '{}' CHECK (cardinality(projects) <= 200),     -- prj_…=MINUTES
  changed_by      uuid NOT NULL,
  changed_at      timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE idle_policy IS 'For how long a tenant lets jobs hold what they do not use; no row: for ever';
SELECT falaj_tenant_table('idle_policy');
GRANT SELECT, INSERT, UPDATE ON idle_policy TO falaj_app;
GRANT SELECT ON idle_policy TO falaj_scheduler, falaj_system;

CREATE TABLE attempt_idle (
  tenant_id   uuid NOT NULL REFERENCES tenant,
  attempt_id  uuid NOT NULL,
  rank        bigint NOT NULL CHECK (rank BETWEEN 0 AND 63),
  idle_since  timestamptz,                              -- NULL: it is used again
  told_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  visited_at  timestamptz,                              -- when somebody was last seen inside
  noticed_at  timestamptz,                              -- its people have been told that it will be put aside
  PRIMARY KEY (tenant_id, attempt_id, rank)
);
COMMENT ON TABLE attempt_idle IS 'Running attempts whose machines have said that what they hold was not used, by rank';
SELECT falaj_tenant_table('attempt_idle');
GRANT SELECT, INSERT, UPDATE ON attempt_idle TO falaj_worker_api;
GRANT SELECT, UPDATE, DELETE ON attempt_idle TO falaj_scheduler;
GRANT SELECT ON attempt_idle TO falaj_app, falaj_system;
GRANT SELECT ON job_session TO falaj_scheduler;

ALTER TABLE job ADD COLUMN suspend_why text NOT NULL DEFAULT '' CHECK (suspend_why IN ('', 'Idle'));
COMMENT ON COLUMN job.suspend_why IS 'With suspend_requested, the reason that it is put aside for; empty: a person asked';
SELECT audit_guard_tables();
