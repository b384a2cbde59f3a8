-- SPDX-License-Identifier: Apache-2.0
-- 0091 - a deployment rolls: beside the job that serves it stands the job that shall, and after the turn the one that did,
-- until nobody asks that one any more. Why the last roll ended without a turn is kept until the next one begins.
-- N-1: additive; the older program never rolls, and ends such a deployment with the job that serves alone.
SET LOCAL ROLE falaj_owner;
ALTER TABLE deployment
  ADD COLUMN next_job_id uuid, ADD COLUMN next_version bigint, ADD COLUMN next_until timestamptz,
  ADD COLUMN old_job_id uuid, ADD COLUMN turned_at timestamptz,
  ADD COLUMN roll_error text NOT NULL DEFAULT '' CHECK (length(roll_error) <= 512),
  ADD FOREIGN KEY (tenant_id, next_job_id) REFERENCES job,
  ADD FOREIGN KEY (tenant_id, old_job_id) REFERENCES job,
  ADD FOREIGN KEY (tenant_id, model_id, next_version) REFERENCES model_version,
  ADD CHECK ((next_job_id IS NULL) = (next_version IS NULL) AND (next_job_id IS NULL) = (next_until IS NULL)),
  ADD CHECK (old_job_id IS NULL OR turned_at IS NOT NULL);
COMMENT ON COLUMN deployment.next_until IS 'A roll that has not turned by then is given up';
CREATE INDEX deployment_rolling ON deployment (tenant_id, deployment_id)
  WHERE state = 'ACTIVE' AND (next_job_id IS NOT NULL OR old_job_id IS NOT NULL);
