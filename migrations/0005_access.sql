-- SPDX-License-Identifier: Apache-2.0
-- 0005 - projects, roles bound at a place and under conditions, approvals. N-1: additive; the old program binds roles at the tenant.
SET LOCAL ROLE falaj_owner;

CREATE TABLE project (
  tenant_id     uuid NOT NULL REFERENCES tenant,
  project_id    uuid NOT NULL,
  name          text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  display_name  text NOT NULL DEFAULT '',
  state         text NOT NULL DEFAULT 'ACTIVE' CHECK (state IN ('ACTIVE', 'CLOSED')),
  version       bigint NOT NULL DEFAULT 1,
  created_by    uuid NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, project_id),
  UNIQUE (tenant_id, name)
);

-- NULL: of the tenant as a whole. Who holds roles in projects only sees those projects' rows (see project_visible).
ALTER TABLE job ADD COLUMN project_id uuid;
ALTER TABLE dataset ADD COLUMN project_id uuid, ADD FOREIGN KEY (tenant_id, project_id) REFERENCES project;
ALTER TABLE model ADD COLUMN project_id uuid, ADD FOREIGN KEY (tenant_id, project_id) REFERENCES project;
ALTER TABLE deployment ADD COLUMN project_id uuid, ADD FOREIGN KEY (tenant_id, project_id) REFERENCES project;

-- Where a role holds and under which conditions. All conditions must be true at the moment of use.
ALTER TABLE role_binding
  ADD COLUMN place          text NOT NULL DEFAULT 'tenant' CHECK (place IN ('platform', 'zone', 'tenant', 'project')),
  ADD COLUMN zone           text REFERENCES zone,           -- place 'zone'
  ADD COLUMN project_id     uuid,                           -- place 'project'
  ADD COLUMN valid_from     timestamptz,
  ADD COLUMN valid_until    timestamptz,
  ADD COLUMN mfa_age_s      bigint CHECK (mfa_age_s BETWEEN 60 AND 86400),
  ADD COLUMN cidrs          cidr[] NOT NULL DEFAULT '{}' CHECK (cardinality(cidrs) <= 16),
  ADD COLUMN in_zones       text[] NOT NULL DEFAULT '{}' CHECK (cardinality(in_zones) <= 16),  -- condition: only on resources of these zones
  ADD COLUMN source         text NOT NULL DEFAULT 'direct' CHECK (source IN ('direct', 'group', 'invitation')),
  ADD FOREIGN KEY (tenant_id, project_id) REFERENCES project,
  ADD CHECK ((place = 'zone') = (zone IS NOT NULL)),
  ADD CHECK ((place = 'project') = (project_id IS NOT NULL)),
  DROP CONSTRAINT role_binding_tenant_id_user_id_role_key;
CREATE UNIQUE INDEX role_binding_once ON role_binding (tenant_id, user_id, role, place, coalesce(zone, ''),
  coalesce(project_id, '00000000-0000-0000-0000-000000000000'::uuid), source);
CREATE INDEX role_binding_user ON role_binding (tenant_id, user_id);
UPDATE role_binding SET place = 'platform' WHERE tenant_id = '00000000-0000-0000-0000-000000000000';

-- A binding as programs read it; times are microseconds since 1970. In the platform's own tenant, the tenant is the platform.
-- Names its functions in full instead of pinning search_path: only so does the planner put it into the query that calls it, which makes an
-- explanation over ten thousand bindings ten times as fast.
CREATE FUNCTION bindings_json(b role_binding) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
    'binding_id', b.binding_id, 'role', b.role,
    'place', CASE WHEN b.tenant_id = '00000000-0000-0000-0000-000000000000' AND b.place = 'tenant' THEN 'platform' ELSE b.place END,
    'zone', b.zone, 'project_id', b.project_id,
    'valid_from_us', (extract(epoch FROM b.valid_from) * 1000000)::bigint,
    'valid_until_us', (extract(epoch FROM b.valid_until) * 1000000)::bigint, 'mfa_age_s', b.mfa_age_s,
    'cidrs', CASE WHEN b.cidrs <> '{}' THEN pg_catalog.to_jsonb(b.cidrs::text[]) END,
    'in_zones', CASE WHEN b.in_zones <> '{}' THEN pg_catalog.to_jsonb(b.in_zones) END)) $$;

-- DEACTIVATED is for good: roles taken back, credentials ended.
ALTER TABLE app_user DROP CONSTRAINT app_user_state_check;
ALTER TABLE app_user ADD CHECK (state IN ('ACTIVE', 'DISABLED', 'DEACTIVATED'));
-- Every kind of credential of a user ends here; whoever adds a kind replaces this function with one that ends it too.
CREATE FUNCTION user_end_credentials(t uuid, u uuid) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE api_token SET revoked_at = coalesce(revoked_at, clock_timestamp()) WHERE tenant_id = t AND user_id = u;
END $$;

