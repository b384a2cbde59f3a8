-- SPDX-License-Identifier: Apache-2.0
-- 0247 - reservations: machines that are kept for a window of time, for maintenance or for the jobs of a tenant or project
-- (ADR 0127). reservation_machine has the machines; a trigger counts changes of both, so that planners read
-- them when they changed.
-- machine_kinds tells gangs and windows too, so its old form goes (functions/ makes the new one in the same migration).
-- N-1: additive; a scheduler of the release before knows no windows and plans as if there were none; its falaj-api names the
-- columns of machine_kinds that it reads.
SET LOCAL ROLE falaj_owner;
CREATE TABLE reservation (
  reservation_id uuid PRIMARY KEY,
  purpose        text NOT NULL CHECK (purpose IN ('maintenance', 'tenant')),
  for_tenant     uuid REFERENCES tenant ON DELETE CASCADE,     -- the table is the platform's: no tenant sees it
  for_project    uuid,                                 -- NULL: all of the tenant
  zone           text NOT NULL DEFAULT '',             -- by what the machines were chosen; empty: each by its name
  flavor         text NOT NULL DEFAULT '',
  from_at        timestamptz NOT NULL,
  until_at       timestamptz NOT NULL,
  reason         text NOT NULL DEFAULT '' CHECK (length(reason) <= 256),
  created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  FOREIGN KEY (for_tenant, for_project) REFERENCES project ON DELETE CASCADE,
  CHECK ((purpose = 'tenant') = (for_tenant IS NOT NULL)),
  CHECK (for_project IS NULL OR for_tenant IS NOT NULL),
  CHECK (until_at > from_at)
);
COMMENT ON TABLE reservation IS 'Windows of time in which machines are kept, for maintenance or for the jobs of a tenant';
CREATE INDEX reservation_until ON reservation (until_at, reservation_id);
CREATE INDEX reservation_from ON reservation (from_at, reservation_id);
CREATE INDEX reservation_for ON reservation (for_tenant, for_project) WHERE for_tenant IS NOT NULL;
CREATE TABLE reservation_machine (
  reservation_id uuid NOT NULL REFERENCES reservation ON DELETE CASCADE,
  node_id        uuid NOT NULL REFERENCES node ON DELETE CASCADE,
  PRIMARY KEY (reservation_id, node_id)
);
COMMENT ON TABLE reservation_machine IS 'The machines of a reservation';
CREATE INDEX reservation_machine_node ON reservation_machine (node_id);
CREATE TABLE reservation_revision (id int PRIMARY KEY CHECK (id = 1), revision bigint NOT NULL);
COMMENT ON TABLE reservation_revision IS 'How often any reservation has changed; one number';
INSERT INTO reservation_revision VALUES (1, 0);
SELECT falaj_platform_table('reservation');
SELECT falaj_platform_table('reservation_machine');
GRANT SELECT, INSERT, DELETE ON reservation, reservation_machine TO falaj_app;
GRANT SELECT, DELETE ON reservation, reservation_machine TO falaj_system;
GRANT SELECT, DELETE ON reservation, reservation_machine TO falaj_scheduler;
GRANT SELECT ON reservation_revision TO falaj_app, falaj_scheduler;
GRANT SELECT, UPDATE ON reservation_revision TO falaj_system;
CREATE INDEX node_draining ON node (node_id) WHERE state = 'DRAINING';
DROP FUNCTION IF EXISTS machine_kinds(text, bigint);
SELECT audit_guard_tables();
