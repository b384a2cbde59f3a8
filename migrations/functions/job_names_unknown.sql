-- SPDX-License-Identifier: Apache-2.0
-- Which queues and priority classes that submissions name nobody knows, of many tenants at once: queues[i] is asked of
-- tenants[i]. A queue is known when it is declared or in a quota rule, of whatever project: asked of who acts in some projects
-- alone, too, who sees no row of the tenant as a whole (docs/adr/0080). A class is the platform's, so its tenant is the nil id.
-- Each distinct name is one look-up, whatever the planner believes of the tables' sizes; what is known, which is nearly always
-- all, gives no row.
CREATE OR REPLACE FUNCTION job_names_unknown(tenants uuid[], queues text[], classes text[])
RETURNS TABLE (is_class boolean, tenant_id uuid, name text)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT false, q.tenant_id, q.name
    FROM (SELECT DISTINCT i.tenant_id, i.name FROM (SELECT unnest(tenants) AS tenant_id, unnest(queues) AS name) i) q
   WHERE (SELECT true FROM queue d WHERE d.tenant_id = q.tenant_id AND d.name = q.name LIMIT 1) IS NULL
     AND (SELECT true FROM quota_rule r
           WHERE r.tenant_id = q.tenant_id AND r.place = 'queue' AND r.queue = q.name LIMIT 1) IS NULL
  UNION ALL
  SELECT true, '00000000-0000-0000-0000-000000000000', c.name
    FROM (SELECT DISTINCT unnest(classes) AS name) c
   WHERE (SELECT true FROM priority_class p WHERE p.class = c.name LIMIT 1) IS NULL;
END $$;
SELECT falaj_system_function('job_names_unknown', 'falaj_app');
