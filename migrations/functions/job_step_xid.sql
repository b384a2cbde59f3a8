-- SPDX-License-Identifier: Apache-2.0
-- Of those steps of job_step that have no row of their own and an audit event each: the transaction that wrote them, and
-- when. For J6.
CREATE OR REPLACE VIEW job_step_xid WITH (security_invoker = true) AS
  SELECT tenant_id, submitted_xid AS xid, submitted_at AS at FROM job WHERE submitted_xid IS NOT NULL
  UNION ALL
  SELECT tenant_id, admitted_xid, leased_at FROM attempt WHERE admitted_xid IS NOT NULL
  UNION ALL
  SELECT j.tenant_id, u.xid, u.ended_at
    FROM job j JOIN attempt a ON a.tenant_id = j.tenant_id AND a.job_id = j.job_id AND a.fence = j.fence AND NOT a.live
    JOIN usage_record u ON u.tenant_id = a.tenant_id AND u.attempt_id = a.attempt_id AND u.xid IS NOT NULL
   WHERE j.finished_at IS NOT NULL
     AND NOT EXISTS (SELECT FROM job_event x WHERE x.tenant_id = j.tenant_id AND x.job_id = j.job_id AND x.version = j.version);
GRANT SELECT ON job_step_xid TO falaj_system;
