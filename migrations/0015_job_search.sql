-- SPDX-License-Identifier: Apache-2.0
-- 0015 - lists and counts of jobs by any filter, at a million jobs of one tenant. N-1: additive; the new column fills itself.
-- pg_trgm is a trusted extension: the owner of the database makes it, here falaj_owner, or a superuser beforehand.
SET LOCAL ROLE falaj_owner;
CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- The state of a job that has ended. A column of its own, because an index on `state` would make every transition of a live job write to
-- every index (no HOT update); this one changes once. The indexes below hold none of the jobs that wait, so a submission pays for none of them.
ALTER TABLE job ADD COLUMN ended text GENERATED ALWAYS AS (CASE WHEN finished_at IS NOT NULL THEN state END) STORED;
CREATE INDEX job_live ON job (tenant_id, job_id) WHERE ended IS NULL AND NOT queued;
CREATE INDEX job_ended ON job (tenant_id, ended, job_id) WHERE ended IS NOT NULL;
CREATE INDEX job_ended_kind ON job (tenant_id, kind, job_id) WHERE ended IS NOT NULL;
CREATE INDEX job_ended_creator ON job (tenant_id, created_by, job_id) WHERE ended IS NOT NULL;
CREATE INDEX job_ended_pool ON job (tenant_id, pool, job_id) WHERE ended IS NOT NULL;
CREATE INDEX job_ended_zone ON job (tenant_id, zone, job_id) WHERE ended IS NOT NULL AND zone IS NOT NULL;
CREATE INDEX job_ended_project ON job (tenant_id, project_id, job_id) WHERE ended IS NOT NULL AND project_id IS NOT NULL;
CREATE INDEX job_ended_name ON job USING gin (name gin_trgm_ops) WHERE ended IS NOT NULL;

GRANT CREATE ON SCHEMA public TO falaj_system;

-- The conditions of the filters that are given, over the parameters $1 to $11 of the two functions below; '' when there is none.
CREATE FUNCTION job_conditions(below uuid, floor uuid, kind text, project uuid, creator uuid, zone text, pool text, q text,
                               after timestamptz, before timestamptz, visible uuid[]) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT CASE WHEN kind IS NULL THEN '' ELSE ' AND kind = $4' END
      || CASE WHEN project IS NULL THEN '' ELSE ' AND project_id = $5' END
      || CASE WHEN creator IS NULL THEN '' ELSE ' AND created_by = $6' END
      || CASE WHEN zone IS NULL THEN '' ELSE ' AND zone = $7' END
      || CASE WHEN pool IS NULL THEN '' ELSE ' AND pool = $8' END
      || CASE WHEN q IS NULL THEN '' ELSE ' AND name ILIKE $9' END
      || CASE WHEN visible IS NULL THEN '' ELSE ' AND project_id = ANY ($12)' END
      || CASE WHEN below IS NULL THEN '' ELSE ' AND job_id < $2' END
      || CASE WHEN floor IS NULL THEN '' ELSE ' AND job_id >= $3' END
      || CASE WHEN after IS NULL THEN '' ELSE ' AND submitted_at >= $10' END
      || CASE WHEN before IS NULL THEN '' ELSE ' AND submitted_at < $11' END $$;

