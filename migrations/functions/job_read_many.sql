-- SPDX-License-Identifier: Apache-2.0
-- Reads of many tenants, combined: each (tenant, job) pair is matched exactly, so nobody sees another's.
CREATE OR REPLACE FUNCTION job_read_many(tenants uuid[], jobs uuid[])
RETURNS TABLE (ord bigint, tenant_id uuid, job_id uuid, name text, kind text, state text, reason text, message text, spec jsonb, zone text,
               pool text, data_class text, slots bigint, gpus bigint, priority bigint, max_attempts bigint, max_runtime_s bigint,
               requeue_count bigint, fence bigint, version bigint, cancel_requested boolean, result jsonb, created_by uuid,
               submitted_at timestamptz, started_at timestamptz, finished_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT i.ord, j.tenant_id, j.job_id, j.name, j.kind, j.state, j.reason, j.message, j.spec, j.zone, j.pool, j.data_class, j.slots, j.gpus,
         j.priority, j.max_attempts, j.max_runtime_s, j.requeue_count, j.fence, j.version, j.cancel_requested, j.result, j.created_by,
         j.submitted_at, j.started_at, j.finished_at
    FROM unnest(tenants, jobs) WITH ORDINALITY AS i(tenant_id, job_id, ord)
    JOIN job j ON j.tenant_id = i.tenant_id AND j.job_id = i.job_id;
END $$;
SELECT falaj_system_function('job_read_many', 'falaj_app');
