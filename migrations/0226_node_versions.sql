-- SPDX-License-Identifier: Apache-2.0
-- 0226 - versions of machines: the planner reads those that changed since its horizon, and not all of them (ADR 0108).
-- changed_xid: the transaction that changed a fact last. change_no: how often that happened. The trigger node_changed keeps both.
-- N-1: additive; older programs name the columns that they write.
SET LOCAL ROLE falaj_owner;
ALTER TABLE node ADD COLUMN changed_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
                 ADD COLUMN change_no bigint NOT NULL DEFAULT 1;
COMMENT ON COLUMN node.changed_xid IS 'The transaction that changed what a planner sees of it';
COMMENT ON COLUMN node.change_no IS 'How often that has changed';
CREATE INDEX node_changed ON node (changed_xid);