CREATE FUNCTION job_pattern(q text) RETURNS text LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS
  $$ SELECT '%' || replace(replace(replace(q, '\', '\\'), '%', '\%'), '_', '\_') || '%' $$;

-- The projects that the transaction may see; NULL: all of the tenant.
CREATE FUNCTION projects_visible() RETURNS uuid[] LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS
  $$ SELECT nullif(current_setting('app.projects', true), '')::uuid[] $$;

-- The newest ended jobs below an id ($2) of a tenant ($1), in their order, with the columns that filters look at.
CREATE FUNCTION job_newest_ended(below uuid) RETURNS text LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT 'SELECT job_id, name, kind, ended, zone, pool, created_by, project_id, submitted_at FROM job WHERE tenant_id = $1 AND ended IS NOT NULL'
      || CASE WHEN below IS NULL THEN '' ELSE ' AND job_id < $2' END || ' ORDER BY job_id DESC' $$;

-- The newest waiting jobs of a tenant that pass the conditions. They are in the order of their queue, by priority and id, so the newest of each
-- priority are taken, and of those the newest.
CREATE FUNCTION job_newest_waiting(conditions text) RETURNS text LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT format('(WITH RECURSIVE p AS (SELECT max(priority) AS level FROM job WHERE tenant_id = $1 AND queued UNION ALL'
                ' SELECT (SELECT max(priority) FROM job WHERE tenant_id = $1 AND queued AND priority < p.level) FROM p WHERE p.level IS NOT NULL)'
                ' SELECT j.* FROM p CROSS JOIN LATERAL (SELECT job.* FROM job WHERE tenant_id = $1 AND queued AND priority = p.level%s'
                ' ORDER BY job_id DESC LIMIT $15) j) job WHERE true', conditions) $$;

-- Ids of the jobs that pass every filter, newest first. `below` and `floor` bound the ids. The sets of states are what job_state.def says:
-- is_queued asks for PENDING, live for the other states of a live job, ended for the last states; NULL: any.
-- A definer's, because row-level security keeps ILIKE from the index of names: so it says itself what security would, the tenant of the
-- transaction and the projects it may see. Whoever calls it reads the rows by these ids under row-level security.
-- Each part stands in the order of one index, so a page costs a page; the plan is made for the values at hand. A part of a name is looked for
-- among the newest 10,000 ended jobs first: one that many names have fills the page there, and only a rare one is worth the index of names.
CREATE FUNCTION job_find(t uuid, below uuid, floor uuid, is_queued boolean, live text[], ended text[], kind text, project uuid, creator uuid,
                         zone text, pool text, q text, after timestamptz, before timestamptz, most bigint) RETURNS SETOF uuid
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  visible uuid[] := projects_visible();
  conditions text := job_conditions(below, floor, kind, project, creator, zone, pool, q, after, before, visible);
  sources text[] := '{}';
  last text := 'job WHERE tenant_id = $1 AND ended IS NOT NULL' || CASE WHEN ended IS NULL THEN '' ELSE ' AND ended = ANY ($14)' END;
  found uuid[];
BEGIN
  IF t IS DISTINCT FROM nullif(current_setting('app.tenant', true), '')::uuid THEN
    RETURN;
  END IF;
  IF is_queued AND live IS NULL AND ended IS NULL AND coalesce(kind, project::text, creator::text, zone, pool, q, visible::text) IS NULL THEN
    sources := ARRAY['job WHERE tenant_id = $1'];
  ELSE
    IF is_queued THEN
      sources := sources || job_newest_waiting(conditions);
    END IF;
    IF live IS NULL OR cardinality(live) > 0 THEN
      sources := sources || ('job WHERE tenant_id = $1 AND ended IS NULL AND NOT queued' || CASE WHEN live IS NULL THEN '' ELSE ' AND state = ANY ($13)' END);
    END IF;
    IF q IS NOT NULL AND (ended IS NULL OR cardinality(ended) > 0) THEN
      EXECUTE format('SELECT array_agg(job_id) FROM (SELECT job_id FROM (%s LIMIT 10000) job WHERE true%s ORDER BY job_id DESC LIMIT $15) x',
                     job_newest_ended(below), conditions || CASE WHEN ended IS NULL THEN '' ELSE ' AND ended = ANY ($14)' END)
        INTO found USING t, below, floor, kind, project, creator, zone, pool, job_pattern(q), after, before, visible, live, ended, most;
      sources := sources || CASE WHEN cardinality(found) >= most THEN 'job WHERE tenant_id = $1 AND job_id = ANY ($16)' ELSE last END;
    ELSIF ended IS NULL THEN
      sources := sources || last;
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

-- How many jobs of each state pass the filters. Live states are counted whole. Without a filter each last state is counted up to `cap`;
-- with one, the newest `cap` ended jobs that pass are counted, and when there are more the counts of all last states are at least so many.
-- When more than a hundredth of the newest `cap` ended jobs have the part of a name, those are counted and no others.
CREATE FUNCTION job_counts(t uuid, below uuid, floor uuid, kind text, project uuid, creator uuid, zone text, pool text, q text,
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

DO $$
DECLARE f text;
BEGIN
  FOREACH f IN ARRAY ARRAY['job_find(uuid, uuid, uuid, boolean, text[], text[], text, uuid, uuid, text, text, text, timestamptz, timestamptz, bigint)',
      'job_counts(uuid, uuid, uuid, text, uuid, uuid, text, text, text, timestamptz, timestamptz, text[], bigint)'] LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
    EXECUTE format('ALTER FUNCTION %s OWNER TO falaj_system', f);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM falaj_owner', f);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO falaj_app', f);
  END LOOP;
END $$;
REVOKE CREATE ON SCHEMA public FROM falaj_system;
