-- SPDX-License-Identifier: Apache-2.0
-- The live attempts of a machine, after one of them. Ids, sizes and times; no name, message, spec or data of the tenant.
CREATE OR REPLACE FUNCTION node_work(node uuid, behind uuid, most bigint)
RETURNS TABLE (attempt_id uuid, job_id uuid, tenant_id uuid, kind text, zone text, slots bigint, gpus bigint, state text, leased_at timestamptz,
               started_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  IF current_setting('app.tenant')::uuid <> '00000000-0000-0000-0000-000000000000' THEN
    RAISE EXCEPTION 'machines are the platform''s' USING ERRCODE = 'FJ403';
  END IF;
  RETURN QUERY SELECT a.attempt_id, a.job_id, a.tenant_id, j.kind, n.zone, a.slots, a.gpus, a.state, a.leased_at, a.started_at
    FROM machine_hold a JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id JOIN node n ON n.node_id = a.node_id
   WHERE a.node_id = node AND (behind IS NULL OR a.attempt_id > behind) ORDER BY a.attempt_id LIMIT most;
END $$;
SELECT falaj_system_function('node_work', 'falaj_app');
