-- SPDX-License-Identifier: Apache-2.0
-- 0195 - machines whose agent knows how to be one of several.
-- N-1: additive; an agent of the release before does not say it, and is given no part of a gang.
SET LOCAL ROLE falaj_owner;
ALTER TABLE node ADD COLUMN gangs boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN node.gangs IS 'Its agent runs parts of jobs on several machines';
