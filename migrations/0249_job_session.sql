-- SPDX-License-Identifier: Apache-2.0
-- 0249 - people inside running programs: the sessions that are open, each until it ends, and where a tenant lets nobody in.
-- The log of who was inside is the audit log's; a row here lives as long as its session.
-- N-1: additive; the release before knows neither table, and an agent of it passes over what it is told of sessions.
SET LOCAL ROLE falaj_owner;
CREATE TABLE job_session (
  tenant_id   uuid NOT NULL REFERENCES tenant,
  session_id  uuid NOT NULL,
  job_id      uuid NOT NULL,
  attempt_id  uuid NOT NULL,
  node_id     uuid NOT NULL,
  user_id     uuid NOT NULL,
  kind        text NOT NULL CHECK (kind IN ('exec', 'shell', 'forward')),
  ask         text NOT NULL CHECK (octet_length(ask) <= 16384),     -- core/wire/inside_wire.h: inside_ask
  asked_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  heard_at    timestamptz NOT NULL DEFAULT clock_timestamp(),       -- falaj-api says every few seconds that it is open
  noticed_at  timestamptz,                                          -- when its machine was last told
  joined      boolean NOT NULL DEFAULT false,                       -- its machine is there
  PRIMARY KEY (tenant_id, session_id)
);
COMMENT ON TABLE job_session IS 'People inside running programs, now';
CREATE INDEX job_session_node ON job_session (node_id) WHERE NOT joined;
SELECT falaj_tenant_table('job_session');
GRANT SELECT, INSERT, DELETE, UPDATE (heard_at) ON job_session TO falaj_app;
GRANT SELECT, UPDATE (noticed_at, joined) ON job_session TO falaj_worker_api;
GRANT SELECT ON job_session TO falaj_system;

CREATE TABLE inside_policy (
  tenant_id        uuid PRIMARY KEY REFERENCES tenant,
  allowed          boolean NOT NULL DEFAULT true,
  closed_projects  uuid[] NOT NULL DEFAULT '{}' CHECK (cardinality(closed_projects) <= 200),
  changed_by       uuid NOT NULL,
  changed_at       timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE inside_policy IS 'Whether a tenant lets people into its running programs; no row: it does';
SELECT falaj_tenant_table('inside_policy');
GRANT SELECT, INSERT, UPDATE ON inside_policy TO falaj_app;
GRANT SELECT ON inside_policy TO falaj_worker_api, falaj_system;
SELECT audit_guard_tables();
