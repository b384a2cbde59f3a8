-- SPDX-License-Identifier: Apache-2.0
-- How many jobs of each state pass the filters. Live states are counted whole. Without a filter each last state is counted up to `cap`;
-- with one, the newest `cap` ended jobs that pass are counted, and when there are more the counts of all last states are at least so many.
-- When more than a hundredth of the newest `cap` ended jobs have the part of a name, those are counted and no others.
CREATE OR REPLACE FUNCTION job_counts(t uuid, below uuid, floor uuid, kind text, project uuid, creator uuid, zone text, pool text, q text,
                           after timestamptz, before timestamptz, last_states text[], cap bigint)
RETURNS TABLE (state text, jobs bigint, is_exact boolean)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
  visible uuid[] := projects_visible();
  conditions text := job_conditions(below, floor, kind, project, creator, zone, pool, q, after, before, visible);
  source text := 'job WHERE tenant_id = $1 AND ended IS NOT NULL';
  ends text;
  matches bigint := 0;
  seen bigint := 0;
BEGIN
  IF t IS DISTINCT FROM nullif(current_setting('app.tenant', true), '')::uuid THEN
    RETURN;
  END IF;
  IF conditions = '' THEN
    ends := 'SELECT s, least(n, $14), n <= $14 FROM unnest($13) s CROSS JOIN LATERAL'
            ' (SELECT count(*) AS n FROM (SELECT FROM job WHERE tenant_id = $1 AND ended = s LIMIT $14 + 1) x) c';
  ELSE
    IF q IS NOT NULL THEN
      EXECUTE format('SELECT count(*) FILTER (WHERE true%s), count(*) FROM (%s LIMIT $14) job', conditions, job_newest_ended(below))
        INTO matches, seen USING t, below, floor, kind, project, creator, zone, pool, job_pattern(q), after, before, visible, last_states, cap;
    END IF;
    IF matches > cap / 100 AND seen = cap THEN
      source := format('(%s LIMIT $14) job WHERE true', job_newest_ended(below));
    END IF;
    ends := format('WITH c AS MATERIALIZED (SELECT e, count(*) AS n FROM (SELECT ended AS e FROM %s%s ORDER BY job_id DESC LIMIT $14 + 1) x GROUP BY e)'
                   ' SELECT s, coalesce(c.n, 0), NOT %L AND (SELECT coalesce(sum(n), 0) FROM c) <= $14 FROM unnest($13) s LEFT JOIN c ON c.e = s',
                   source, conditions, matches > cap / 100 AND seen = cap);
  END IF;
  RETURN QUERY EXECUTE format('SELECT ''PENDING'', count(*), true FROM job WHERE tenant_id = $1 AND queued%1$s UNION ALL '
                              '(SELECT state, count(*), true FROM job WHERE tenant_id = $1 AND ended IS NULL AND NOT queued%1$s GROUP BY state)'
                              ' UNION ALL (%2$s)', conditions, ends)
    USING t, below, floor, kind, project, creator, zone, pool, job_pattern(q), after, before, visible, last_states, cap;
END $$;
SELECT falaj_system_function('job_counts', 'falaj_app');
