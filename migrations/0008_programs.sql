-- SPDX-License-Identifier: Apache-2.0
-- 0008 - programs: access tokens bound to networks and zones, join tokens and certificates of machines. N-1: additive; the program
-- before does not know the new limits of a token, so tokens with limits are made only after every falaj-api is of this release.
SET LOCAL ROLE falaj_owner;

-- ------------------------------------------------------------------------------------------------------------ access tokens
ALTER TABLE api_token
  ADD COLUMN cidrs        cidr[] NOT NULL DEFAULT '{}' CHECK (cardinality(cidrs) <= 16),    -- empty: from anywhere
  ADD COLUMN zones        text[] NOT NULL DEFAULT '{}' CHECK (cardinality(zones) <= 16),    -- empty: all of the tenant
  ADD COLUMN created_by   uuid,
  ADD COLUMN successor_id uuid,                       -- made by rotating this one
  ADD COLUMN last_used_ip inet;
CREATE INDEX api_token_user ON api_token (tenant_id, user_id);

-- Whose service account it is: its owner may make tokens for it.
ALTER TABLE app_user ADD COLUMN owner_id uuid, ADD FOREIGN KEY (tenant_id, owner_id) REFERENCES app_user;

DROP FUNCTION authn_token_used(uuid[], uuid[]);
CREATE FUNCTION authn_token_used(tenants uuid[], tokens uuid[], addresses text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE api_token k SET last_used_at = clock_timestamp(), last_used_ip = coalesce(nullif(i.address, '')::inet, k.last_used_ip)
    FROM unnest(tenants, tokens, addresses) AS i(tenant_id, token_id, address)
   WHERE k.tenant_id = i.tenant_id AND k.token_id = i.token_id;
END $$;
GRANT UPDATE (last_used_at, last_used_ip) ON api_token TO falaj_system;

-- ------------------------------------------------------------------------------------------------------------ machines
-- Why a machine is in the state it is in, as staff gave it.
ALTER TABLE node
  ADD COLUMN reason text NOT NULL DEFAULT '' CHECK (length(reason) <= 512),
  ADD COLUMN is_drained boolean NOT NULL DEFAULT false;      -- outlives LOST: a machine that comes back drains on

-- The right to enrol machines of one pool of one zone, for some times and some hours. Platform data, no tenant's.
CREATE TABLE join_token (
  join_token_id uuid PRIMARY KEY,
  zone          text NOT NULL REFERENCES zone,
  pool          text NOT NULL CHECK (pool ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  node_name     text CHECK (node_name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),              -- NULL: any name that is not taken
  hash          bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
  hint          text NOT NULL,
  cidrs         cidr[] NOT NULL DEFAULT '{}' CHECK (cardinality(cidrs) <= 16),
  uses          bigint NOT NULL CHECK (uses BETWEEN 1 AND 1000),
  used          bigint NOT NULL DEFAULT 0,
  expires_at    timestamptz NOT NULL,
  revoked_at    timestamptz,
  last_used_at  timestamptz,
  created_by    uuid NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  CHECK (used BETWEEN 0 AND uses)
);

-- Every certificate that a zone's authority made. What is not here is not let in, nor what has ended.
CREATE TABLE node_cert (
  fingerprint   bytea PRIMARY KEY CHECK (length(fingerprint) = 32),
  identity      text NOT NULL,
  source        text NOT NULL CHECK (source IN ('join', 'renew')),
  join_token_id uuid,
  issued_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  not_after     timestamptz NOT NULL,
  ends_at       timestamptz NOT NULL,                 -- earlier than not_after once another took its place
  CHECK (ends_at <= not_after)
);
CREATE INDEX node_cert_identity ON node_cert (identity);

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['join_token', 'node_cert'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY platform ON %I TO falaj_app USING (current_setting(''app.tenant'')::uuid = ''00000000-0000-0000-0000-000000000000'')', t);
    EXECUTE format('CREATE POLICY system ON %I TO falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer, falaj_owner USING (true)', t);
  END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE ON join_token TO falaj_app;
GRANT SELECT, INSERT, UPDATE ON node_cert TO falaj_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON node_cert TO falaj_worker_api;
GRANT UPDATE ON node TO falaj_system;

GRANT CREATE ON SCHEMA public TO falaj_system;

-- Who holds this token, and from where and for which zones?
DROP FUNCTION authn_token(bytea);
CREATE FUNCTION authn_token(token_hash bytea)
RETURNS TABLE (tenant_id uuid, user_id uuid, tenant_name text, tenant_state text, home_zone text, user_name text, user_kind text,
               user_state text, allowed_zones text[], bindings jsonb, authz_rev bigint,
               token_id uuid, scopes text[], expires_at timestamptz, revoked_at timestamptz, cidrs text[], zones text[])
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT p.tenant_id, p.user_id, p.tenant_name, p.tenant_state, p.home_zone, p.user_name, p.user_kind, p.user_state, p.allowed_zones,
         p.bindings, p.authz_rev, k.token_id, k.scopes, k.expires_at, k.revoked_at, k.cidrs::text[], k.zones
    FROM api_token k CROSS JOIN LATERAL authn_principal(k.tenant_id, k.user_id) p
   WHERE k.hash = token_hash;
END $$;
REVOKE ALL ON FUNCTION authn_token(bytea) FROM PUBLIC;
ALTER FUNCTION authn_token(bytea) OWNER TO falaj_system;
REVOKE ALL ON FUNCTION authn_token(bytea) FROM falaj_owner;
GRANT EXECUTE ON FUNCTION authn_token(bytea) TO falaj_app;

-- A machine from one of `froms` to `wanted`, by platform staff only. No row: there is no such machine, or its state is another.
CREATE FUNCTION node_move(node uuid, wanted text, froms text[], why text) RETURNS SETOF uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF current_setting('app.tenant')::uuid <> '00000000-0000-0000-0000-000000000000' THEN
    RAISE EXCEPTION 'machines are the platform''s' USING ERRCODE = 'FJ403';
  END IF;
  RETURN QUERY UPDATE node n
     SET state = wanted, reason = why, is_drained = CASE WHEN wanted = n.state THEN n.is_drained ELSE wanted = 'DRAINING' END
   WHERE n.node_id = node AND n.state = ANY (froms) RETURNING n.node_id;
END $$;

-- What runs on a machine, for those who must know how much and never what: ids alone.
CREATE FUNCTION node_jobs(node uuid, most bigint) RETURNS TABLE (job_id uuid, total bigint)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  IF current_setting('app.tenant')::uuid <> '00000000-0000-0000-0000-000000000000' THEN
    RAISE EXCEPTION 'machines are the platform''s' USING ERRCODE = 'FJ403';
  END IF;
  RETURN QUERY SELECT a.job_id, count(*) OVER () FROM attempt a WHERE a.node_id = node AND a.live ORDER BY a.job_id LIMIT most;
END $$;

REVOKE ALL ON FUNCTION authn_token_used(uuid[], uuid[], text[]), node_move(uuid, text, text[], text), node_jobs(uuid, bigint) FROM PUBLIC;
ALTER FUNCTION authn_token_used(uuid[], uuid[], text[]) OWNER TO falaj_system;
ALTER FUNCTION node_move(uuid, text, text[], text) OWNER TO falaj_system;
ALTER FUNCTION node_jobs(uuid, bigint) OWNER TO falaj_system;
REVOKE ALL ON FUNCTION authn_token_used(uuid[], uuid[], text[]), node_move(uuid, text, text[], text), node_jobs(uuid, bigint) FROM falaj_owner;
GRANT EXECUTE ON FUNCTION authn_token_used(uuid[], uuid[], text[]), node_move(uuid, text, text[], text), node_jobs(uuid, bigint) TO falaj_app;
REVOKE CREATE ON SCHEMA public FROM falaj_system;
