-- SPDX-License-Identifier: Apache-2.0
-- Numbers of transactions hold for one cluster. A dump restored into another one begins to count from low again, so what is
-- ordered by them names the epoch it belongs to: audit_epoch_take() sees that the database stands in another cluster, and
-- begins the next one.
--
-- N-1: additive. An older sequencer and an older leader read none of this.
SET LOCAL ROLE falaj_owner;

-- Which cluster this database was last seen in, and where its epoch began. One row.
CREATE TABLE database_epoch (
  id            int PRIMARY KEY CHECK (id = 1),
  epoch         bigint NOT NULL DEFAULT 1,
  cluster       text NOT NULL DEFAULT '',             -- system identifier/database/timeline; empty: never looked
  stage         text NOT NULL DEFAULT 'open' CHECK (stage IN ('open', 'draining', 'listing')),
  event_ord     bigint NOT NULL DEFAULT 0,            -- audit events up to here belong to epochs before
  usage_ord     bigint NOT NULL DEFAULT 0,            -- and charges up to here
  began_at      timestamptz NOT NULL DEFAULT '-infinity',
  began_xid     xid8 NOT NULL DEFAULT '0',            -- rows before it were written by a restore
  -- While the next one is opened: its fences, the transaction that has to end first, the page up to which events were looked
  -- through.
  next_event_ord  bigint NOT NULL DEFAULT 0,
  next_usage_ord  bigint NOT NULL DEFAULT 0,
  drain         xid8 NOT NULL DEFAULT '0',
  next_page     bigint NOT NULL DEFAULT 0,
  pages         bigint NOT NULL DEFAULT 0,
  came_from     text NOT NULL DEFAULT '',
  moved_at      timestamptz,
  written       xid8 NOT NULL DEFAULT pg_current_xact_id()     -- wrote this row last; out of a dump it was another
) WITH (fillfactor = 50);
INSERT INTO database_epoch (id) VALUES (1);

-- Events of epochs before that had no number when their epoch ended; the sequencer numbers them first, in this order, and takes
-- them out.
CREATE TABLE audit_backlog (
  tenant_id     uuid NOT NULL,
  event_id      uuid NOT NULL,
  ord           bigint NOT NULL,
  PRIMARY KEY (tenant_id, event_id),
  FOREIGN KEY (tenant_id, event_id) REFERENCES audit_event
);
CREATE INDEX audit_backlog_order ON audit_backlog (ord, event_id);
SELECT falaj_tenant_table('audit_backlog');

-- In the order of insertion, which a restore keeps. Last, so that a row's transaction is known before it takes its place.
CREATE SEQUENCE usage_ord;
GRANT USAGE ON SEQUENCE usage_ord TO falaj_worker_api, falaj_scheduler;
ALTER TABLE ledger_entry ADD COLUMN ord bigint NOT NULL DEFAULT nextval('usage_ord');
ALTER TABLE usage_record ADD COLUMN ord bigint NOT NULL DEFAULT nextval('usage_ord');
ALTER TABLE budget ADD COLUMN counted_epoch bigint NOT NULL DEFAULT 0;

GRANT SELECT ON database_epoch TO falaj_app, falaj_worker_api, falaj_scheduler, falaj_sequencer, falaj_system;
GRANT UPDATE ON database_epoch, audit_cursor TO falaj_system;
GRANT SELECT, INSERT ON audit_backlog TO falaj_system;
GRANT SELECT, DELETE ON audit_backlog TO falaj_sequencer;
GRANT SELECT ON audit_log_state TO falaj_system;
GRANT USAGE, SELECT, UPDATE ON SEQUENCE audit_event_ord_seq, usage_ord TO falaj_system;
INSERT INTO tenant_kept VALUES ('audit_backlog', 'the audit log');
INSERT INTO audit_task (name) VALUES ('count');
SELECT audit_guard_tables();
