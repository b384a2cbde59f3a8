-- SPDX-License-Identifier: Apache-2.0
-- What is held of machines, a row for each machine of a live attempt. Whoever asks what a machine has left asks this view;
-- who asks what a tenant holds may ask attempt, whose numbers are those of all its machines together.
CREATE OR REPLACE VIEW machine_hold WITH (security_invoker = true) AS
  SELECT a.node_id, a.tenant_id, a.attempt_id, a.job_id, a.slots, a.gpus, a.cpu_milli, a.memory_bytes, a.gpu_milli, a.devices,
         a.state, a.leased_at, a.started_at
    FROM attempt a WHERE a.live AND a.nodes = 1
  UNION ALL
  SELECT m.node_id, m.tenant_id, m.attempt_id, m.job_id, m.slots, m.gpus, m.cpu_milli, m.memory_bytes, m.gpu_milli, m.devices,
         m.state, m.leased_at, m.started_at
    FROM attempt_member m WHERE m.live;
GRANT SELECT ON machine_hold TO falaj_app, falaj_system, falaj_scheduler, falaj_worker_api;
