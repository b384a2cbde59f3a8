-- SPDX-License-Identifier: Apache-2.0
-- One measure out of four, in the unit that budgets are kept in: millionths of a minor unit, GPU milliseconds, millijoules.
CREATE OR REPLACE FUNCTION budget_unit(measure text) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE measure WHEN 'money' THEN 1000000 WHEN 'gpu_hours' THEN 3600000 ELSE 3600000000 END::numeric $$;
