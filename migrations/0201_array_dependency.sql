-- SPDX-License-Identifier: Apache-2.0
-- 0201 - jobs that wait for an array as a whole, by the names of job_dependency. An open row keeps its job back as there.
-- N-1: additive; an older scheduler leaves the rows open, and their jobs wait.
SET LOCAL ROLE falaj_owner;
CREATE TABLE array_dependency (
  tenant_id  uuid NOT NULL,
  job_id     uuid NOT NULL,
  array_id   uuid NOT NULL,
  type       text NOT NULL CHECK (type IN ('after', 'afterany', 'afterok', 'afternotok')),
  open       boolean NOT NULL DEFAULT true,
  PRIMARY KEY (tenant_id, job_id, array_id, type),
  FOREIGN KEY (tenant_id, job_id) REFERENCES job,
  FOREIGN KEY (tenant_id, array_id) REFERENCES job_array
);
CREATE INDEX array_dependency_open ON array_dependency (tenant_id, array_id) WHERE open;
COMMENT ON TABLE array_dependency IS 'Jobs that wait for an array';
SELECT falaj_tenant_table('array_dependency');
CREATE POLICY in_projects ON array_dependency AS RESTRICTIVE TO falaj_app USING (projects_all() OR EXISTS (
  SELECT FROM job j WHERE j.tenant_id = array_dependency.tenant_id AND j.job_id = array_dependency.job_id));
GRANT SELECT, DELETE ON array_dependency TO falaj_app;
GRANT SELECT, UPDATE ON array_dependency TO falaj_scheduler;
GRANT SELECT, INSERT, DELETE ON array_dependency TO falaj_system;
SELECT audit_guard_tables();
