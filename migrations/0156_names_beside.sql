-- SPDX-License-Identifier: Apache-2.0
-- 0156 - what hangs on a key, what a change of law would touch and what was made of a data set say names for people too: the
-- functions come back with two columns more (functions/key_hangs.sql, residency_things.sql, passport_models.sql). N-1: the
-- release before names the columns that it reads, and finds them all.
SET LOCAL ROLE falaj_owner;
DROP FUNCTION IF EXISTS key_hangs(uuid, text, bigint, bigint);
DROP FUNCTION IF EXISTS residency_things(uuid, uuid, text, bigint);
DROP FUNCTION IF EXISTS passport_models(uuid, uuid, bigint);
