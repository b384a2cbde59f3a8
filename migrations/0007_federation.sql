-- SPDX-License-Identifier: Apache-2.0
-- 0007 - federation: outside issuers whose tokens programs bring, and identity providers at which people sign in. N-1: additive.
SET LOCAL ROLE falaj_owner;
GRANT CREATE ON SCHEMA public TO falaj_system;

-- Whose signed tokens are believed, and for which audience. The pair is how a token finds its tenant, so it is unique on the platform.
CREATE TABLE issuer (
  tenant_id     uuid NOT NULL REFERENCES tenant,
  issuer_id     uuid NOT NULL,
  name          text NOT NULL CHECK (length(name) BETWEEN 1 AND 63),
  issuer        text NOT NULL CHECK (length(issuer) BETWEEN 8 AND 512),
  audience      text NOT NULL CHECK (length(audience) BETWEEN 1 AND 256),
  algorithms    text[] NOT NULL CHECK (cardinality(algorithms) BETWEEN 1 AND 2 AND algorithms <@ ARRAY['RS256', 'ES256']),
  jwks_uri      text CHECK (length(jwks_uri) BETWEEN 8 AND 512),
  jwks          jsonb,                                  -- pinned for good; else fetched from jwks_uri
  single_use    boolean NOT NULL,
  state         text NOT NULL DEFAULT 'ACTIVE' CHECK (state IN ('ACTIVE', 'DISABLED')),
  version       bigint NOT NULL DEFAULT 1,
  created_by    uuid NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, issuer_id),
  UNIQUE (tenant_id, name),
  UNIQUE (issuer, audience),
  FOREIGN KEY (tenant_id, created_by) REFERENCES app_user (tenant_id, user_id),
  CHECK ((jwks_uri IS NULL) <> (jwks IS NULL))
);

-- Which subject of an issuer is which service account. Nobody else of that issuer gets in.
CREATE TABLE issuer_subject (
  tenant_id     uuid NOT NULL,
  issuer_id     uuid NOT NULL,
  subject       text NOT NULL CHECK (length(subject) BETWEEN 1 AND 255),
  user_id       uuid NOT NULL,
  PRIMARY KEY (tenant_id, issuer_id, subject),
  FOREIGN KEY (tenant_id, issuer_id) REFERENCES issuer ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, user_id) REFERENCES app_user
);

-- Tokens of issuers that say single_use, until they have expired.
CREATE TABLE jwt_used (
  tenant_id     uuid NOT NULL,
  issuer_id     uuid NOT NULL,
  jti_hash      bytea NOT NULL CHECK (length(jti_hash) = 32),
  until         timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, issuer_id, jti_hash),
  FOREIGN KEY (tenant_id, issuer_id) REFERENCES issuer ON DELETE CASCADE
);
CREATE INDEX jwt_used_until ON jwt_used (until);

-- Falaj as a client of a tenant's OpenID provider.
CREATE TABLE identity_provider (
  tenant_id     uuid NOT NULL REFERENCES tenant,
  provider_id   uuid NOT NULL,
  name          text NOT NULL CHECK (length(name) BETWEEN 1 AND 63),
  issuer        text NOT NULL CHECK (length(issuer) BETWEEN 8 AND 512),
  client_id     text NOT NULL CHECK (length(client_id) BETWEEN 1 AND 255),
  sealed        bytea,                                  -- the client's secret, under a key of the tenant derived from auth_key; NULL: none
  zone          text,
  scopes        text[] NOT NULL CHECK (cardinality(scopes) BETWEEN 1 AND 16),
  name_claim    text NOT NULL,
  groups_claim  text NOT NULL,
  group_roles   jsonb NOT NULL DEFAULT '[]',            -- [{"group", "role"}]
  mfa_values    text[] NOT NULL,                        -- of amr or acr: the provider saw a second factor
  create_users  boolean NOT NULL,
  state         text NOT NULL DEFAULT 'ACTIVE' CHECK (state IN ('ACTIVE', 'DISABLED')),
  version       bigint NOT NULL DEFAULT 1,
  set_by        uuid NOT NULL,                          -- whose rights bound the roles that groups give
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, provider_id),
  UNIQUE (tenant_id, name),
  FOREIGN KEY (tenant_id, set_by) REFERENCES app_user (tenant_id, user_id),
  CHECK ((sealed IS NULL) = (zone IS NULL))
);

