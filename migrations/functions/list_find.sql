-- SPDX-License-Identifier: Apache-2.0
-- Ids of a page: the rows of a list that pass every filter (filters[i] has the value vals[i]), behind the row `last` in the order `sort`, at most
-- `most`. A definer's, because row-level security keeps ILIKE from the index of names: so it says itself what security would, the tenant of
-- the transaction and the projects it may see. Whoever calls it reads the rows by these ids under row-level security.
-- The plan is made for the values at hand: a rare value is read by the index of its filter, a common one in the order of the list. Of names the
-- planner may know nothing under row-level security, so a part of one is looked for among the first 2,000 rows in the order at first: one that
-- many names have fills the page there, and only a rare one is worth the index of names.
CREATE OR REPLACE FUNCTION list_find(list text, t uuid, last uuid, sort text, q text, filters text[], vals text[], most bigint) RETURNS SETOF uuid
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  own uuid := nullif(current_setting('app.tenant', true), '')::uuid;
  visible uuid[] := projects_visible();
  id text;
  label text := 'x.name';
  place text := 'name';
  source text := 'x.tenant_id = $1';
  conditions text := '';
  condition text;
  way text := CASE WHEN starts_with(sort, '-') THEN 'DESC' ELSE 'ASC' END;
  behind text := '';
  found uuid[];
  beyond text := CASE WHEN starts_with(sort, '-') THEN '<' ELSE '>' END;
BEGIN
  IF t IS DISTINCT FROM own THEN
    RETURN;
  END IF;
  CASE list
    WHEN 'dataset', 'model', 'project' THEN
      id := list || '_id'; label := '(x.name || '' '' || x.display_name || '' '' || x.display_name_ar)';
    WHEN 'deployment' THEN id := 'deployment_id'; source := source || ' AND x.state = ''ACTIVE''';
    WHEN 'app_user' THEN id := 'user_id';
    WHEN 'api_token' THEN id := 'token_id'; place := 'expires_at';
    WHEN 'tenant' THEN
      id := 'tenant_id'; label := '(x.name || '' '' || x.display_name || '' '' || x.display_name_ar)';
      -- The directory is the platform's; another sees itself.
      source := CASE WHEN own = '00000000-0000-0000-0000-000000000000' THEN 'x.home_zone IS NOT NULL' ELSE 'x.home_zone IS NOT NULL AND x.tenant_id = $1' END;
    WHEN 'node' THEN
      id := 'node_id'; place := 'identity';
      -- The fleet is the platform's; a tenant sees the machines of the zones that it may use.
      source := CASE WHEN own = '00000000-0000-0000-0000-000000000000' THEN 'true'
        ELSE 'x.zone IN (SELECT unnest(z.home_zone || z.allowed_zones) FROM tenant z WHERE z.tenant_id = $1'
             ' UNION SELECT z.zone FROM tenant_zone z WHERE z.tenant_id = $1)' END;
  END CASE;
  IF visible IS NOT NULL AND list IN ('dataset', 'model', 'deployment', 'project') THEN
    source := source || ' AND x.project_id = ANY ($5)';
  END IF;
  FOR i IN 1 .. cardinality(filters) LOOP
    condition := list_condition(list, filters[i], vals[i]);
    IF condition IS NULL THEN
      RAISE EXCEPTION 'list % has no filter %', list, filters[i];
    END IF;
    conditions := conditions || condition;
  END LOOP;
  IF q IS NOT NULL THEN
    conditions := conditions || format(' AND %s ILIKE $3', label);
  END IF;
  IF ltrim(sort, '-') = 'created' THEN
    place := NULL;
  END IF;
  IF last IS NOT NULL AND place IS NULL THEN
    behind := format(' AND x.%I %s $2', id, beyond);
  ELSIF last IS NOT NULL THEN
    behind := format(' AND (x.%1$I, x.%2$I) %3$s (SELECT l.%1$I, l.%2$I FROM %4$I l WHERE l.%2$I = $2%5$s)', place, id, beyond, list,
                     CASE WHEN list IN ('tenant', 'node') THEN '' ELSE ' AND l.tenant_id = $1' END);
  END IF;
  way := CASE WHEN place IS NULL THEN '' ELSE format('x.%I %s, ', place, way) END || format('x.%I %s', id, way);
  IF q IS NOT NULL THEN
    EXECUTE format('SELECT array_agg(y.id) FROM (SELECT x.%1$I AS id FROM (SELECT x.* FROM %2$I x WHERE %3$s%4$s ORDER BY %5$s LIMIT 2000) x'
                   ' WHERE true%6$s ORDER BY %5$s LIMIT $4) y', id, list, source, behind, way, conditions)
      INTO found USING t, last, job_pattern(q), most, visible;
    IF cardinality(found) >= most THEN
      RETURN QUERY SELECT unnest(found);
      RETURN;
    END IF;
  END IF;
  RETURN QUERY EXECUTE format('SELECT x.%I FROM %I x WHERE %s%s%s ORDER BY %s LIMIT $4', id, list, source, conditions, behind, way)
    USING t, last, job_pattern(q), most, visible;
END $$;
SELECT falaj_system_function('list_find', 'falaj_app');
