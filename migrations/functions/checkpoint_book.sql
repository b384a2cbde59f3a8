-- SPDX-License-Identifier: Apache-2.0
-- Books a checkpoint of so many stored bytes in the tenant's quota. The resource that has no room; NULL: it is booked. A caller
-- that is
-- refused rolls back.
CREATE OR REPLACE FUNCTION checkpoint_book(t uuid, bytes bigint) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE quota q SET used = q.used + 1 WHERE q.tenant_id = t AND q.resource = 'objects' AND q.used < q.hard_limit;
  IF NOT FOUND THEN
    RETURN 'objects';
  END IF;
  UPDATE quota q SET used = q.used + bytes
   WHERE q.tenant_id = t AND q.resource = 'stored_bytes' AND q.used + bytes <= q.hard_limit;
  RETURN CASE WHEN NOT FOUND THEN 'stored_bytes' END;
END $$;
SELECT falaj_system_function('checkpoint_book', 'falaj_worker_api');
