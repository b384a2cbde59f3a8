-- SPDX-License-Identifier: Apache-2.0
-- Notes that the attempt of this fence has kept a checkpoint at step s, if no attempt before it kept one as late. Once: from then
-- on the row is not written. Called before older checkpoints are dropped. Runs as its caller, behind row-level security.
CREATE OR REPLACE FUNCTION attempt_further(t uuid, j uuid, f bigint, s bigint) RETURNS bigint LANGUAGE sql AS $$
  WITH a AS (
    UPDATE attempt SET got_further = true
     WHERE tenant_id = t AND job_id = j AND fence = f AND live AND NOT got_further
       AND NOT EXISTS (SELECT FROM checkpoint k WHERE k.tenant_id = t AND k.job_id = j AND k.fence < f AND k.step >= s
                          AND k.whole_at IS NOT NULL)
    RETURNING 1)
  SELECT count(*) FROM a
$$;
GRANT EXECUTE ON FUNCTION attempt_further(uuid, uuid, bigint, bigint) TO falaj_worker_api;
