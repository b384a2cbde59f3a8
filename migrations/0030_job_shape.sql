-- SPDX-License-Identifier: Apache-2.0
-- 0030 - what a job asks for, as one number, so that the planner reads a tenant's queue by shape: jobs of one shape fit or wait together, and
-- however many wait, one look tells of all of them. N-1: additive; the column fills itself. Rewrites job: on a large table take a window.
SET LOCAL ROLE falaj_owner;
ALTER TABLE job ADD COLUMN shape bigint NOT NULL GENERATED ALWAYS AS (hashtextextended(
  coalesce(project_id::text, '') || '|' || queue || '|' || kind || '|' || data_class || '|' || coalesce(zone, '') || '|' || pool || '|' ||
  slots::text || '|' || gpus::text, 0)) STORED;
CREATE INDEX job_shape ON job (tenant_id, shape, priority DESC, job_id) WHERE queued;
