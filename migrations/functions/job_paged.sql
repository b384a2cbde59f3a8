-- SPDX-License-Identifier: Apache-2.0
-- The jobs that pass the conditions (job_conditions, and a text about states over the same parameters), newest first, at most
-- `most`: those that are in no page yet are looked through, then pages are gone through from the newest on. Only of a page
-- whose names have the part that is looked for and whose values are those of the filter are jobs read, and of it those whose
-- names have the part.
CREATE OR REPLACE FUNCTION job_paged(t uuid, below uuid, floor uuid, kind text, project uuid, creator uuid, zone text,
                                     pool text, q text, after timestamptz, before timestamptz, visible uuid[], live text[],
                                     ended text[], conditions text, most bigint) RETURNS TABLE (job_id uuid, state text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  needle text := replace(lower(q), chr(1), ' ');
  wanted text[] := job_facets(kind, project, creator, zone, pool);
  projects text[] := ARRAY(SELECT 'project=' || v FROM unnest(visible) v);
  text_of text := 'SELECT job_id, state FROM job WHERE tenant_id = $1 AND job_id %s' || conditions
      || ' ORDER BY job_id DESC LIMIT $15';
  seen bigint := 0;
  n bigint;
  room bigint := 500;           -- so many candidates are read together
  picked uuid[] := '{}';
  page record;
  at uuid := (SELECT p.last_id FROM job_page p WHERE p.tenant_id = t ORDER BY p.last_id DESC LIMIT 1);
BEGIN
  IF at IS NULL OR below IS NULL OR below > at THEN
    RETURN QUERY EXECUTE format(text_of, '> $16')
        USING t, below, floor, kind, project, creator, zone, pool, job_pattern(q), after, before, visible, live, ended, most,
              coalesce(at, '00000000-0000-0000-0000-000000000000');
    GET DIAGNOSTICS seen = ROW_COUNT;
  END IF;
  WHILE at IS NOT NULL AND seen < most LOOP
    -- One at a time, so that it is read in the order of the key, whatever the planner thinks of the filters.
    SELECT p.after_id, p.last_id, CASE WHEN q IS NOT NULL THEN p.names END AS names, CASE WHEN q IS NOT NULL THEN p.ids END AS ids
      INTO page FROM job_page p
     WHERE p.tenant_id = t AND p.last_id <= at AND (below IS NULL OR p.after_id < below) AND (floor IS NULL OR p.last_id >= floor)
       AND p.facets @> wanted AND (visible IS NULL OR p.facets && projects) AND (q IS NULL OR strpos(p.names, needle) > 0)
     ORDER BY p.last_id DESC LIMIT 1;
    at := CASE WHEN FOUND THEN page.after_id END;
    IF q IS NULL AND at IS NOT NULL THEN
      RETURN QUERY EXECUTE format(text_of, '> $16 AND job_id <= $17')
          USING t, below, floor, kind, project, creator, zone, pool, q, after, before, visible,
                live, ended, most - seen, page.after_id, page.last_id;
      GET DIAGNOSTICS n = ROW_COUNT;
      seen := seen + n;
    ELSIF at IS NOT NULL THEN
      picked := picked || ARRAY(SELECT u.id FROM unnest(page.ids, string_to_array(page.names, chr(1))) u(id, name)
                                 WHERE strpos(u.name, needle) > 0);
    END IF;
    IF cardinality(picked) > 0 AND (at IS NULL OR cardinality(picked) >= room) THEN
      RETURN QUERY EXECUTE format(text_of, '= ANY ($16)')
          USING t, below, floor, kind, project, creator, zone, pool, job_pattern(q), after, before, visible,
                live, ended, most - seen, picked;
      GET DIAGNOSTICS n = ROW_COUNT;
      seen := seen + n;
      picked := '{}';
      room := least(room * 2, 4000);
    END IF;
  END LOOP;
END $$;
