-- SPDX-License-Identifier: Apache-2.0
-- 0021 - lists of data sets, models, deployments, users, projects, API tokens, tenants and machines by any filter and in any order, at 100,000
-- rows of one tenant. N-1: additive.
-- btree_gin is a trusted extension, of the same package as pg_trgm: with it an index of names begins with the tenant, so that looking for a
-- part of a name costs what the tenant has, whatever others call their things.
SET LOCAL ROLE falaj_owner;
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- One index for each filter, in the order of the list behind it, and in the order of names where few values are common; (tenant_id, name) is
-- unique in each table and carries the order by name.
CREATE INDEX dataset_class ON dataset (tenant_id, data_class, dataset_id);
CREATE INDEX dataset_class_name ON dataset (tenant_id, data_class, name);
CREATE INDEX dataset_project ON dataset (tenant_id, project_id, dataset_id);
CREATE INDEX dataset_creator ON dataset (tenant_id, created_by, dataset_id);
CREATE INDEX dataset_search ON dataset USING gin (tenant_id, name gin_trgm_ops);
CREATE INDEX model_project ON model (tenant_id, project_id, model_id);
CREATE INDEX model_creator ON model (tenant_id, created_by, model_id);
CREATE INDEX model_search ON model USING gin (tenant_id, name gin_trgm_ops);
CREATE INDEX deployment_newest ON deployment (tenant_id, deployment_id) WHERE state = 'ACTIVE';
CREATE INDEX deployment_model ON deployment (tenant_id, model_id, deployment_id) WHERE state = 'ACTIVE';
CREATE INDEX deployment_project ON deployment (tenant_id, project_id, deployment_id) WHERE state = 'ACTIVE';
CREATE INDEX deployment_creator ON deployment (tenant_id, created_by, deployment_id) WHERE state = 'ACTIVE';
CREATE INDEX deployment_job ON deployment (tenant_id, job_id) WHERE state = 'ACTIVE';
CREATE INDEX deployment_search ON deployment USING gin (tenant_id, name gin_trgm_ops) WHERE state = 'ACTIVE';
-- Where data lies: from a zone to the versions that lie there.
CREATE INDEX object_place ON object (tenant_id, zone, kind, object_id) WHERE kind IN ('dataset', 'model');
CREATE INDEX dataset_version_object ON dataset_version (tenant_id, object_id);
CREATE INDEX model_version_object ON model_version (tenant_id, object_id);
CREATE INDEX app_user_state ON app_user (tenant_id, state, user_id);
CREATE INDEX app_user_kind ON app_user (tenant_id, kind, user_id);
CREATE INDEX app_user_state_name ON app_user (tenant_id, state, name);
CREATE INDEX app_user_kind_name ON app_user (tenant_id, kind, name);
CREATE INDEX app_user_search ON app_user USING gin (tenant_id, name gin_trgm_ops);
CREATE INDEX role_binding_role ON role_binding (tenant_id, role, user_id);
CREATE INDEX project_state ON project (tenant_id, state, project_id);
CREATE INDEX project_search ON project USING gin (tenant_id, (name || ' ' || display_name) gin_trgm_ops);
CREATE INDEX api_token_ends ON api_token (tenant_id, expires_at, token_id);
CREATE INDEX api_token_unrevoked ON api_token (tenant_id, token_id) WHERE revoked_at IS NULL;
CREATE INDEX api_token_revoked ON api_token (tenant_id, token_id) WHERE revoked_at IS NOT NULL;
CREATE INDEX api_token_search ON api_token USING gin (tenant_id, name gin_trgm_ops);
CREATE INDEX tenant_search ON tenant USING gin ((name || ' ' || display_name) gin_trgm_ops);
CREATE INDEX node_zone ON node (zone, node_id);
CREATE INDEX node_pool ON node (pool, node_id);
CREATE INDEX node_search ON node USING gin (name gin_trgm_ops);

GRANT CREATE ON SCHEMA public TO falaj_system;

