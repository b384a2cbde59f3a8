-- SPDX-License-Identifier: Apache-2.0
-- What an attempt of this job may go on from: its whole checkpoints, the newest first. Runs as its caller, behind row-level
-- security.
CREATE OR REPLACE FUNCTION checkpoint_inputs(t uuid, j uuid) RETURNS TABLE (object_id uuid, place bigint)
LANGUAGE sql STABLE AS $$
  SELECT k.object_id, row_number() OVER (ORDER BY k.fence DESC, k.whole_at DESC)
    FROM checkpoint k WHERE k.tenant_id = t AND k.job_id = j AND k.whole_at IS NOT NULL
$$;
GRANT EXECUTE ON FUNCTION checkpoint_inputs(uuid, uuid) TO falaj_worker_api;