CREATE TABLE approval (
  tenant_id     uuid NOT NULL REFERENCES tenant,
  approval_id   uuid NOT NULL,
  kind          text NOT NULL,
  state         text NOT NULL DEFAULT 'PENDING' CHECK (state IN ('PENDING', 'EXECUTED', 'REFUSED', 'WITHDRAWN', 'EXPIRED', 'FAILED')),
  subject_id    uuid,
  subject       text NOT NULL,
  payload       jsonb NOT NULL,
  payload_sha   bytea NOT NULL CHECK (length(payload_sha) = 32),
  reason        text NOT NULL DEFAULT '' CHECK (length(reason) <= 1024),
  needed        bigint NOT NULL CHECK (needed BETWEEN 1 AND 4),
  requested_by  uuid NOT NULL,
  outcome       text NOT NULL DEFAULT '',
  created_at    timestamptz NOT NULL DEFAULT now(),
  expires_at    timestamptz NOT NULL,
  decided_at    timestamptz,
  PRIMARY KEY (tenant_id, approval_id)
);
CREATE UNIQUE INDEX approval_pending ON approval (tenant_id, kind, subject) WHERE state = 'PENDING';

CREATE TABLE approval_decision (
  tenant_id     uuid NOT NULL,
  approval_id   uuid NOT NULL,
  user_id       uuid NOT NULL,
  approve       boolean NOT NULL,
  note          text NOT NULL DEFAULT '' CHECK (length(note) <= 1024),
  at            timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant_id, approval_id, user_id),
  FOREIGN KEY (tenant_id, approval_id) REFERENCES approval
);

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['project', 'approval', 'approval_decision'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_tenant ON %I TO falaj_app USING (tenant_id = current_setting(''app.tenant'')::uuid)', t);
    EXECUTE format('CREATE POLICY system ON %I TO falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer, falaj_owner USING (true)', t);
  END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE ON project, approval TO falaj_app;
GRANT SELECT, INSERT ON approval_decision TO falaj_app;
GRANT SELECT ON project TO falaj_system, falaj_scheduler, falaj_worker_api;
GRANT SELECT, UPDATE ON approval TO falaj_scheduler;

-- ---------------------------------------------------------------------------------------------------------------- projects
-- The projects a transaction may see: app.projects, an array's text, set beside app.tenant by db_begin; empty: all of the tenant.
CREATE FUNCTION project_visible(project uuid) RETURNS boolean LANGUAGE sql STABLE AS
  $$ SELECT coalesce(pg_catalog.current_setting('app.projects', true), '') = ''
         OR project = ANY (nullif(pg_catalog.current_setting('app.projects', true), '')::uuid[]) $$;
CREATE FUNCTION projects_all() RETURNS boolean LANGUAGE sql STABLE AS
  $$ SELECT coalesce(pg_catalog.current_setting('app.projects', true), '') = '' $$;

-- Restrictive: they take away from own_tenant, and hold for what is written as well as for what is read.
DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['project', 'role_binding', 'dataset', 'model', 'deployment', 'job'] LOOP
    EXECUTE format('CREATE POLICY in_projects ON %I AS RESTRICTIVE TO falaj_app USING (project_visible(project_id))', t);
  END LOOP;
  -- What hangs on one of those is seen with it.
  FOREACH t IN ARRAY ARRAY['job_event', 'job_object', 'job_log', 'job_metric', 'attempt', 'usage_record'] LOOP
    EXECUTE format('CREATE POLICY in_projects ON %1$I AS RESTRICTIVE TO falaj_app USING (projects_all() OR EXISTS (SELECT FROM job'
                   ' WHERE job.tenant_id = %1$I.tenant_id AND job.job_id = %1$I.job_id))', t);
  END LOOP;
END $$;
CREATE POLICY in_projects ON dataset_version AS RESTRICTIVE TO falaj_app USING (projects_all() OR EXISTS (SELECT FROM dataset d
  WHERE d.tenant_id = dataset_version.tenant_id AND d.dataset_id = dataset_version.dataset_id));
CREATE POLICY in_projects ON model_version AS RESTRICTIVE TO falaj_app USING (projects_all() OR EXISTS (SELECT FROM model m
  WHERE m.tenant_id = model_version.tenant_id AND m.model_id = model_version.model_id));

-- ------------------------------------------------------------------------------------------------------- the end of a tenant
-- SUSPENDED and back; DELETING until delete_after, when the scheduler's leader wipes it; DELETED is a number without a name.
ALTER TABLE tenant DROP CONSTRAINT tenant_state_check;
ALTER TABLE tenant
  ADD CHECK (state IN ('ACTIVE', 'SUSPENDED', 'DELETING', 'DELETED')),
  ADD COLUMN state_reason text NOT NULL DEFAULT '' CHECK (length(state_reason) <= 1024),
  ADD COLUMN delete_after timestamptz,
  ADD CHECK (state <> 'DELETING' OR delete_after IS NOT NULL);
CREATE INDEX tenant_ending ON tenant (tenant_id) WHERE state IN ('SUSPENDED', 'DELETING');

-- What outlives a tenant. Every other table with a tenant_id is emptied of it, those of later migrations too.
CREATE TABLE tenant_kept (
  table_name    text PRIMARY KEY,
  reason        text NOT NULL
);
INSERT INTO tenant_kept VALUES
  ('tenant', 'that there was one, without its name'),
  ('audit_event', 'the audit log'), ('audit_seq', 'the audit log'), ('audit_log_state', 'the audit log'), ('audit_head', 'the audit log'),
  ('tenant_key', 'that its keys are destroyed; the keys are not in it'),
  ('usage_record', 'what it used, for the bill'),
  ('approval', 'who asked for what'), ('approval_decision', 'who approved it'),
  -- of later migrations
  ('ledger_entry', 'what it used, for the bill'), ('erasure_certificate', 'that its keys are destroyed'),
  ('transfer_policy', 'on which basis data crossed borders; each crossing is in the audit log'),
  ('audit_hold', 'the audit log'), ('audit_retention', 'the audit log'), ('audit_anchor', 'the audit log'), ('audit_shadow', 'the audit log');
GRANT SELECT ON tenant_kept TO falaj_system;

-- Nobody is held until a later migration says who.
CREATE FUNCTION tenant_has_hold(t uuid) RETURNS boolean LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp
  AS 'SELECT false';

GRANT UPDATE ON tenant TO falaj_system;
GRANT SELECT, UPDATE ON tenant_key TO falaj_system;
DO $$
DECLARE t text;
BEGIN
  FOR t IN SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
            WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname NOT IN (SELECT table_name FROM tenant_kept) LOOP
    EXECUTE format('GRANT SELECT, DELETE ON %I TO falaj_system', t);
  END LOOP;
END $$;
ALTER DEFAULT PRIVILEGES FOR ROLE falaj_owner IN SCHEMA public GRANT SELECT, DELETE ON TABLES TO falaj_system;

GRANT CREATE ON SCHEMA public TO falaj_system;
-- Called in the platform's scope by the approved request; true when it did something.
CREATE FUNCTION tenant_delete_schedule(t uuid, after timestamptz, why text, event uuid, event_body bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE tenant SET state = 'DELETING', delete_after = after, state_reason = why, version = version + 1, authz_rev = authz_rev + 1
   WHERE tenant_id = t AND home_zone IS NOT NULL AND state IN ('ACTIVE', 'SUSPENDED') AND NOT tenant_has_hold(t);
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE job SET cancel_requested = true WHERE job.tenant_id = t AND finished_at IS NULL AND NOT cancel_requested;
  INSERT INTO audit_event (tenant_id, event_id, body) VALUES (t, event, event_body);
  RETURN true;
END $$;

-- Tenants whose grace is over, that nobody holds, and in which nothing runs any more.
CREATE FUNCTION tenants_due(most bigint) RETURNS TABLE (tenant_id uuid)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT t.tenant_id FROM tenant t
   WHERE t.state = 'DELETING' AND t.delete_after <= now() AND NOT tenant_has_hold(t.tenant_id)
     AND NOT EXISTS (SELECT FROM attempt a WHERE a.tenant_id = t.tenant_id AND a.live)
     AND NOT EXISTS (SELECT FROM job j WHERE j.tenant_id = t.tenant_id AND j.finished_at IS NULL)
   ORDER BY t.delete_after LIMIT most;
END $$;

-- Removes at most `most` rows of each table of a due tenant; how many it removed. A row that another one refers to waits for the next
-- call. Its keys are scheduled for destruction at once, which the keeper of keys carries out and certifies.
CREATE FUNCTION tenant_wipe(t uuid, most bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  name text;
  n bigint;
  total bigint := 0;
  blocked boolean := false;
BEGIN
  PERFORM FROM tenant WHERE tenant_id = t AND state = 'DELETING' AND delete_after <= now() FOR UPDATE;
  IF NOT FOUND OR tenant_has_hold(t) THEN
    RETURN 0;
  END IF;
  UPDATE tenant_key SET state = 'DESTROY_SCHEDULED', destroy_after = now()
   WHERE tenant_id = t AND state IN ('PRIMARY', 'DECRYPT_ONLY', 'DISABLED');
  UPDATE tenant_key SET destroy_after = now() WHERE tenant_id = t AND state = 'DESTROY_SCHEDULED' AND destroy_after > now();
  FOR name IN SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
               WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
                 AND c.relname NOT IN (SELECT table_name FROM tenant_kept) ORDER BY c.oid DESC LOOP
    BEGIN
      EXECUTE format('DELETE FROM %1$I WHERE ctid = ANY (ARRAY(SELECT ctid FROM %1$I WHERE tenant_id = $1 LIMIT $2)) AND tenant_id = $1', name)
        USING t, most;
      GET DIAGNOSTICS n = ROW_COUNT;
      total := total + n;
    EXCEPTION WHEN foreign_key_violation THEN
      blocked := true;
    END;
  END LOOP;
  IF blocked AND total = 0 THEN
    RAISE EXCEPTION 'rows of tenant % refer to rows that are kept', t;
  END IF;
  RETURN total;
END $$;

-- The end of it, once nothing is left and no key opens anything: true when it did something.
CREATE FUNCTION tenant_wiped(t uuid, events uuid[], bodies bytea[]) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE tenant SET state = 'DELETED', name = 'deleted-' || replace(t::text, '-', ''), display_name = '', state_reason = '',
                    version = version + 1
   WHERE tenant_id = t AND state = 'DELETING' AND delete_after <= now() AND NOT tenant_has_hold(t)
     AND NOT EXISTS (SELECT FROM tenant_key k WHERE k.tenant_id = t AND k.wrapped IS NOT NULL);
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO audit_event (tenant_id, event_id, body) VALUES (t, events[1], bodies[1]),
    ('00000000-0000-0000-0000-000000000000', events[2], bodies[2]);
  RETURN true;
END $$;
DO $$
DECLARE f text;
BEGIN
  FOREACH f IN ARRAY ARRAY['tenant_delete_schedule(uuid, timestamptz, text, uuid, bytea)', 'tenants_due(bigint)', 'tenant_wipe(uuid, bigint)',
                           'tenant_wiped(uuid, uuid[], bytea[])'] LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
    EXECUTE format('ALTER FUNCTION %s OWNER TO falaj_system', f);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM falaj_owner', f);
  END LOOP;
END $$;
GRANT EXECUTE ON FUNCTION tenant_delete_schedule(uuid, timestamptz, text, uuid, bytea) TO falaj_app;
GRANT EXECUTE ON FUNCTION tenants_due(bigint), tenant_wipe(uuid, bigint), tenant_wiped(uuid, uuid[], bytea[]) TO falaj_scheduler;

-- ------------------------------------------------------------------------------------------------------------ who is calling

-- What authentication needs to know of a user, whichever way it has proved itself: see tenants/principal_load.h. One row or none; the
-- caller judges states and conditions. At most 256 bindings count.
CREATE FUNCTION authn_principal(t uuid, u uuid)
RETURNS TABLE (tenant_id uuid, user_id uuid, tenant_name text, tenant_state text, home_zone text, user_name text, user_kind text,
               user_state text, allowed_zones text[], bindings jsonb, authz_rev bigint)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT n.tenant_id, a.user_id, n.name, n.state, n.home_zone, a.name, a.kind, a.state, n.allowed_zones,
         (SELECT coalesce(jsonb_agg(b.j), '[]')
            FROM (SELECT bindings_json(r) AS j FROM role_binding r WHERE r.tenant_id = t AND r.user_id = u
                   ORDER BY r.role, r.binding_id LIMIT 256) b),
         n.authz_rev
    FROM app_user a JOIN tenant n ON n.tenant_id = a.tenant_id
   WHERE a.tenant_id = t AND a.user_id = u;
END $$;

-- Who holds this token?
DROP FUNCTION authn_token(bytea);
CREATE FUNCTION authn_token(token_hash bytea)
RETURNS TABLE (tenant_id uuid, user_id uuid, tenant_name text, tenant_state text, home_zone text, user_name text, user_kind text,
               user_state text, allowed_zones text[], bindings jsonb, authz_rev bigint,
               token_id uuid, scopes text[], expires_at timestamptz, revoked_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT p.*, k.token_id, k.scopes, k.expires_at, k.revoked_at
    FROM api_token k CROSS JOIN LATERAL authn_principal(k.tenant_id, k.user_id) p
   WHERE k.hash = token_hash;
END $$;

REVOKE ALL ON FUNCTION authn_principal(uuid, uuid), authn_token(bytea) FROM PUBLIC;
ALTER FUNCTION authn_principal(uuid, uuid) OWNER TO falaj_system;
ALTER FUNCTION authn_token(bytea) OWNER TO falaj_system;
REVOKE ALL ON FUNCTION authn_principal(uuid, uuid), authn_token(bytea) FROM falaj_owner;
GRANT EXECUTE ON FUNCTION authn_principal(uuid, uuid), authn_token(bytea) TO falaj_app;
REVOKE CREATE ON SCHEMA public FROM falaj_system;
