-- SPDX-License-Identifier: Apache-2.0
-- Which of these submissions a limit of waiting jobs or a budget refuses, in words with numbers. Called by job_submit_many for guarded
-- tenants only, under the lock of their quota rows, in a statement newer than that lock: so nobody else submits for them meanwhile. Calls
-- whose key is known already are not asked for anything.
CREATE OR REPLACE FUNCTION submit_guard(
  tenants uuid[], projects uuid[], slotss bigint[], gpuss bigint[], runtimes bigint[], users uuid[], routes text[], keys text[])
RETURNS TABLE (ord bigint, verdict text, message text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH f AS MATERIALIZED (
    SELECT i.* FROM unnest(tenants, projects, slotss, gpuss, runtimes, users, routes, keys) WITH ORDINALITY
      AS i(tenant_id, project_id, slots, gpus, runtime_s, user_id, route, key, ord)
     WHERE NOT EXISTS (SELECT FROM idempotency d
                        WHERE d.tenant_id = i.tenant_id AND d.principal_id = i.user_id AND d.route = i.route AND d.key = i.key)),
  t AS MATERIALIZED (
    SELECT q.tenant_id FROM quota q WHERE q.tenant_id = ANY (tenants) AND q.resource = 'jobs' AND q.guarded),
  p AS (
    SELECT f.ord, 'pending' AS verdict, format('The limit of waiting jobs does not allow this: %s of %s wait', w.n, q.hard_limit) AS message,
           row_number() OVER (PARTITION BY f.tenant_id ORDER BY f.ord) > q.hard_limit - w.n AS is_refused
      FROM f JOIN quota q ON q.tenant_id = f.tenant_id AND q.resource = 'pending_jobs'
      CROSS JOIN LATERAL (SELECT count(*) AS n FROM job j WHERE j.tenant_id = f.tenant_id AND j.queued) w),
  n AS MATERIALIZED (SELECT x.* FROM t CROSS JOIN LATERAL budget_now(t.tenant_id) x WHERE x.stop_at IS NOT NULL),
  b AS (
    SELECT f.ord, 'budget' AS verdict,
           format('The budget %s allows %s %s; %s are used or promised', d.name, trim_scale(round(n.stop_at / budget_unit(d.measure), 3)),
                  CASE d.measure WHEN 'money' THEN 'minor units of ' || d.currency WHEN 'kwh' THEN 'kWh' ELSE 'GPU hours' END,
                  trim_scale(round(n.used / budget_unit(d.measure), 3)))
           || CASE WHEN d.reserve THEN format(', and this may take %s', trim_scale(round(m.most / budget_unit(d.measure), 3))) ELSE '' END AS message,
           CASE WHEN d.reserve THEN n.used + sum(m.most) OVER (PARTITION BY n.tenant_id, n.budget_id ORDER BY f.ord) > n.stop_at
                ELSE n.used >= n.stop_at END AS is_refused
      FROM f JOIN n ON n.tenant_id = f.tenant_id AND (n.project_id IS NULL OR n.project_id = f.project_id)
      JOIN budget d ON d.tenant_id = n.tenant_id AND d.budget_id = n.budget_id
      CROSS JOIN LATERAL (SELECT budget_most(d.measure, d.currency, f.slots, f.gpus, f.runtime_s) AS most) m)
  SELECT DISTINCT ON (x.ord) x.ord, x.verdict, x.message FROM (TABLE p UNION ALL TABLE b) x WHERE x.is_refused ORDER BY x.ord, x.verdict;
END $$;
SELECT falaj_system_function('submit_guard', 'falaj_app');
