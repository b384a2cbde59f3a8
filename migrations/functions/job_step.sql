-- SPDX-License-Identifier: Apache-2.0
-- The steps of a job's life, each once. A row of job_event is one; what the job's and its attempts' own rows say is not
-- written twice: the submission, the admission, that it was taken and began, and the end that a worker or the reaper gave it.
-- What follows an admission has known versions. Programs before wrote more rows of job_event: where there is one, it is the
-- step. Runs with its reader's rights.
CREATE OR REPLACE VIEW job_step WITH (security_invoker = true) AS
  SELECT tenant_id, job_id, version, state, reason, message, fence, at FROM job_event
  UNION ALL
  SELECT tenant_id, job_id, 1, 'PENDING', 'Resources', '', 0, submitted_at FROM job WHERE submitted_xid IS NOT NULL
  UNION ALL
  SELECT a.tenant_id, a.job_id, v.admitted + s.step, s.state, '', '', a.fence, s.at
    FROM attempt a
    CROSS JOIN LATERAL (
      SELECT coalesce(a.admitted_version, (
        SELECT e.version FROM job_event e
         WHERE e.tenant_id = a.tenant_id AND e.job_id = a.job_id AND e.fence = a.fence AND e.state = 'ADMITTED')) AS admitted) v
    CROSS JOIN LATERAL (VALUES (0, 'ADMITTED', CASE WHEN a.admitted_version IS NOT NULL THEN a.leased_at END),
                               (1, 'STARTING', a.taken_at), (2, 'RUNNING', a.started_at)) AS s(step, state, at)
   WHERE v.admitted IS NOT NULL AND s.at IS NOT NULL
     AND NOT EXISTS (SELECT FROM job_event x
                      WHERE x.tenant_id = a.tenant_id AND x.job_id = a.job_id AND x.version = v.admitted + s.step)
  UNION ALL
  SELECT j.tenant_id, j.job_id, j.version, j.state, j.reason, j.message, j.fence, j.finished_at FROM job j
   WHERE j.finished_at IS NOT NULL
     AND EXISTS (SELECT FROM attempt a WHERE a.tenant_id = j.tenant_id AND a.job_id = j.job_id AND a.fence = j.fence AND NOT a.live)
     AND NOT EXISTS (SELECT FROM job_event x WHERE x.tenant_id = j.tenant_id AND x.job_id = j.job_id AND x.version = j.version);
GRANT SELECT ON job_step TO falaj_app, falaj_system, falaj_scheduler, falaj_worker_api;
