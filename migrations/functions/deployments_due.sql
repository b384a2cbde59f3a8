-- SPDX-License-Identifier: Apache-2.0
-- Deployments of any tenant, at most `limit_to`, whose roll has a step to take: the new job answers, has ended or is late, or
-- the old one has not been asked for drain_ms.
CREATE OR REPLACE FUNCTION deployments_due(drain_ms bigint, limit_to bigint) RETURNS TABLE (tenant_id uuid, deployment_id uuid)
LANGUAGE sql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT d.tenant_id, d.deployment_id FROM deployment d LEFT JOIN job n ON n.tenant_id = d.tenant_id AND n.job_id = d.next_job_id
   WHERE d.state = 'ACTIVE' AND (d.next_job_id IS NOT NULL OR d.old_job_id IS NOT NULL)
     AND (d.next_until < clock_timestamp() OR n.finished_at IS NOT NULL
          OR d.turned_at + drain_ms * interval '1 millisecond' < clock_timestamp() AND d.old_job_id IS NOT NULL
          OR n.state = 'RUNNING' AND EXISTS (SELECT FROM attempt a WHERE a.tenant_id = n.tenant_id AND a.job_id = n.job_id
                 AND a.fence = n.fence AND a.live AND a.state = 'RUNNING' AND a.endpoint IS NOT NULL))
   ORDER BY d.tenant_id, d.deployment_id LIMIT limit_to
$$;
SELECT falaj_system_function('deployments_due', 'falaj_app');
