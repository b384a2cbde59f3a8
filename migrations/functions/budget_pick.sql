-- SPDX-License-Identifier: Apache-2.0
-- What one usage record or open lease counts against a budget of this measure; money of another currency does not count.
CREATE OR REPLACE FUNCTION budget_pick(measure text, budget_currency text, currency text, money_micro bigint, gpu_ms bigint, energy_mj bigint) RETURNS numeric
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE measure WHEN 'money' THEN CASE WHEN currency = budget_currency THEN money_micro ELSE 0 END
                      WHEN 'gpu_hours' THEN gpu_ms ELSE energy_mj END::numeric $$;
