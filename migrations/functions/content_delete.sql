-- SPDX-License-Identifier: Apache-2.0
-- Deletes a data set ('dataset') or a model ('model') of the transaction's tenant, with all versions and their copies in other
-- zones. What keeps it comes back instead, and then nothing is changed: a legal hold ('hold'), what still uses it by kind, id and
-- name ('deployment', 'environment', 'job', 'upload').
-- Else one row for each object that is gone ('object', its id, the bytes it had stored).
-- The data key of an object is forgotten, so that no copy of its blob opens any more; its row stays, DELETED, for the register of
-- transfers and for jobs that read or wrote it. An object that another model has, too, stays whole. Waits for who is just using
-- the thing: a job that is being stored with an object of it as input, an upload that is being completed. Runs as its caller,
-- behind row-level security.
CREATE OR REPLACE FUNCTION content_delete(t uuid, what text, thing uuid)
RETURNS TABLE (kind text, id uuid, name text, stored_bytes bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
  objects uuid[];
BEGIN
  IF what = 'dataset' THEN
    PERFORM FROM dataset d WHERE d.tenant_id = t AND d.dataset_id = thing FOR UPDATE;
    objects := ARRAY(SELECT v.object_id FROM dataset_version v WHERE v.tenant_id = t AND v.dataset_id = thing
                     UNION SELECT c.to_object FROM transfer c WHERE c.tenant_id = t AND c.dataset_id = thing);
  ELSE
    PERFORM FROM model m WHERE m.tenant_id = t AND m.model_id = thing FOR UPDATE;
    objects := ARRAY(SELECT v.object_id FROM model_version v WHERE v.tenant_id = t AND v.model_id = thing);
  END IF;
  PERFORM FROM object o WHERE o.tenant_id = t AND o.object_id = ANY (objects) ORDER BY o.object_id FOR UPDATE;

  RETURN QUERY
    SELECT 'hold', NULL::uuid, NULL::text, 0::bigint
     WHERE EXISTS (SELECT FROM (SELECT d.created_by FROM dataset d WHERE d.tenant_id = t AND d.dataset_id = thing
                                UNION SELECT v.created_by FROM dataset_version v WHERE v.tenant_id = t AND v.dataset_id = thing
                                UNION SELECT m.created_by FROM model m WHERE m.tenant_id = t AND m.model_id = thing
                                UNION SELECT v.created_by FROM model_version v WHERE v.tenant_id = t AND v.model_id = thing) p
                    WHERE subject_has_hold(t, p.created_by))
    UNION ALL
    SELECT 'deployment', d.deployment_id, d.name, 0::bigint FROM deployment d
     WHERE d.tenant_id = t AND d.model_id = thing AND d.state = 'ACTIVE'
    UNION ALL
    SELECT 'environment', v.environment_id, v.name, 0::bigint FROM environment v
      JOIN job j ON j.tenant_id = t AND j.job_id = v.job_id
     WHERE v.tenant_id = t AND v.dataset_id = thing AND (j.finished_at IS NULL OR j.state = 'COMPLETED')
    UNION ALL
    SELECT 'upload', u.upload_id, '', 0::bigint FROM upload u
     WHERE u.tenant_id = t AND u.dataset_id = thing AND u.state = 'OPEN' AND u.expires_at > now()
    UNION ALL
    SELECT 'job', j.job_id, j.name, 0::bigint FROM job j
     WHERE j.tenant_id = t AND j.finished_at IS NULL
       AND EXISTS (SELECT FROM job_object i
                    WHERE i.tenant_id = t AND i.job_id = j.job_id AND i.direction = 'input' AND i.object_id = ANY (objects))
       AND NOT EXISTS (SELECT FROM deployment d WHERE d.tenant_id = t AND d.job_id = j.job_id AND d.state = 'ACTIVE')
    LIMIT 200;
  IF FOUND THEN
    RETURN;
  END IF;

  IF what = 'dataset' THEN
    WITH p AS (DELETE FROM upload_part q USING upload u
                WHERE q.tenant_id = t AND u.tenant_id = t AND u.upload_id = q.upload_id AND u.dataset_id = thing
               RETURNING q.object_id)
    SELECT objects || coalesce(array_agg(p.object_id), '{}') INTO objects FROM p;
    DELETE FROM upload u WHERE u.tenant_id = t AND u.dataset_id = thing;
    DELETE FROM dataset_version v WHERE v.tenant_id = t AND v.dataset_id = thing;
    DELETE FROM dataset d WHERE d.tenant_id = t AND d.dataset_id = thing;
  ELSE
    DELETE FROM deployment d WHERE d.tenant_id = t AND d.model_id = thing;
    DELETE FROM model_version v WHERE v.tenant_id = t AND v.model_id = thing;
    DELETE FROM model m WHERE m.tenant_id = t AND m.model_id = thing;
    objects := ARRAY(SELECT o FROM unnest(objects) o
                      WHERE NOT EXISTS (SELECT FROM model_version v WHERE v.tenant_id = t AND v.object_id = o));
  END IF;
  UPDATE dek k SET wrapped = NULL WHERE k.tenant_id = t AND k.object_id = ANY (objects);
  RETURN QUERY
    UPDATE object o SET state = 'DELETED' WHERE o.tenant_id = t AND o.object_id = ANY (objects) AND o.state <> 'DELETED'
    RETURNING 'object', o.object_id, NULL::text, o.stored_bytes;
END $$;
GRANT EXECUTE ON FUNCTION content_delete(uuid, text, uuid) TO falaj_app;
