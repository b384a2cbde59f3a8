-- SPDX-License-Identifier: Apache-2.0
-- The steps of a job's life, each once: the rows of job_event, and those that only the times of an attempt tell, because they were written by
-- what came next. An ADMITTED step is followed by STARTING and RUNNING, so their versions are known. Runs with its reader's rights.
CREATE OR REPLACE VIEW job_step WITH (security_invoker = true) AS
  SELECT tenant_id, job_id, version, state, reason, message, fence, at FROM job_event
  UNION ALL
  SELECT e.tenant_id, e.job_id, e.version + s.step, s.state, '', '', e.fence, s.at
    FROM job_event e JOIN attempt a ON a.tenant_id = e.tenant_id AND a.job_id = e.job_id AND a.fence = e.fence
    CROSS JOIN LATERAL (VALUES (1, 'STARTING', a.taken_at), (2, 'RUNNING', a.started_at)) AS s(step, state, at)
   WHERE e.state = 'ADMITTED' AND s.at IS NOT NULL
     AND NOT EXISTS (SELECT FROM job_event x WHERE x.tenant_id = e.tenant_id AND x.job_id = e.job_id AND x.version = e.version + s.step);
GRANT SELECT ON job_step TO falaj_app, falaj_system, falaj_scheduler, falaj_worker_api;
