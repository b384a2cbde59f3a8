-- SPDX-License-Identifier: Apache-2.0
-- What submissions name that is not there, of many tenants at once: queues[i] of tenants[i], projects[i] of owners[i], and
-- priority classes, which are the platform's. `what`: queue, class, project, or closed for a project that takes nothing new. A
-- queue is known when it is declared or in a quota rule, of whatever project: asked of who acts in some projects alone, too, who
-- sees no row of the tenant as a whole (docs/adr/0080). Whether a caller may see a project is not asked here. Each distinct name
-- is one look-up, whatever the planner believes of the tables' sizes; what is known, which is nearly always all, gives no row.
CREATE OR REPLACE FUNCTION job_names_unknown(tenants uuid[], queues text[], classes text[], owners uuid[], projects uuid[])
RETURNS TABLE (what text, tenant_id uuid, name text, project_id uuid)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT 'queue', q.tenant_id, q.name, NULL::uuid
    FROM (SELECT DISTINCT i.tenant_id, i.name FROM (SELECT unnest(tenants) AS tenant_id, unnest(queues) AS name) i) q
   WHERE (SELECT true FROM queue d WHERE d.tenant_id = q.tenant_id AND d.name = q.name LIMIT 1) IS NULL
     AND (SELECT true FROM quota_rule r
           WHERE r.tenant_id = q.tenant_id AND r.place = 'queue' AND r.queue = q.name LIMIT 1) IS NULL
  UNION ALL
  SELECT 'class', NULL, c.name, NULL
    FROM (SELECT DISTINCT unnest(classes) AS name) c
   WHERE (SELECT true FROM priority_class p WHERE p.class = c.name LIMIT 1) IS NULL
  UNION ALL
  SELECT CASE WHEN p.state IS NULL THEN 'project' ELSE 'closed' END, o.tenant_id, '', o.project_id
    FROM (SELECT DISTINCT i.tenant_id, i.project_id
            FROM (SELECT unnest(owners) AS tenant_id, unnest(projects) AS project_id) i) o
   CROSS JOIN LATERAL (
     SELECT (SELECT x.state FROM project x WHERE x.tenant_id = o.tenant_id AND x.project_id = o.project_id LIMIT 1) AS state) p
   WHERE p.state IS DISTINCT FROM 'ACTIVE';
END $$;
SELECT falaj_system_function('job_names_unknown', 'falaj_app');
