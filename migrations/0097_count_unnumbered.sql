-- SPDX-License-Identifier: Apache-2.0
-- 0097 - the count of events that are in no log keeps what it found (audit_count_unnumbered), which its owner was not allowed to.
-- N-1: additive.
SET LOCAL ROLE falaj_owner;
GRANT UPDATE ON audit_task TO falaj_system;