-- The condition that a filter of a list means, with its value in it; an unknown one is a fault of the program that asks.
CREATE FUNCTION list_condition(list text, filter text, val text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF (list, filter) IN (('dataset', 'data_class'), ('dataset', 'project_id'), ('dataset', 'created_by'), ('model', 'project_id'), ('model', 'created_by'),
                        ('deployment', 'model_id'), ('deployment', 'project_id'), ('deployment', 'created_by'), ('app_user', 'state'),
                        ('app_user', 'kind'), ('project', 'state'), ('api_token', 'user_id'), ('tenant', 'state'), ('node', 'state'),
                        ('node', 'zone'), ('node', 'pool')) THEN
    RETURN format(' AND x.%I = %L', filter, val);
  END IF;
  IF (list, filter) IN (('app_user', 'name'), ('project', 'name'), ('api_token', 'name'), ('tenant', 'name')) THEN
    RETURN format(' AND x.name LIKE %L', substr(job_pattern(val), 2));
  END IF;
  IF filter = 'zone' AND list IN ('dataset', 'model') THEN
    RETURN format(' AND x.%1$I IN (SELECT v.%1$I FROM object o JOIN %2$I v ON v.tenant_id = o.tenant_id AND v.object_id = o.object_id'
                  ' WHERE o.tenant_id = $1 AND o.zone = %3$L AND o.kind = %4$L)', list || '_id', list || '_version', val, list);
  END IF;
  RETURN CASE list || '.' || filter || '.' || CASE WHEN filter IN ('ready', 'state') THEN val ELSE '' END
    WHEN 'app_user.role.' THEN format(' AND x.user_id IN (SELECT b.user_id FROM role_binding b WHERE b.tenant_id = $1 AND b.role = %L'
                                        ' AND ($5 IS NULL OR b.project_id = ANY ($5)))', val)
    -- What answers is bounded by the machines there are, so either way the work is.
    WHEN 'deployment.ready.true' THEN ' AND x.job_id = ANY (ARRAY(' || serving_jobs() || '))'
    WHEN 'deployment.ready.false' THEN ' AND NOT x.job_id = ANY (ARRAY(' || serving_jobs() || '))'
    WHEN 'api_token.state.active' THEN ' AND x.revoked_at IS NULL AND x.expires_at > clock_timestamp()'
    WHEN 'api_token.state.expired' THEN ' AND x.revoked_at IS NULL AND x.expires_at <= clock_timestamp()'
    WHEN 'api_token.state.revoked' THEN ' AND x.revoked_at IS NOT NULL'
  END;
END $$;

-- The jobs of a tenant ($1) whose live attempt has said where it listens.
CREATE FUNCTION serving_jobs() RETURNS text LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT 'SELECT a.job_id FROM attempt a JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id AND j.fence = a.fence'
         ' WHERE a.tenant_id = $1 AND a.live AND a.state = ''RUNNING'' AND a.endpoint IS NOT NULL AND j.state = ''RUNNING''' $$;

-- Ids of a page: the rows of a list that pass every filter (filters[i] has the value vals[i]), behind the row `last` in the order `sort`, at most
-- `most`. A definer's, because row-level security keeps ILIKE from the index of names: so it says itself what security would, the tenant of
-- the transaction and the projects it may see. Whoever calls it reads the rows by these ids under row-level security.
-- The plan is made for the values at hand: a rare value is read by the index of its filter, a common one in the order of the list. Of names the
-- planner may know nothing under row-level security, so a part of one is looked for among the first 2,000 rows in the order at first: one that
-- many names have fills the page there, and only a rare one is worth the index of names.
CREATE FUNCTION list_find(list text, t uuid, last uuid, sort text, q text, filters text[], vals text[], most bigint) RETURNS SETOF uuid
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
    WHEN 'dataset', 'model' THEN id := list || '_id';
    WHEN 'deployment' THEN id := 'deployment_id'; source := source || ' AND x.state = ''ACTIVE''';
    WHEN 'app_user' THEN id := 'user_id';
    WHEN 'project' THEN id := 'project_id'; label := '(x.name || '' '' || x.display_name)';
    WHEN 'api_token' THEN id := 'token_id'; place := 'expires_at';
    WHEN 'tenant' THEN
      id := 'tenant_id'; label := '(x.name || '' '' || x.display_name)';
      -- The directory is the platform's; another sees itself.
      source := CASE WHEN own = '00000000-0000-0000-0000-000000000000' THEN 'x.home_zone IS NOT NULL' ELSE 'x.home_zone IS NOT NULL AND x.tenant_id = $1' END;
    WHEN 'node' THEN id := 'node_id'; place := 'identity'; source := 'true';
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

REVOKE ALL ON FUNCTION list_find(text, uuid, uuid, text, text, text[], text[], bigint) FROM PUBLIC;
ALTER FUNCTION list_find(text, uuid, uuid, text, text, text[], text[], bigint) OWNER TO falaj_system;
REVOKE ALL ON FUNCTION list_find(text, uuid, uuid, text, text, text[], text[], bigint) FROM falaj_owner;
GRANT EXECUTE ON FUNCTION list_find(text, uuid, uuid, text, text, text[], text[], bigint) TO falaj_app;
REVOKE CREATE ON SCHEMA public FROM falaj_system;
