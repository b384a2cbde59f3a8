-- SPDX-License-Identifier: Apache-2.0
-- Forgets values of a secret: keep 0 all of them and the secret itself, else those older than the newest `keep` that no
-- unfinished job names, and none while a legal hold is on who made the secret or set a value. With keep 0 what is in the way
-- comes back instead, and nothing is changed: a legal hold ('hold'), and, unless it is disabled, unfinished jobs that name it
-- ('job', id and name). Else one row for each object that is gone ('object', its id, the bytes it had stored). The data keys are
-- forgotten, so that no copy of a value opens any more; the objects' rows stay, DELETED, for the jobs that named them. Objects
-- are locked before jobs are looked for, as job_submit_many locks them: whoever submits at the same time is found, or finds them
-- gone. Runs as its caller, behind row-level security.
CREATE OR REPLACE FUNCTION secret_forget(t uuid, which uuid, keep bigint)
RETURNS TABLE (kind text, id uuid, name text, stored_bytes bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
  newest bigint;
  is_active boolean;
  maker uuid;
  objects uuid[];
  is_held boolean;
BEGIN
  SELECT x.latest_version, x.state = 'ACTIVE', x.created_by INTO newest, is_active, maker FROM secret x
   WHERE x.tenant_id = t AND x.secret_id = which FOR UPDATE;
  objects := ARRAY(SELECT v.object_id FROM secret_version v
                    WHERE v.tenant_id = t AND v.secret_id = which AND v.version <= newest - keep);
  is_held := EXISTS (SELECT FROM (SELECT maker AS created_by UNION SELECT v.created_by FROM secret_version v
                                   WHERE v.tenant_id = t AND v.secret_id = which) p WHERE subject_has_hold(t, p.created_by));
  IF keep > 0 AND (cardinality(objects) = 0 OR is_held) THEN
    RETURN;
  END IF;
  PERFORM FROM object o WHERE o.tenant_id = t AND o.object_id = ANY (objects) ORDER BY o.object_id FOR UPDATE;
  IF keep > 0 THEN
    objects := ARRAY(SELECT o FROM unnest(objects) o
                      WHERE NOT EXISTS (SELECT FROM job j JOIN job_object i ON i.tenant_id = t AND i.job_id = j.job_id
                                         WHERE j.tenant_id = t AND j.finished_at IS NULL AND i.direction = 'input'
                                           AND i.object_id = o));
  ELSE
    RETURN QUERY
      SELECT 'hold', NULL::uuid, NULL::text, 0::bigint WHERE is_held
      UNION ALL
      SELECT 'job', j.job_id, j.name, 0::bigint FROM job j
       WHERE is_active AND j.tenant_id = t AND j.finished_at IS NULL
         AND EXISTS (SELECT FROM job_object i
                      WHERE i.tenant_id = t AND i.job_id = j.job_id AND i.direction = 'input' AND i.object_id = ANY (objects))
      LIMIT 200;
    IF FOUND THEN
      RETURN;
    END IF;
  END IF;
  DELETE FROM secret_version v WHERE v.tenant_id = t AND v.secret_id = which AND v.object_id = ANY (objects);
  IF keep = 0 THEN
    DELETE FROM secret x WHERE x.tenant_id = t AND x.secret_id = which;
  END IF;
  UPDATE dek k SET wrapped = NULL WHERE k.tenant_id = t AND k.object_id = ANY (objects);
  RETURN QUERY
    UPDATE object o SET state = 'DELETED' WHERE o.tenant_id = t AND o.object_id = ANY (objects) AND o.state <> 'DELETED'
    RETURNING 'object', o.object_id, NULL::text, o.stored_bytes;
END $$;
GRANT EXECUTE ON FUNCTION secret_forget(uuid, uuid, bigint) TO falaj_app;
