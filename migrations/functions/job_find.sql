-- SPDX-License-Identifier: Apache-2.0
-- Ids of the jobs that pass every filter, newest first. `below` and `floor` bound the ids. The sets of states are what
-- job_state.def says: is_queued asks for PENDING, live for the other states of a live job (NULL: any), ended for the last
-- states. A definer's, because row-level security keeps functions of names from the planner: so it says itself what security
-- would, the tenant of the transaction and the projects it may see. Whoever calls it reads the rows by these ids under
-- row-level security. Each source stands in the order of one index, so a page of the list costs a page; the plan is made for
-- the values at hand. What index order does not answer, a part of a name and a value that perhaps few jobs have, is looked for
-- by pages (job_paged) among waiting and ended jobs, unless these are so few that they are looked through. Without states among
-- the filters pages answer any value: one that many have fills the list from the newest of them, one that few have stands in
-- few. With states a value must stand in few, since a page does not know states.
CREATE OR REPLACE FUNCTION job_find(t uuid, below uuid, floor uuid, is_queued boolean, live text[], ended text[], kind text,
                         project uuid, creator uuid, zone text, pool text, q text, after timestamptz, before timestamptz, most bigint) RETURNS SETOF uuid
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  visible uuid[] := projects_visible();
  conditions text := job_conditions(below, floor, kind, project, creator, zone, pool, q, after, before, visible);
  facets text[] := job_facets(kind, project, creator, zone, pool);
  is_by_page boolean := q IS NOT NULL OR (live IS NULL AND (facets <> '{}' OR visible IS NOT NULL)) OR job_pages_few(t, facets);
  in_pages text[] := '{}';
  sources text[] := '{}';
BEGIN
  IF t IS DISTINCT FROM nullif(current_setting('app.tenant', true), '')::uuid THEN
    RETURN;
  END IF;
  IF is_queued AND live IS NULL AND coalesce(kind, project::text, creator::text, zone, pool, q, visible::text) IS NULL THEN
    sources := ARRAY['job WHERE tenant_id = $1'];
  ELSE
    IF is_queued AND is_by_page AND job_many(t, NULL) THEN
      in_pages := in_pages || text 'queued';
    ELSIF is_queued THEN
      sources := sources || job_newest_waiting(conditions);
    END IF;
    IF live IS NULL OR cardinality(live) > 0 THEN
      sources := sources || ('job WHERE tenant_id = $1 AND ended IS NULL AND NOT queued'
          || CASE WHEN live IS NULL THEN '' ELSE ' AND state = ANY ($13)' END);
    END IF;
    IF cardinality(ended) > 0 AND is_by_page AND job_many(t, ended) THEN
      in_pages := in_pages || text 'ended = ANY ($14)';
    ELSE
      -- One source for each state, so that each stands in the order of an index.
      sources := sources || ARRAY(SELECT format('job WHERE tenant_id = $1 AND ended = %L', s) FROM unnest(ended) s);
    END IF;
  END IF;
  sources := ARRAY(SELECT format('(SELECT job_id FROM %s%s ORDER BY job_id DESC LIMIT $15)', s, conditions)
      FROM unnest(sources) s);
  IF cardinality(in_pages) > 0 THEN
    sources := sources || format('(SELECT job_id FROM job_paged($1, $2, $3, $4, $5, $6, $7, $8, $16, $10, $11, $12, $13, $14,
        %L, $15))',
                                 conditions || ' AND (' || array_to_string(in_pages, ' OR ') || ')');
  END IF;
  IF cardinality(sources) = 0 THEN
    RETURN;
  END IF;
  RETURN QUERY EXECUTE format('SELECT job_id FROM (%s) x ORDER BY job_id DESC LIMIT $15', array_to_string(sources, ' UNION ALL '))
    USING t, below, floor, kind, project, creator, zone, pool, job_pattern(q), after, before, visible, live, ended, most, q;
END $$;
SELECT falaj_system_function('job_find', 'falaj_app');
