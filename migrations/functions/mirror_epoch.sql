-- SPDX-License-Identifier: Apache-2.0
-- In which cluster, database and timeline a scheduler reads what it keeps: another one means that what was read before says
-- nothing of what is there now (ADR 0151). None of these changes while a session of the server lives: a restore begins new ones,
-- and a server that is not promoted yet refuses the question. So it is asked once in each and kept in a setting, which the reads
-- look at first (MIRROR_EPOCH, scheduler/mirror/machines.h); a transaction that is rolled back only asks again.
CREATE OR REPLACE FUNCTION mirror_epoch() RETURNS text LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  RETURN set_config('falaj.mirror_epoch', audit_cluster(), false);
END $$;
SELECT falaj_system_function('mirror_epoch', 'falaj_scheduler');
