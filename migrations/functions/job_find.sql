-- SPDX-License-Identifier: Apache-2.0
-- Ids of the jobs that pass every filter, newest first. `below` and `floor` bound the ids. The sets of states are what job_state.def says:
-- is_queued asks for PENDING, live for the other states of a live job (NULL: any), ended for the last states.
-- A definer's, because row-level security keeps ILIKE from the index of names: so it says itself what security would, the tenant of the
-- transaction and the projects it may see. Whoever calls it reads the rows by these ids under row-level security.
-- Each part stands in the order of one index, so a page costs a page; the plan is made for the values at hand. A part of a name is looked for
-- among the newest 10,000 ended jobs first: one that many names have fills the page there, and only a rare one is worth the index of names.
CREATE OR REPLACE FUNCTION job_find(t uuid, below uuid, floor uuid, is_queued boolean, live text[], ended text[], kind text, project uuid, creator uuid,
                         zone text, pool text, q text, after timestamptz, before timestamptz, most bigint) RETURNS SETOF uuid
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  visible uuid[] := projects_visible();
  conditions text := job_conditions(below, floor, kind, project, creator, zone, pool, q, after, before, visible);
  sources text[] := '{}';
  last text := 'job WHERE tenant_id = $1 AND ended IS NOT NULL' || ' AND ended = ANY ($14)';
  found uuid[];
BEGIN
  IF t IS DISTINCT FROM nullif(current_setting('app.tenant', true), '')::uuid THEN
    RETURN;
  END IF;
  IF is_queued AND live IS NULL AND coalesce(kind, project::text, creator::text, zone, pool, q, visible::text) IS NULL THEN
    sources := ARRAY['job WHERE tenant_id = $1'];
  ELSE
    IF is_queued THEN
      sources := sources || job_newest_waiting(conditions);
    END IF;
    IF live IS NULL OR cardinality(live) > 0 THEN
      sources := sources || ('job WHERE tenant_id = $1 AND ended IS NULL AND NOT queued' || CASE WHEN live IS NULL THEN '' ELSE ' AND state = ANY ($13)' END);
    END IF;
    IF q IS NOT NULL AND cardinality(ended) > 0 THEN
      EXECUTE format('SELECT array_agg(job_id) FROM (SELECT job_id FROM (%s LIMIT 10000) job WHERE true%s ORDER BY job_id DESC LIMIT $15) x',
                     job_newest_ended(below), conditions || ' AND ended = ANY ($14)')
        INTO found USING t, below, floor, kind, project, creator, zone, pool, job_pattern(q), after, before, visible, live, ended, most;
      sources := sources || CASE WHEN cardinality(found) >= most THEN 'job WHERE tenant_id = $1 AND job_id = ANY ($16)' ELSE last END;
    ELSE
      -- One source for each state, so that each stands in the order of an index.
      sources := sources || ARRAY(SELECT format('job WHERE tenant_id = $1 AND ended = %L', s) FROM unnest(ended) s);
    END IF;
  END IF;
  IF cardinality(sources) = 0 THEN
    RETURN;
  END IF;
  RETURN QUERY EXECUTE format('SELECT job_id FROM (%s) x ORDER BY job_id DESC LIMIT $15', (
      SELECT string_agg(format('(SELECT job_id FROM %s%s ORDER BY job_id DESC LIMIT $15)', s, conditions), ' UNION ALL ') FROM unnest(sources) s))
    USING t, below, floor, kind, project, creator, zone, pool, job_pattern(q), after, before, visible, live, ended, most, found;
END $$;
SELECT falaj_system_function('job_find', 'falaj_app');
