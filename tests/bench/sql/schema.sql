-- SPDX-License-Identifier: Apache-2.0
-- What a job submission must at least touch, for pgbench: the job, the tenant's quota row, the audit trail.
CREATE TABLE tenant_quota (tenant int PRIMARY KEY, max_jobs bigint NOT NULL, used_jobs bigint NOT NULL DEFAULT 0) WITH (fillfactor = 50);
CREATE TABLE job (id uuid PRIMARY KEY, tenant int NOT NULL, state text NOT NULL DEFAULT 'queued', spec jsonb NOT NULL,
                  created_at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE INDEX job_page ON job (tenant, created_at DESC, id DESC);
CREATE TABLE audit (seq bigserial PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp(), tenant int NOT NULL, actor text NOT NULL,
                    action text NOT NULL, subject uuid, hash bytea NOT NULL);
INSERT INTO tenant_quota (tenant, max_jobs) SELECT g, 1000000000 FROM generate_series(1, 100) g;
