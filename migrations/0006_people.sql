-- SPDX-License-Identifier: Apache-2.0
-- 0006 - how people sign in: passwords, second factors, sessions, invitations, devices, break-glass. N-1: additive.
SET LOCAL ROLE falaj_owner;
GRANT CREATE ON SCHEMA public TO falaj_system;

-- The secret of a zone from which the pepper of passwords and the sealing keys of second factors are derived; wrapped by falaj-keyd.
CREATE TABLE auth_key (
  zone          text PRIMARY KEY CHECK (length(zone) BETWEEN 2 AND 63),
  tkek          bytea NOT NULL,
  root_version  bigint NOT NULL,
  dek_id        uuid NOT NULL,
  wrapped       bytea NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now()
);

-- Tries without success, by the digest of what was tried: whether the account exists makes no difference.
CREATE TABLE login_guard (
  key           bytea PRIMARY KEY CHECK (length(key) = 32),
  tries         bigint NOT NULL,
  until         timestamptz NOT NULL,
  refused       boolean NOT NULL DEFAULT false,
  seen_at       timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX login_guard_age ON login_guard (seen_at);

CREATE TABLE password (
  tenant_id     uuid NOT NULL,
  user_id       uuid NOT NULL,
  phc           text NOT NULL CHECK (phc LIKE '$argon2id$%'),
  zone          text NOT NULL,                          -- whose auth_key is the pepper
  set_at        timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, user_id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES app_user
);

CREATE TABLE totp (
  tenant_id     uuid NOT NULL,
  user_id       uuid NOT NULL,
  sealed        bytea NOT NULL,                         -- the shared secret, under a key of the tenant derived from auth_key
  zone          text NOT NULL,
  confirmed_at  timestamptz,
  last_step     bigint NOT NULL DEFAULT 0,              -- the newest time step that was used: none is taken twice
  PRIMARY KEY (tenant_id, user_id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES app_user
);

CREATE TABLE recovery_code (
  tenant_id     uuid NOT NULL,
  user_id       uuid NOT NULL,
  hash          bytea NOT NULL CHECK (length(hash) = 32),
  used_at       timestamptz,
  PRIMARY KEY (tenant_id, user_id, hash),
  FOREIGN KEY (tenant_id, user_id) REFERENCES app_user
);

CREATE TABLE session (
  tenant_id     uuid NOT NULL,
  session_id    uuid NOT NULL,
  user_id       uuid NOT NULL,
  hash          bytea NOT NULL UNIQUE CHECK (length(hash) = 32),      -- SHA-256 of 256 random bits
  method        text NOT NULL CHECK (method IN ('password', 'oidc', 'break-glass')),
  stage         text NOT NULL CHECK (stage IN ('full', 'code', 'enrol')),  -- waits for the code; waits until a second factor is set up
  proved_at     timestamptz NOT NULL,                   -- when the person last proved who it is
  mfa_at        timestamptz,                            -- when it last did so with a second factor
  ip            text NOT NULL DEFAULT '' CHECK (length(ip) <= 64),
  user_agent    text NOT NULL DEFAULT '' CHECK (length(user_agent) <= 200),
  created_at    timestamptz NOT NULL DEFAULT now(),
  last_seen     timestamptz NOT NULL DEFAULT now(),
  until         timestamptz NOT NULL,                   -- the absolute end
  ended_at      timestamptz,
  reason        text CHECK (reason IN ('logout', 'revoked', 'password', 'replaced')),
  PRIMARY KEY (tenant_id, session_id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES app_user,
  CHECK ((ended_at IS NULL) = (reason IS NULL))
);
CREATE INDEX session_of_user ON session (tenant_id, user_id, session_id DESC);

CREATE TABLE invitation (
  tenant_id     uuid NOT NULL REFERENCES tenant,
  invitation_id uuid NOT NULL,
  name          text NOT NULL CHECK (length(name) BETWEEN 1 AND 128),
  email_hint    text NOT NULL DEFAULT '' CHECK (length(email_hint) <= 254),
  roles         text[] NOT NULL DEFAULT '{}',
  hash          bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
  state         text NOT NULL DEFAULT 'OPEN' CHECK (state IN ('OPEN', 'ACCEPTED', 'WITHDRAWN')),
  created_by    uuid NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  expires_at    timestamptz NOT NULL,
  user_id       uuid,
  PRIMARY KEY (tenant_id, invitation_id),
  FOREIGN KEY (tenant_id, created_by) REFERENCES app_user (tenant_id, user_id),
  CHECK ((state = 'ACCEPTED') = (user_id IS NOT NULL))
);

-- Has no tenant until somebody lets the device in; found by digests of 178 and 34 random bits only.
CREATE TABLE device_grant (
  device_hash   bytea PRIMARY KEY CHECK (length(device_hash) = 32),
  user_hash     bytea NOT NULL UNIQUE CHECK (length(user_hash) = 32),
  client        text NOT NULL CHECK (length(client) BETWEEN 1 AND 64),
  ip            text NOT NULL DEFAULT '',
  state         text NOT NULL DEFAULT 'PENDING' CHECK (state IN ('PENDING', 'APPROVED', 'DENIED', 'USED')),
  of_tenant     uuid,
  of_user       uuid,
  interval_s    bigint NOT NULL DEFAULT 5,
  polled_at     timestamptz,
  created_at    timestamptz NOT NULL DEFAULT now(),
  expires_at    timestamptz NOT NULL,
  CHECK ((state IN ('APPROVED', 'USED')) <= (of_tenant IS NOT NULL AND of_user IS NOT NULL))
);

-- An account behind glass that two custodians have opened, for the one who asked.
CREATE TABLE break_glass (
  tenant_id     uuid NOT NULL,
  approval_id   uuid NOT NULL,
  zone          text NOT NULL REFERENCES zone,
  user_id       uuid NOT NULL,
  requested_by  uuid NOT NULL,
  approved_by   uuid NOT NULL,
  until         timestamptz NOT NULL,
  opened_at     timestamptz,
  PRIMARY KEY (tenant_id, approval_id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES app_user,
  CHECK (requested_by <> approved_by)
);

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['password', 'totp', 'recovery_code', 'session', 'invitation', 'break_glass'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_tenant ON %I TO falaj_app USING (tenant_id = current_setting(''app.tenant'')::uuid)', t);
    EXECUTE format('CREATE POLICY system ON %I TO falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer, falaj_owner USING (true)', t);
  END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE, DELETE ON password, totp, recovery_code, login_guard, device_grant TO falaj_app;
GRANT SELECT, INSERT, UPDATE ON session, invitation, auth_key, break_glass TO falaj_app;
GRANT SELECT ON password, totp, session, invitation TO falaj_system;
GRANT UPDATE (last_seen) ON session TO falaj_system;

-- The account that a name in a tenant stands for, before anybody is signed in. One row or none.
CREATE FUNCTION login_find(tenant_name text, user_name text)
RETURNS TABLE (tenant_id uuid, tenant_state text, user_id uuid, user_state text, phc text, zone text, has_totp boolean)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT t.tenant_id, t.state, u.user_id, u.state, p.phc, p.zone,
         EXISTS (SELECT FROM totp o WHERE o.tenant_id = u.tenant_id AND o.user_id = u.user_id AND o.confirmed_at IS NOT NULL)
    FROM tenant t
    JOIN app_user u ON u.tenant_id = t.tenant_id AND u.name = user_name AND u.kind = 'person'
    JOIN password p ON p.tenant_id = u.tenant_id AND p.user_id = u.user_id
   WHERE t.name = tenant_name;
END $$;

-- Who holds this cookie? One row or none; the caller judges states and times.
CREATE FUNCTION session_find(cookie_hash bytea)
RETURNS TABLE (tenant_id uuid, user_id uuid, tenant_name text, tenant_state text, home_zone text, user_name text, user_kind text,
               user_state text, allowed_zones text[], bindings jsonb, authz_rev bigint,
               session_id uuid, method text, stage text, proved_at timestamptz, mfa_at timestamptz, last_seen timestamptz, until timestamptz,
               ended_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT p.*, s.session_id, s.method, s.stage, s.proved_at, s.mfa_at, s.last_seen, s.until, s.ended_at
    FROM session s CROSS JOIN LATERAL authn_principal(s.tenant_id, s.user_id) p
   WHERE s.hash = cookie_hash;
END $$;

CREATE FUNCTION session_seen(tenants uuid[], sessions uuid[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE session s SET last_seen = clock_timestamp()
    FROM unnest(tenants, sessions) AS i(tenant_id, session_id)
   WHERE s.tenant_id = i.tenant_id AND s.session_id = i.session_id AND s.ended_at IS NULL;
END $$;

-- Which tenant an invitation belongs to; everything else is read in that tenant's scope.
CREATE FUNCTION invitation_find(token_hash bytea) RETURNS TABLE (tenant_id uuid, tenant_name text, tenant_state text)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT i.tenant_id, t.name, t.state FROM invitation i JOIN tenant t ON t.tenant_id = i.tenant_id WHERE i.hash = token_hash;
END $$;

DO $$
DECLARE f text;
BEGIN
  FOREACH f IN ARRAY ARRAY['login_find(text, text)', 'session_find(bytea)', 'session_seen(uuid[], uuid[])', 'invitation_find(bytea)'] LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
    EXECUTE format('ALTER FUNCTION %s OWNER TO falaj_system', f);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM falaj_owner', f);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO falaj_app', f);
  END LOOP;
END $$;
REVOKE CREATE ON SCHEMA public FROM falaj_system;
