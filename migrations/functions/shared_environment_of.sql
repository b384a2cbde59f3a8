-- SPDX-License-Identifier: Apache-2.0
-- The shared image that a job's program runs in, whose object it is, and whether it may still be had: what the job's spec names,
-- as it is published in the job's zone. No row: the job runs in none, or it is not published there any more. Every door to such
-- an object (grant, key, bytes, kept images) asks here. Runs as its caller.
CREATE OR REPLACE FUNCTION shared_environment_of(t uuid, job uuid)
RETURNS TABLE (owner_id uuid, object_id uuid, is_withdrawn boolean)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT s.owner_id, s.object_id, s.withdrawn_at IS NOT NULL
    FROM job j JOIN shared_environment s ON s.zone = j.zone AND s.digest = substr(j.spec->>'environment', 8)
   WHERE j.tenant_id = t AND j.job_id = shared_environment_of.job AND j.spec->>'environment' LIKE 'shared/%'
$$;
GRANT EXECUTE ON FUNCTION shared_environment_of(uuid, uuid) TO falaj_app, falaj_worker_api, falaj_system;
