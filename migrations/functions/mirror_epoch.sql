-- SPDX-License-Identifier: Apache-2.0
-- Of which jobs a scheduler that keeps them read: another cluster, timeline, database or file of the table means that what was
-- read before says nothing of what is there now (ADR 0151). Each plan asks, so it is no SQL function, which would be
-- planned each time.
CREATE OR REPLACE FUNCTION mirror_epoch() RETURNS text LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  RETURN format('%s/%s', audit_cluster(), pg_relation_filenode('public.job'::regclass));
END $$;
SELECT falaj_system_function('mirror_epoch', 'falaj_scheduler');
