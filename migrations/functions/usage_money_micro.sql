-- SPDX-License-Identifier: Apache-2.0
-- Money in millionths of a minor unit; prices are minor units an hour of a slot and of a GPU, and a kWh.
CREATE OR REPLACE FUNCTION usage_money_micro(slot_ms bigint, gpu_ms bigint, slot_hour bigint, gpu_hour bigint, energy_mj bigint, kwh bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(round((slot_ms::numeric * slot_hour + gpu_ms::numeric * gpu_hour) / 3.6 + energy_mj::numeric * kwh / 3600), 0)::bigint $$;
