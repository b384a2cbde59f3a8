-- SPDX-License-Identifier: Apache-2.0
-- How many jobs of each state pass the filters. Live states are counted whole. Without a filter each last state is counted up
-- to `cap`; with one, the newest `cap` ended jobs that pass are counted, and when there are more the counts of all last states
-- are at least so many. With a part of a name, or a value that few have (job_pages_few), the newest `cap` jobs are counted that
-- wait or have ended and pass; when there are more, the counts of PENDING and of the last states are at least so many.
CREATE OR REPLACE FUNCTION job_counts(t uuid, below uuid, floor uuid, kind text, project uuid, creator uuid, zone text,
                           pool text, q text, after timestamptz, before timestamptz, last_states text[], cap bigint)
RETURNS TABLE (state text, jobs bigint, is_exact boolean)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
  visible uuid[] := projects_visible();
  conditions text := job_conditions(below, floor, kind, project, creator, zone, pool, q, after, before, visible);
  waiting text := format('SELECT ''PENDING'', count(*), true FROM job WHERE tenant_id = $1 AND queued%s', conditions);
  ends text;
BEGIN
  IF t IS DISTINCT FROM nullif(current_setting('app.tenant', true), '')::uuid THEN
    RETURN;
  END IF;
  IF conditions = '' THEN
    ends := 'SELECT s, least(n, $14), n <= $14 FROM unnest($13) s CROSS JOIN LATERAL'
            ' (SELECT count(*) AS n FROM (SELECT FROM job WHERE tenant_id = $1 AND ended = s LIMIT $14 + 1) x) c';
  ELSIF q IS NOT NULL OR job_pages_few(t, job_facets(kind, project, creator, zone, pool)) THEN
    waiting := NULL;
    ends := format('WITH f AS MATERIALIZED (SELECT state AS s, row_number() OVER () AS place FROM'
                   ' job_paged($1, $2, $3, $4, $5, $6, $7, $8, $15, $10, $11, $12, NULL, $13, %L, $14 + 1)),'
                   ' c AS (SELECT s, count(*) AS n FROM f WHERE place <= $14 GROUP BY s)'
                   ' SELECT x, coalesce(c.n, 0), (SELECT count(*) FROM f) <= $14 FROM unnest($13 || text ''PENDING'') x'
                   '  LEFT JOIN c ON c.s = x',
                   conditions || ' AND (queued OR ended = ANY ($14))');
  ELSE
    ends := format('WITH c AS MATERIALIZED (SELECT e, count(*) AS n FROM (SELECT ended AS e FROM job WHERE tenant_id = $1'
                   '    AND ended IS NOT NULL%s'
                   ' ORDER BY job_id DESC LIMIT $14 + 1) x GROUP BY e)'
                   ' SELECT s, coalesce(c.n, 0), (SELECT coalesce(sum(n), 0) FROM c) <= $14'
                   '   FROM unnest($13) s LEFT JOIN c ON c.e = s', conditions);
  END IF;
  RETURN QUERY EXECUTE concat_ws(' UNION ALL ', waiting,
      format('(SELECT state, count(*), true FROM job WHERE tenant_id = $1 AND ended IS NULL AND NOT queued%s GROUP BY state)',
          conditions),
      format('(%s)', ends))
    USING t, below, floor, kind, project, creator, zone, pool, job_pattern(q), after, before, visible, last_states, cap, q;
END $$;
SELECT falaj_system_function('job_counts', 'falaj_app');
