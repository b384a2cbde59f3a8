-- SPDX-License-Identifier: Apache-2.0
-- A deployment of the transaction's tenant under lock, with its jobs: the one that serves, the one that shall and the one that
-- did; whether the next one answers, is late, and whether the old one has not been asked for drain_ms. Runs as its caller,
-- behind row-level security.
CREATE OR REPLACE FUNCTION deployment_roll(t uuid, id uuid, drain_ms bigint)
RETURNS TABLE (deployment_id uuid, job_id uuid, next_job_id uuid, old_job_id uuid, name text, model_id uuid, model_version bigint,
               next_version bigint, version bigint, spec jsonb, slots bigint, is_ready boolean, is_late boolean,
               is_drained boolean, next_state text, next_message text)
LANGUAGE sql SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT d.deployment_id, d.job_id, d.next_job_id, d.old_job_id, d.name, d.model_id, d.model_version, coalesce(d.next_version, 0),
         d.version, j.spec, j.slots,
         coalesce(n.state = 'RUNNING' AND EXISTS (SELECT FROM attempt a WHERE a.tenant_id = n.tenant_id AND a.job_id = n.job_id
                    AND a.fence = n.fence AND a.live AND a.state = 'RUNNING' AND a.endpoint IS NOT NULL), false),
         coalesce(d.next_until < clock_timestamp(), false),
         coalesce(d.turned_at + drain_ms * interval '1 millisecond' < clock_timestamp(), false), n.state, n.message
    FROM deployment d JOIN job j ON j.tenant_id = d.tenant_id AND j.job_id = d.job_id
         LEFT JOIN job n ON n.tenant_id = d.tenant_id AND n.job_id = d.next_job_id
   WHERE d.tenant_id = t AND d.deployment_id = id AND d.state = 'ACTIVE' FOR UPDATE OF d
$$;
GRANT EXECUTE ON FUNCTION deployment_roll(uuid, uuid, bigint) TO falaj_app;
