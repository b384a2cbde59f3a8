-- SPDX-License-Identifier: Apache-2.0
-- 0088 - checkpoints of jobs are objects, so that the next attempt goes on wherever in the zone it runs.
-- N-1: additive; an older worker neither writes nor reads them.
SET LOCAL ROLE falaj_owner;
CREATE TABLE checkpoint (
  tenant_id   uuid NOT NULL,
  job_id      uuid NOT NULL,
  object_id   uuid NOT NULL,
  fence       bigint NOT NULL,
  step        bigint NOT NULL DEFAULT 0 CHECK (step >= 0),
  created_at  timestamptz NOT NULL DEFAULT now(),
  whole_at    timestamptz,
  PRIMARY KEY (tenant_id, job_id, object_id),
  FOREIGN KEY (tenant_id, job_id) REFERENCES job (tenant_id, job_id),
  FOREIGN KEY (tenant_id, object_id) REFERENCES object (tenant_id, object_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
COMMENT ON TABLE checkpoint IS 'States of unfinished jobs, of which the newest are kept; whole_at is absent while one is being
  written';
SELECT falaj_tenant_table('checkpoint');
CREATE POLICY in_projects ON checkpoint AS RESTRICTIVE TO falaj_app USING (projects_all() OR EXISTS (
  SELECT FROM job j WHERE j.tenant_id = checkpoint.tenant_id AND j.job_id = checkpoint.job_id));
GRANT SELECT ON checkpoint TO falaj_app;
GRANT SELECT, INSERT, UPDATE ON checkpoint TO falaj_worker_api;
GRANT SELECT, DELETE ON checkpoint TO falaj_system;
SELECT audit_guard_tables();
