-- SPDX-License-Identifier: Apache-2.0
-- What runs on a machine, for those who must know how much and never what: ids alone.
CREATE OR REPLACE FUNCTION node_jobs(node uuid, most bigint) RETURNS TABLE (job_id uuid, total bigint)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  IF current_setting('app.tenant')::uuid <> '00000000-0000-0000-0000-000000000000' THEN
    RAISE EXCEPTION 'machines are the platform''s' USING ERRCODE = 'FJ403';
  END IF;
  RETURN QUERY SELECT a.job_id, count(*) OVER () FROM machine_hold a WHERE a.node_id = node ORDER BY a.job_id LIMIT most;
END $$;
SELECT falaj_system_function('node_jobs', 'falaj_app');
