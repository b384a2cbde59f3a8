-- SPDX-License-Identifier: Apache-2.0
-- 0312 - up to where charges are summed up into every budget, by the order of their insertion, so that who asks where a budget
-- stands reads what came since, and not an hour of charges.
-- N-1: additive. A leader of the release before sums up as it did and moves no fence: what is read then grows until it ends.
-- The index is built under a lock that lets nobody write usage_record: some ten seconds for ten million ended attempts.
SET LOCAL ROLE falaj_owner;
CREATE TABLE usage_fence (
  id          int PRIMARY KEY CHECK (id = 1),
  epoch       bigint NOT NULL DEFAULT 0,        -- of database_epoch; of another one nothing here holds
  closed_ord  bigint NOT NULL DEFAULT 0,        -- charges up to here are in `settled` of each budget that was counted
  next_ord    bigint NOT NULL DEFAULT 0,        -- and those up to here will be, once all transactions before next_xid have ended
  next_xid    xid8 NOT NULL DEFAULT '0',        -- 0: the next fence is not set yet
  seen_ord    bigint NOT NULL DEFAULT 0         -- given out when the last pass looked
) WITH (fillfactor = 50);
COMMENT ON TABLE usage_fence IS 'Up to where the leader has summed up charges into budgets; one row';
INSERT INTO usage_fence (id) VALUES (1);
GRANT SELECT ON usage_fence TO falaj_app, falaj_scheduler, falaj_system;
GRANT UPDATE ON usage_fence TO falaj_scheduler;
CREATE INDEX usage_record_ord ON usage_record (tenant_id, ord) WHERE queue IS NOT NULL;
CREATE INDEX ledger_entry_ord ON ledger_entry (tenant_id, ord) WHERE line = 1;
SELECT audit_guard_tables();
