-- SPDX-License-Identifier: Apache-2.0
-- What a limit without a counter has in use: of the whole tenant, also for those who are held to some of its projects.
CREATE OR REPLACE FUNCTION quota_counted(in_tenant uuid, in_resource text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF in_tenant IS DISTINCT FROM nullif(current_setting('app.tenant', true), '')::uuid THEN
    RETURN 0;
  END IF;
  IF in_resource IN ('slots', 'gpus') THEN
    RETURN (SELECT coalesce(sum(CASE in_resource WHEN 'slots' THEN a.slots ELSE a.gpus END), 0)::bigint FROM attempt a
             WHERE a.tenant_id = in_tenant AND a.live);
  END IF;
  RETURN CASE in_resource WHEN 'running_jobs' THEN (SELECT count(*) FROM attempt a WHERE a.tenant_id = in_tenant AND a.live)
                          WHEN 'pending_jobs' THEN (SELECT count(*) FROM job j WHERE j.tenant_id = in_tenant AND j.queued) ELSE 0 END;
END $$;
SELECT falaj_system_function('quota_counted', 'falaj_app');
