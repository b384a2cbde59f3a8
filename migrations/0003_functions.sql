-- SPDX-License-Identifier: Apache-2.0
-- 0003 - the narrow functions that must see more than one tenant. Each is SECURITY DEFINER, owned by falaj_system, with a pinned
-- search_path, and takes tenant ids only from principals that falaj-api has authenticated. N-1: additive.
SET LOCAL ROLE falaj_owner;
GRANT CREATE ON SCHEMA public TO falaj_system;

-- Who holds this token? One row or none; the caller judges state, expiry and roles.
CREATE FUNCTION authn_token(token_hash bytea)
RETURNS TABLE (tenant_id uuid, tenant_name text, tenant_state text, home_zone text, allowed_zones text[], authz_rev bigint,
               user_id uuid, user_name text, user_state text, token_id uuid, roles text[], scopes text[],
               expires_at timestamptz, revoked_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT t.tenant_id, t.name, t.state, t.home_zone, t.allowed_zones, t.authz_rev, u.user_id, u.name, u.state, k.token_id,
         ARRAY(SELECT b.role FROM role_binding b WHERE b.tenant_id = k.tenant_id AND b.user_id = k.user_id ORDER BY b.role),
         k.scopes, k.expires_at, k.revoked_at
    FROM api_token k
    JOIN tenant t ON t.tenant_id = k.tenant_id
    JOIN app_user u ON u.tenant_id = k.tenant_id AND u.user_id = k.user_id
   WHERE k.hash = token_hash;
END $$;

CREATE FUNCTION authn_token_used(tenants uuid[], tokens uuid[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE api_token k SET last_used_at = clock_timestamp()
    FROM unnest(tenants, tokens) AS i(tenant_id, token_id)
   WHERE k.tenant_id = i.tenant_id AND k.token_id = i.token_id;
END $$;

-- Submissions of many tenants, combined into one transaction; each item keeps its own verdict:
--   'ok' stored; 'replay' the key's first answer stands (job_id is that job's); 'reused' the key belongs to another request;
--   'quota' no room (room is how much there was); 'busy' the key is being used by a call in flight.
-- Within a tenant items are admitted in their order until the quota is full. Items of one call have distinct keys.
CREATE FUNCTION job_submit_many(
  tenants uuid[], jobs uuid[], names text[], kinds text[], specs text[], zones text[], pools text[], classes text[],
  slotss bigint[], gpuss bigint[], priorities bigint[], attempts bigint[], runtimes bigint[], users uuid[],
  routes text[], keys text[], shas bytea[], event_ids uuid[], events bytea[],
  input_ords bigint[], input_names text[], input_objects uuid[])
RETURNS TABLE (ord bigint, verdict text, job_id uuid, room bigint, submitted_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  -- A statement of its own, so that the next one's snapshot is newer than any change made to these rows while we waited for them.
  PERFORM FROM quota WHERE quota.tenant_id = ANY (tenants) AND resource = 'jobs' ORDER BY quota.tenant_id FOR NO KEY UPDATE;
  RETURN QUERY
  WITH i AS MATERIALIZED (
    SELECT * FROM unnest(tenants, jobs, names, kinds, specs, zones, pools, classes, slotss, gpuss, priorities, attempts, runtimes, users,
                         routes, keys, shas, event_ids, events) WITH ORDINALITY
      AS u(tenant_id, job_id, name, kind, spec, zone, pool, data_class, slots, gpus, priority, max_attempts, max_runtime_s, user_id,
           route, key, sha, event_id, event, ord)),
  seen AS MATERIALIZED (
    SELECT i.ord, d.request_sha = i.sha AS same, d.resource_id, d.status
      FROM i CROSS JOIN LATERAL (      -- one index look-up per item, whatever the planner believes of the table's size
        SELECT request_sha, resource_id, status FROM idempotency
         WHERE tenant_id = i.tenant_id AND principal_id = i.user_id AND route = i.route AND key = i.key LIMIT 1) d),
  q AS MATERIALIZED (
    SELECT quota.tenant_id, hard_limit - used AS room FROM quota
     WHERE quota.tenant_id = ANY (tenants) AND resource = 'jobs'),
  fresh AS MATERIALIZED (
    SELECT i.*, row_number() OVER (PARTITION BY i.tenant_id ORDER BY i.ord) AS nth
      FROM i WHERE i.ord NOT IN (SELECT seen.ord FROM seen)),
  new AS MATERIALIZED (SELECT f.* FROM fresh f JOIN q ON q.tenant_id = f.tenant_id WHERE f.nth <= q.room),
  -- Whoever else submits for this tenant waits for the quota row above, so no key can have appeared since `seen`.
  idem AS (
    INSERT INTO idempotency (tenant_id, principal_id, route, key, request_sha, status, resource_id)
    SELECT tenant_id, user_id, route, key, sha, 201, job_id FROM new),
  j AS (
    INSERT INTO job (tenant_id, job_id, name, kind, spec, zone, pool, data_class, slots, gpus, priority, max_attempts, max_runtime_s,
                     created_by, reason)
    SELECT tenant_id, job_id, name, kind, spec::jsonb, zone, pool, data_class, slots, gpus, priority, max_attempts, max_runtime_s, user_id,
           'Resources' FROM new),
  e AS (INSERT INTO job_event (tenant_id, job_id, version, state, reason) SELECT tenant_id, job_id, 1, 'PENDING', 'Resources' FROM new),
  a AS (INSERT INTO audit_event (tenant_id, event_id, body) SELECT tenant_id, event_id, event FROM new),
  o AS (
    INSERT INTO job_object (tenant_id, job_id, direction, name, object_id)
    SELECT n.tenant_id, n.job_id, 'input', x.name, x.object_id
      FROM unnest(input_ords, input_names, input_objects) AS x(ord, name, object_id) JOIN new n ON n.ord = x.ord),
  b AS (UPDATE quota SET used = used + n.k
          FROM (SELECT tenant_id, count(*) AS k FROM new GROUP BY tenant_id) n
         WHERE quota.tenant_id = n.tenant_id AND quota.resource = 'jobs')
  SELECT i.ord,
         CASE WHEN new.ord IS NOT NULL THEN 'ok'
              WHEN seen.ord IS NOT NULL THEN CASE WHEN NOT seen.same THEN 'reused' WHEN seen.status = 0 THEN 'busy' ELSE 'replay' END
              ELSE 'quota' END,
         coalesce(seen.resource_id, i.job_id), coalesce(q.room, 0), now()
    FROM i LEFT JOIN new ON new.ord = i.ord LEFT JOIN seen ON seen.ord = i.ord
           LEFT JOIN q ON q.tenant_id = i.tenant_id;
END $$;

-- Reads of many tenants, combined: each (tenant, job) pair is matched exactly, so nobody sees another's.
CREATE FUNCTION job_read_many(tenants uuid[], jobs uuid[])
RETURNS TABLE (ord bigint, tenant_id uuid, job_id uuid, name text, kind text, state text, reason text, message text, spec jsonb, zone text,
               pool text, data_class text, slots bigint, gpus bigint, priority bigint, max_attempts bigint, max_runtime_s bigint,
               requeue_count bigint, fence bigint, version bigint, cancel_requested boolean, result jsonb, created_by uuid,
               submitted_at timestamptz, started_at timestamptz, finished_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT i.ord, j.tenant_id, j.job_id, j.name, j.kind, j.state, j.reason, j.message, j.spec, j.zone, j.pool, j.data_class, j.slots, j.gpus,
         j.priority, j.max_attempts, j.max_runtime_s, j.requeue_count, j.fence, j.version, j.cancel_requested, j.result, j.created_by,
         j.submitted_at, j.started_at, j.finished_at
    FROM unnest(tenants, jobs) WITH ORDINALITY AS i(tenant_id, job_id, ord)
    JOIN job j ON j.tenant_id = i.tenant_id AND j.job_id = i.job_id;
END $$;

-- A new tenant with all it starts with: first administrator and token, quotas, key of its home zone, first audit event.
-- Called by falaj-api in the platform's scope; the caller holds tenant:create.
CREATE FUNCTION tenant_create(
  t uuid, tenant_name text, shown_name text, home text, zones text[], admin_id uuid, admin_name text, binding uuid, role_name text,
  by_user uuid, token uuid, token_hash bytea, token_hint text, token_until timestamptz, key_wrapped bytea, key_root bigint,
  key_provider text, event uuid, event_body bytea) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  INSERT INTO tenant (tenant_id, name, display_name, home_zone, allowed_zones) VALUES (t, tenant_name, shown_name, home, zones);
  INSERT INTO app_user (tenant_id, user_id, name) VALUES (t, admin_id, admin_name);
  INSERT INTO role_binding (tenant_id, binding_id, user_id, role, created_by) VALUES (t, binding, admin_id, role_name, by_user);
  INSERT INTO api_token (tenant_id, token_id, user_id, name, hash, hint, expires_at)
    VALUES (t, token, admin_id, 'first administrator', token_hash, token_hint, token_until);
  INSERT INTO quota (tenant_id, resource, hard_limit) VALUES
    (t, 'jobs', 10000), (t, 'slots', 64), (t, 'gpus', 8), (t, 'stored_bytes', 10737418240), (t, 'objects', 100000);
  INSERT INTO tenant_key (tenant_id, zone, version, state, wrapped, root_version, provider)
    VALUES (t, home, 1, 'PRIMARY', key_wrapped, key_root, key_provider);
  INSERT INTO audit_event (tenant_id, event_id, body) VALUES (t, event, event_body);
END $$;
GRANT INSERT ON tenant, app_user, role_binding, api_token, tenant_key TO falaj_system;

DO $$
DECLARE f regprocedure;
BEGIN
  FOR f IN SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
            WHERE n.nspname = 'public' AND p.prosecdef LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
    EXECUTE format('ALTER FUNCTION %s OWNER TO falaj_system', f);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM falaj_owner', f);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO falaj_app', f);
  END LOOP;
END $$;
REVOKE CREATE ON SCHEMA public FROM falaj_system;
