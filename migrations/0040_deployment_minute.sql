-- SPDX-License-Identifier: Apache-2.0
-- 0040 - how deployments answered in each of the last 60 minutes, counted by every falaj-api and summed where it is read.
-- Each writer has rows of its own and writes what it has counted so far, so that writing twice counts once and nobody waits for
-- another.
-- N-1: counts in memory alone and does not know the table.
SET LOCAL ROLE falaj_owner;
CREATE TABLE deployment_minute (
  tenant_id     uuid NOT NULL,
  deployment_id uuid NOT NULL,
  minute        bigint NOT NULL,                -- since 1970
  writer_id     uuid NOT NULL,
  requests      bigint NOT NULL CHECK (requests > 0),
  errors        bigint NOT NULL CHECK (errors >= 0),
  refused       bigint NOT NULL CHECK (refused >= 0),
  classes       bigint[] NOT NULL CHECK (cardinality(classes) <= 96),  -- good answers by time (serving/infer_stats.c)
  PRIMARY KEY (tenant_id, deployment_id, minute, writer_id),
  FOREIGN KEY (tenant_id, deployment_id) REFERENCES deployment ON DELETE CASCADE,
  CHECK (errors + refused <= requests)
);
CREATE INDEX deployment_minute_old ON deployment_minute (minute);
SELECT falaj_tenant_table('deployment_minute');
GRANT SELECT ON deployment_minute TO falaj_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON deployment_minute TO falaj_system;
SELECT audit_guard_tables();
