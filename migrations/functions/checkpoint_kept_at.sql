-- SPDX-License-Identifier: Apache-2.0
-- When the newest checkpoint of this job was whole; NULL: it has none. Runs as its caller, behind row-level security.
CREATE OR REPLACE FUNCTION checkpoint_kept_at(t uuid, j uuid) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT max(k.whole_at) FROM checkpoint k WHERE k.tenant_id = t AND k.job_id = j
$$;
GRANT EXECUTE ON FUNCTION checkpoint_kept_at(uuid, uuid) TO falaj_scheduler;
