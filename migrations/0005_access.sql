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
CREATE FUNCTION bindings_json(b role_binding) RETURNS jsonb LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT jsonb_strip_nulls(jsonb_build_object(
    'binding_id', b.binding_id, 'role', b.role,
    'place', CASE WHEN b.tenant_id = '00000000-0000-0000-0000-000000000000' AND b.place = 'tenant' THEN 'platform' ELSE b.place END,
    'zone', b.zone, 'project_id', b.project_id,
    'valid_from_us', (extract(epoch FROM b.valid_from) * 1000000)::bigint,
    'valid_until_us', (extract(epoch FROM b.valid_until) * 1000000)::bigint, 'mfa_age_s', b.mfa_age_s,
    'cidrs', CASE WHEN b.cidrs <> '{}' THEN to_jsonb(b.cidrs::text[]) END,
    'in_zones', CASE WHEN b.in_zones <> '{}' THEN to_jsonb(b.in_zones) END)) $$;

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

-- ------------------------------------------------------------------------------------------------------------ who is calling
GRANT CREATE ON SCHEMA public TO falaj_system;

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
