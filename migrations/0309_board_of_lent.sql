-- SPDX-License-Identifier: Apache-2.0
-- 0309 - a run ahead of the planner knows which machines are here for one lease (ADR 0147): queue_machines gets a column more, so
-- it is made anew from functions/. N-1: a falaj-api of the release before asks for the other columns by their names.
SET LOCAL ROLE falaj_owner;
DROP FUNCTION IF EXISTS queue_machines(bigint);
