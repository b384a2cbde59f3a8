-- SPDX-License-Identifier: Apache-2.0
-- 0278 - job_change is guarded like every table: what somebody does to it past Falaj is seen by the audit log.
-- N-1: additive. Locks: job_change, for the two triggers.
SET LOCAL ROLE falaj_owner;
SELECT audit_guard_tables();
