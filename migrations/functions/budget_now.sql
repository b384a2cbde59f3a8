-- SPDX-License-Identifier: Apache-2.0
-- Where budgets stand now: settled by ended attempts, running in live ones, and, of a reserving budget, the most that live jobs
-- may still take for one attempt each. Exact in one snapshot: entries that the leader has not summed up yet are added
-- (budget_charged), within the epoch of the database that it summed up in; after a restore, until the leader has looked, all are
-- summed up here. tid NULL: of all tenants. Runs with its caller's rights.
CREATE OR REPLACE FUNCTION budget_now(tid uuid)
RETURNS TABLE (tenant_id uuid, budget_id uuid, project_id uuid, settled numeric, running numeric, reserved numeric, whole numeric, stop_at numeric,
               used numeric, starts timestamptz)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT b.tenant_id, b.budget_id, b.project_id, s.amount, r.amount, v.amount, b.amount * budget_unit(b.measure),
         b.amount * budget_unit(b.measure) * b.stop_percent / 100, s.amount + greatest(r.amount, v.amount), c.starts
    FROM budget b CROSS JOIN database_epoch d CROSS JOIN usage_fence u
    CROSS JOIN LATERAL (SELECT CASE WHEN b.period = 'month' THEN greatest(b.period_start, date_trunc('month', now(), 'UTC')) ELSE b.period_start END
                          AS starts) c
    CROSS JOIN LATERAL (SELECT c.starts <> b.period_start OR b.counted_epoch <> d.epoch
                          OR b.counted_xid > pg_snapshot_xmax(pg_current_snapshot()) AS is_new) f
    CROSS JOIN LATERAL (
      SELECT CASE WHEN f.is_new THEN 0 ELSE b.settled END
             + budget_charged(b.tenant_id, b.project_id, b.measure, b.currency, c.starts, f.is_new, d.usage_ord,
                              CASE WHEN u.epoch = d.epoch THEN u.closed_ord ELSE 0 END, b.counted_xid, NULL) AS amount) s
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(budget_pick(b.measure, b.currency, o.currency, o.money_micro, o.gpu_ms, o.energy_mj)), 0) AS amount
        FROM usage_open o WHERE o.tenant_id = b.tenant_id AND (b.project_id IS NULL OR o.project_id = b.project_id)) r
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(budget_most(b.measure, b.currency, m.nodes * j.slots, m.nodes * j.gpus, j.max_runtime_s)), 0) AS amount
        FROM job j CROSS JOIN LATERAL (SELECT greatest(j.nodes, j.nodes_max) AS nodes) m WHERE b.reserve AND j.tenant_id = b.tenant_id AND j.finished_at IS NULL AND (b.project_id IS NULL OR j.project_id = b.project_id)) v
   WHERE tid IS NULL OR b.tenant_id = tid;
END $$;
