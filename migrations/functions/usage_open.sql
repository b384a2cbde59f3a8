-- SPDX-License-Identifier: Apache-2.0
-- Open commitments: the live attempts, by the price at their lease.
CREATE OR REPLACE VIEW usage_open WITH (security_invoker = true) AS
  SELECT a.tenant_id, a.attempt_id, a.job_id, j.project_id, j.queue, n.zone, n.pool, n.flavor, a.slots, a.gpus, u.wall_ms,
         u.wall_ms * a.slots AS slot_ms, u.wall_ms * a.gpus AS gpu_ms, e.energy_mj,
         usage_money_micro(u.wall_ms * a.slots, u.wall_ms * a.gpus, p.slot_hour, p.gpu_hour, e.energy_mj, p.kwh) AS money_micro,
         coalesce(p.currency, '') AS currency
    FROM attempt a JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id JOIN node n ON n.node_id = a.node_id
    LEFT JOIN LATERAL (SELECT slot_hour, gpu_hour, kwh, slot_watts, gpu_watts, currency FROM price WHERE price.flavor = n.flavor AND valid_from <= a.leased_at ORDER BY valid_from DESC LIMIT 1) p ON true
    CROSS JOIN LATERAL (SELECT greatest(0, extract(epoch FROM clock_timestamp() - coalesce(a.started_at, a.leased_at)) * 1000)::bigint AS wall_ms) u
    CROSS JOIN LATERAL (SELECT usage_energy_mj(u.wall_ms * a.slots, u.wall_ms * a.gpus, p.slot_watts, p.gpu_watts) AS energy_mj) e
   WHERE a.live;
GRANT SELECT ON usage_open TO falaj_app, falaj_scheduler, falaj_system;
