-- SPDX-License-Identifier: Apache-2.0
-- The most that one attempt can take, on the dearest flavor of today.
CREATE OR REPLACE FUNCTION budget_most(measure text, budget_currency text, slots bigint, gpus bigint, runtime_s bigint) RETURNS numeric
LANGUAGE sql STABLE AS $$
  SELECT coalesce(max(budget_pick($1, $2, p.currency, usage_money_micro(1000 * $5 * $3, 1000 * $5 * $4, p.slot_hour, p.gpu_hour, w.energy_mj, p.kwh),
                                  1000 * $5 * $4, w.energy_mj)), CASE WHEN $1 = 'gpu_hours' THEN 1000 * $5 * $4 ELSE 0 END)
    FROM (SELECT DISTINCT ON (flavor) currency, slot_hour, gpu_hour, kwh, slot_watts, gpu_watts FROM price WHERE valid_from <= now() ORDER BY flavor, valid_from DESC) p
    CROSS JOIN LATERAL (SELECT usage_energy_mj(1000 * $5 * $3, 1000 * $5 * $4, p.slot_watts, p.gpu_watts) AS energy_mj) w $$;
