-- SPDX-License-Identifier: Apache-2.0
-- Energy of an attempt: of its processors and of its GPUs what was measured, each, or else what the price book's watts make of
-- the time.
CREATE OR REPLACE FUNCTION usage_energy_measured_mj(slot_ms bigint, gpu_ms bigint, slot_watts bigint, gpu_watts bigint,
                                                    cpu_mj bigint, gpu_mj bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$ SELECT coalesce(cpu_mj, slot_ms * slot_watts, 0) + coalesce(gpu_mj, gpu_ms * gpu_watts, 0) $$;