CREATE TABLE federated_user (
  tenant_id     uuid NOT NULL,
  provider_id   uuid NOT NULL,
  subject       text NOT NULL CHECK (length(subject) BETWEEN 1 AND 255),
  user_id       uuid NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  last_login_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, provider_id, subject),
  FOREIGN KEY (tenant_id, provider_id) REFERENCES identity_provider ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, user_id) REFERENCES app_user
);
CREATE INDEX federated_user_user ON federated_user (tenant_id, user_id);

-- The bindings that groups of a provider gave: only these are taken back when the group is gone.
CREATE TABLE federated_role (
  tenant_id     uuid NOT NULL,
  provider_id   uuid NOT NULL,
  binding_id    uuid NOT NULL,
  user_id       uuid NOT NULL,
  role          text NOT NULL,
  PRIMARY KEY (tenant_id, provider_id, binding_id),
  FOREIGN KEY (tenant_id, provider_id) REFERENCES identity_provider ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, binding_id) REFERENCES role_binding ON DELETE CASCADE
);
CREATE INDEX federated_role_user ON federated_role (tenant_id, provider_id, user_id);

-- A login on its way. Has no tenant until it is answered; found by the digest of 256 random bits only, and removed when found.
CREATE TABLE oidc_login (
  state_hash    bytea PRIMARY KEY CHECK (length(state_hash) = 32),
  cookie_hash   bytea NOT NULL CHECK (length(cookie_hash) = 32),
  of_tenant     uuid NOT NULL,
  of_provider   uuid NOT NULL,
  return_to     text NOT NULL CHECK (length(return_to) BETWEEN 1 AND 512),
  redirect_uri  text NOT NULL,
  expires_at    timestamptz NOT NULL
);
CREATE INDEX oidc_login_age ON oidc_login (expires_at);

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['issuer', 'issuer_subject', 'jwt_used', 'identity_provider', 'federated_user', 'federated_role'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_tenant ON %I TO falaj_app USING (tenant_id = current_setting(''app.tenant'')::uuid)', t);
    EXECUTE format('CREATE POLICY system ON %I TO falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer, falaj_owner USING (true)', t);
  END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE, DELETE ON issuer, identity_provider, federated_user TO falaj_app;
GRANT SELECT, INSERT, DELETE ON issuer_subject, jwt_used, federated_role, oidc_login TO falaj_app;
GRANT SELECT ON issuer, identity_provider, jwt_used, oidc_login TO falaj_system;
GRANT DELETE ON jwt_used, oidc_login TO falaj_system;

-- The issuers that a token may come from by what it says of itself, unverified: nothing is believed of it before its signature is checked
-- with the keys found here.
CREATE FUNCTION issuer_find(token_issuer text, audiences text[])
RETURNS TABLE (tenant_id uuid, issuer_id uuid, issuer text, audience text, algorithms text[], jwks_uri text, jwks jsonb, single_use boolean)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT i.tenant_id, i.issuer_id, i.issuer, i.audience, i.algorithms, i.jwks_uri, i.jwks, i.single_use
    FROM issuer i WHERE i.issuer = token_issuer AND i.audience = ANY (audiences) AND i.state = 'ACTIVE' LIMIT 2;
END $$;

-- Where somebody who is not known yet wants to sign in.
CREATE FUNCTION provider_find(tenant_name text, provider_name text)
RETURNS TABLE (tenant_id uuid, tenant_state text, provider_id uuid)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT t.tenant_id, t.state, p.provider_id FROM tenant t JOIN identity_provider p ON p.tenant_id = t.tenant_id
   WHERE t.name = tenant_name AND p.name = provider_name AND p.state = 'ACTIVE';
END $$;

CREATE FUNCTION federation_sweep() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  DELETE FROM jwt_used WHERE until < clock_timestamp();
  DELETE FROM oidc_login WHERE expires_at < clock_timestamp();
END $$;

DO $$
DECLARE f text;
BEGIN
  FOREACH f IN ARRAY ARRAY['issuer_find(text, text[])', 'provider_find(text, text)', 'federation_sweep()'] LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
    EXECUTE format('ALTER FUNCTION %s OWNER TO falaj_system', f);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM falaj_owner', f);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO falaj_app', f);
  END LOOP;
END $$;
REVOKE CREATE ON SCHEMA public FROM falaj_system;
