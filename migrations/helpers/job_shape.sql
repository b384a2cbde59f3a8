-- SPDX-License-Identifier: Apache-2.0
-- What a job asks for, as a number: the planner's queues are read by it. Jobs of a tenant with the same number are the same to
-- the planner. A statement takes this function's text into its plan.
CREATE OR REPLACE FUNCTION job_shape(project_id uuid, queue text, kind text, data_class text, zone text, pool text, slots bigint,
  gpus bigint, class text, cpu_milli bigint, memory_bytes bigint, gpu_milli bigint, gpu_models text)
RETURNS bigint LANGUAGE sql IMMUTABLE AS
$$ SELECT hashtextextended(
     coalesce(project_id::text, '') || '|' || queue || '|' || kind || '|' || data_class || '|' || coalesce(zone, '') || '|' ||
     pool || '|' || slots::text || '|' || gpus::text || '|' || class || '|' || cpu_milli::text || '|' ||
     memory_bytes::text || '|' || gpu_milli::text || '|' || gpu_models, 0) $$;
