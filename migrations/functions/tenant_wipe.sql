-- SPDX-License-Identifier: Apache-2.0
-- Removes at most `most` rows of each table of a due tenant; how many it removed. A row that another one refers to waits for the next
-- call. Its keys are scheduled for destruction at once, which the keeper of keys carries out and certifies.
CREATE OR REPLACE FUNCTION tenant_wipe(t uuid, most bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  name text;
  n bigint;
  total bigint := 0;
  blocked boolean := false;
BEGIN
  PERFORM FROM tenant WHERE tenant_id = t AND state = 'DELETING' AND delete_after <= now() FOR UPDATE;
  IF NOT FOUND OR tenant_has_hold(t) THEN
    RETURN 0;
  END IF;
  UPDATE tenant_key SET state = 'DESTROY_SCHEDULED', destroy_after = now()
   WHERE tenant_id = t AND state IN ('PRIMARY', 'DECRYPT_ONLY', 'DISABLED');
  UPDATE tenant_key SET destroy_after = now() WHERE tenant_id = t AND state = 'DESTROY_SCHEDULED' AND destroy_after > now();
  FOR name IN SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
               WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
                 AND c.relname NOT IN (SELECT table_name FROM tenant_kept) ORDER BY c.oid DESC LOOP
    BEGIN
      EXECUTE format('DELETE FROM %1$I WHERE ctid = ANY (ARRAY(SELECT ctid FROM %1$I WHERE tenant_id = $1 LIMIT $2)) AND tenant_id = $1', name)
        USING t, most;
      GET DIAGNOSTICS n = ROW_COUNT;
      total := total + n;
    EXCEPTION WHEN foreign_key_violation THEN
      blocked := true;
    END;
  END LOOP;
  IF blocked AND total = 0 THEN
    RAISE EXCEPTION 'rows of tenant % refer to rows that are kept', t;
  END IF;
  RETURN total;
END $$;
SELECT falaj_system_function('tenant_wipe', 'falaj_scheduler');
