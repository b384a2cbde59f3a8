-- SPDX-License-Identifier: Apache-2.0
-- Watts times milliseconds are millijoules. Money is kept in millionths of a minor unit, so that a second of a slot does not round to nothing.
CREATE OR REPLACE FUNCTION usage_energy_mj(slot_ms bigint, gpu_ms bigint, slot_watts bigint, gpu_watts bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$ SELECT coalesce(slot_ms * slot_watts + gpu_ms * gpu_watts, 0) $$;
