-- SPDX-License-Identifier: Apache-2.0
-- Removes the checkpoints of a job but the newest `keep` that are whole, with their objects and data keys, and gives back what
-- they took
-- of the tenant's quota. One that is not whole goes too, unless the attempt of this fence may still be writing it. Returns the
-- objects,
-- whose blobs the caller removes after the commit.
CREATE OR REPLACE FUNCTION checkpoint_drop(t uuid, j uuid, keep bigint, writing bigint) RETURNS TABLE (tenant_id uuid, object_id
  uuid)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
  gone uuid[];
  n bigint;
  bytes bigint;
BEGIN
  gone := ARRAY(SELECT c.object_id FROM (
                  SELECT k.object_id, k.fence, k.whole_at, row_number() OVER (
                           ORDER BY k.whole_at IS NULL, k.fence DESC, k.whole_at DESC) AS place
                    FROM checkpoint k WHERE k.tenant_id = t AND k.job_id = j) c
                 WHERE CASE WHEN c.whole_at IS NULL THEN c.fence <> writing ELSE c.place > keep END);
  IF cardinality(gone) = 0 THEN
    RETURN;
  END IF;
  DELETE FROM checkpoint k WHERE k.tenant_id = t AND k.job_id = j AND k.object_id = ANY (gone);
  DELETE FROM dek d WHERE d.tenant_id = t AND d.object_id = ANY (gone);
  WITH o AS (DELETE FROM object b WHERE b.tenant_id = t AND b.object_id = ANY (gone) RETURNING b.state, b.stored_bytes)
  SELECT count(*), coalesce(sum(o.stored_bytes), 0) INTO n, bytes FROM o WHERE o.state = 'COMMITTED';
  UPDATE quota q SET used = q.used - n WHERE q.tenant_id = t AND q.resource = 'objects';
  UPDATE quota q SET used = q.used - bytes WHERE q.tenant_id = t AND q.resource = 'stored_bytes';
  RETURN QUERY SELECT t, g FROM unnest(gone) g;
END $$;
SELECT falaj_system_function('checkpoint_drop', 'falaj_worker_api');
