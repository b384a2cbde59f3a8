-- SPDX-License-Identifier: Apache-2.0
-- 0236 - machines that run parts of programs (jobs of kind run) on several machines.
-- N-1: additive; an agent of the release before does not say it, and is given no part of such a program, which it would run as a
-- world of one.
SET LOCAL ROLE falaj_owner;
ALTER TABLE node ADD COLUMN gang_programs boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN node.gang_programs IS 'Its agent runs parts of programs on several machines';
