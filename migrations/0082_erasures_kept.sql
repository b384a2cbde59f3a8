-- SPDX-License-Identifier: Apache-2.0
-- 0082 - who is erased is compared with a journal outside of the database, across tenants, by two functions that see ids alone
-- (migrations/functions/erasures_undone.sql).
-- N-1: additive; no older program asks.
SET LOCAL ROLE falaj_owner;
GRANT SELECT ON audit_subject_key TO falaj_system;
