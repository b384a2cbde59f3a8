-- SPDX-License-Identifier: Apache-2.0
-- 0266 - the leader puts another machine into a reservation for one that was lost (ADR 0127). N-1: additive.
SET LOCAL ROLE falaj_owner;
GRANT INSERT ON reservation_machine TO falaj_scheduler;
