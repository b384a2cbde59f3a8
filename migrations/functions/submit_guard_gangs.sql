-- SPDX-License-Identifier: Apache-2.0
-- Which of these submissions a limit or a budget refuses, where some are of jobs on several machines: slots and GPUs are those of
-- all machines of a job together, which job_submit_many is not told. Its lock is held from here on, so what was judged here is
-- what is stored. The others, which are most, are judged there alone.
CREATE OR REPLACE FUNCTION submit_guard_gangs(
  tenants uuid[], projects uuid[], slotss bigint[], gpuss bigint[], runtimes bigint[], users uuid[], routes text[], keys text[])
RETURNS TABLE (ord bigint, verdict text, message text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  is_guarded boolean;
BEGIN
  SELECT bool_or(x.guarded) INTO is_guarded FROM (
    SELECT guarded FROM quota WHERE quota.tenant_id = ANY (tenants) AND resource = 'jobs'
     ORDER BY quota.tenant_id FOR NO KEY UPDATE) x;
  IF is_guarded THEN
    RETURN QUERY SELECT g.ord, g.verdict, g.message
                   FROM submit_guard(tenants, projects, slotss, gpuss, runtimes, users, routes, keys) g;
  END IF;
END $$;
SELECT falaj_system_function('submit_guard_gangs', 'falaj_app', 'falaj_scheduler');
