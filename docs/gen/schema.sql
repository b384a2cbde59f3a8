-- SPDX-License-Identifier: Apache-2.0
-- Made by build/asan/tests/db_migrations_test_schema --write from a fresh database. Bodies of functions: migrations/functions/.

-- Name: btree_gin; Type: EXTENSION; Schema: -; Owner: -
CREATE EXTENSION IF NOT EXISTS btree_gin WITH SCHEMA public;

-- Name: EXTENSION btree_gin; Type: COMMENT; Schema: -; Owner: 
COMMENT ON EXTENSION btree_gin IS 'support for indexing common datatypes in GIN';

-- Name: pg_trgm; Type: EXTENSION; Schema: -; Owner: -
CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;

-- Name: EXTENSION pg_trgm; Type: COMMENT; Schema: -; Owner: 
COMMENT ON EXTENSION pg_trgm IS 'text similarity measurement and index searching based on trigrams';

-- Name: array_wait_put(uuid[], uuid[], uuid[], text[]); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.array_wait_put(tenants uuid[], jobs uuid[], arrays uuid[], types text[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.array_wait_put(tenants uuid[], jobs uuid[], arrays uuid[], types text[]) OWNER TO falaj_system;

-- Name: attempt_further(uuid, uuid, bigint, bigint); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.attempt_further(t uuid, j uuid, f bigint, s bigint) RETURNS bigint
    LANGUAGE sql
    -- the body: migrations
ALTER FUNCTION public.attempt_further(t uuid, j uuid, f bigint, s bigint) OWNER TO falaj_owner;

-- Name: attempt_members(); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.attempt_members() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.attempt_members() OWNER TO falaj_owner;

-- Name: attempt_residency(); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.attempt_residency() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.attempt_residency() OWNER TO falaj_owner;

-- Name: audit_cluster(); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.audit_cluster() RETURNS text
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.audit_cluster() OWNER TO falaj_owner;

-- Name: audit_count_unnumbered(); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.audit_count_unnumbered() RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.audit_count_unnumbered() OWNER TO falaj_system;

-- Name: audit_epoch_begin(text); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.audit_epoch_begin(seen text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.audit_epoch_begin(seen text) OWNER TO falaj_owner;

-- Name: audit_epoch_list(); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.audit_epoch_list() RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET enable_seqscan TO 'on'
    -- the body: migrations
ALTER FUNCTION public.audit_epoch_list() OWNER TO falaj_owner;

-- Name: audit_epoch_take(); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.audit_epoch_take() RETURNS TABLE(xid xid8, ord bigint, since_ord bigint, is_open boolean, has_backlog boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.audit_epoch_take() OWNER TO falaj_system;

-- Name: audit_epoch_tell(text, text, text, bigint); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.audit_epoch_tell(kind text, came_from text, came_to text, epoch bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.audit_epoch_tell(kind text, came_from text, came_to text, epoch bigint) OWNER TO falaj_owner;

-- Name: audit_genesis(); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.audit_genesis() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.audit_genesis() OWNER TO falaj_system;

-- Name: audit_gone_note(); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.audit_gone_note() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.audit_gone_note() OWNER TO falaj_system;

-- Name: audit_guard_tables(); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.audit_guard_tables() RETURNS void
    LANGUAGE plpgsql
    -- the body: migrations
ALTER FUNCTION public.audit_guard_tables() OWNER TO falaj_owner;

-- Name: audit_keep_days(uuid, text); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.audit_keep_days(t uuid, of_class text) RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.audit_keep_days(t uuid, of_class text) OWNER TO falaj_system;

-- Name: audit_refuse_rewrite(); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.audit_refuse_rewrite() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.audit_refuse_rewrite() OWNER TO falaj_owner;

-- Name: audit_retention_drop(bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.audit_retention_drop(most bigint) RETURNS TABLE(tenant_id uuid, dropped bigint, until_tseq bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.audit_retention_drop(most bigint) OWNER TO falaj_system;

-- Name: audit_shadow_note(); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.audit_shadow_note() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.audit_shadow_note() OWNER TO falaj_system;

-- Name: audit_system_event(uuid, text, text, text, text); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.audit_system_event(t uuid, in_zone text, code text, action text, details text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.audit_system_event(t uuid, in_zone text, code text, action text, details text) OWNER TO falaj_owner;

-- Name: audit_unnumbered(); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.audit_unnumbered() RETURNS TABLE(n bigint, oldest timestamp with time zone)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.audit_unnumbered() OWNER TO falaj_system;

-- Name: authn_principal(uuid, uuid); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.authn_principal(t uuid, u uuid) RETURNS TABLE(tenant_id uuid, user_id uuid, tenant_name text, tenant_state text, home_zone text, user_name text, user_kind text, user_state text, allowed_zones text[], bindings jsonb, authz_rev bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.authn_principal(t uuid, u uuid) OWNER TO falaj_system;

-- Name: authn_token(bytea); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.authn_token(token_hash bytea) RETURNS TABLE(tenant_id uuid, user_id uuid, tenant_name text, tenant_state text, home_zone text, user_name text, user_kind text, user_state text, allowed_zones text[], bindings jsonb, authz_rev bigint, token_id uuid, scopes text[], expires_at timestamp with time zone, revoked_at timestamp with time zone, cidrs text[], zones text[])
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.authn_token(token_hash bytea) OWNER TO falaj_system;

-- Name: authn_token_used(uuid[], uuid[], text[]); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.authn_token_used(tenants uuid[], tokens uuid[], addresses text[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.authn_token_used(tenants uuid[], tokens uuid[], addresses text[]) OWNER TO falaj_system;

-- Name: role_binding; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.role_binding (
    tenant_id uuid NOT NULL,
    binding_id uuid NOT NULL,
    user_id uuid NOT NULL,
    role text NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    place text DEFAULT 'tenant'::text NOT NULL,
    zone text,
    project_id uuid,
    valid_from timestamp with time zone,
    valid_until timestamp with time zone,
    mfa_age_s bigint,
    cidrs cidr[] DEFAULT '{}'::cidr[] NOT NULL,
    in_zones text[] DEFAULT '{}'::text[] NOT NULL,
    source text DEFAULT 'direct'::text NOT NULL,
    CONSTRAINT role_binding_check CHECK (((place = 'zone'::text) = (zone IS NOT NULL))),
    CONSTRAINT role_binding_check1 CHECK (((place = 'project'::text) = (project_id IS NOT NULL))),
    CONSTRAINT role_binding_cidrs_check CHECK ((cardinality(cidrs) <= 16)),
    CONSTRAINT role_binding_in_zones_check CHECK ((cardinality(in_zones) <= 16)),
    CONSTRAINT role_binding_mfa_age_s_check CHECK (((mfa_age_s >= 60) AND (mfa_age_s <= 86400))),
    CONSTRAINT role_binding_place_check CHECK ((place = ANY (ARRAY['platform'::text, 'zone'::text, 'tenant'::text, 'project'::text]))),
    CONSTRAINT role_binding_source_check CHECK ((source = ANY (ARRAY['direct'::text, 'group'::text, 'invitation'::text, 'scim'::text])))
);
ALTER TABLE ONLY public.role_binding FORCE ROW LEVEL SECURITY;
ALTER TABLE public.role_binding OWNER TO falaj_owner;

-- Name: bindings_json(public.role_binding); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.bindings_json(b public.role_binding) RETURNS jsonb
    LANGUAGE sql STABLE
    -- the body: migrations
ALTER FUNCTION public.bindings_json(b public.role_binding) OWNER TO falaj_owner;

-- Name: budget_charged(uuid, uuid, text, text, timestamp with time zone, boolean, bigint, bigint, xid8, xid8); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.budget_charged(tid uuid, pid uuid, measure text, currency text, starts timestamp with time zone, anew boolean, old_ord bigint, from_ord bigint, from_xid xid8, below xid8) RETURNS numeric
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    -- the body: migrations
ALTER FUNCTION public.budget_charged(tid uuid, pid uuid, measure text, currency text, starts timestamp with time zone, anew boolean, old_ord bigint, from_ord bigint, from_xid xid8, below xid8) OWNER TO falaj_owner;

-- Name: budget_most(text, text, bigint, bigint, bigint); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.budget_most(measure text, budget_currency text, slots bigint, gpus bigint, runtime_s bigint) RETURNS numeric
    LANGUAGE sql STABLE
    -- the body: migrations
ALTER FUNCTION public.budget_most(measure text, budget_currency text, slots bigint, gpus bigint, runtime_s bigint) OWNER TO falaj_owner;

-- Name: budget_now(uuid); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.budget_now(tid uuid) RETURNS TABLE(tenant_id uuid, budget_id uuid, project_id uuid, settled numeric, running numeric, reserved numeric, whole numeric, stop_at numeric, used numeric, starts timestamp with time zone)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.budget_now(tid uuid) OWNER TO falaj_owner;

-- Name: budget_pick(text, text, text, bigint, bigint, bigint); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.budget_pick(measure text, budget_currency text, currency text, money_micro bigint, gpu_ms bigint, energy_mj bigint) RETURNS numeric
    LANGUAGE sql IMMUTABLE
    -- the body: migrations
ALTER FUNCTION public.budget_pick(measure text, budget_currency text, currency text, money_micro bigint, gpu_ms bigint, energy_mj bigint) OWNER TO falaj_owner;

-- Name: budget_unit(text); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.budget_unit(measure text) RETURNS numeric
    LANGUAGE sql IMMUTABLE
    -- the body: migrations
ALTER FUNCTION public.budget_unit(measure text) OWNER TO falaj_owner;

-- Name: changes_swept(); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.changes_swept() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.changes_swept() OWNER TO falaj_system;

-- Name: checkpoint_book(uuid, bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.checkpoint_book(t uuid, bytes bigint) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.checkpoint_book(t uuid, bytes bigint) OWNER TO falaj_system;

-- Name: checkpoint_drop(uuid, uuid, bigint, bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.checkpoint_drop(t uuid, j uuid, keep bigint, writing bigint) RETURNS TABLE(tenant_id uuid, object_id uuid)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.checkpoint_drop(t uuid, j uuid, keep bigint, writing bigint) OWNER TO falaj_system;

-- Name: checkpoint_inputs(uuid, uuid); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.checkpoint_inputs(t uuid, j uuid) RETURNS TABLE(object_id uuid, place bigint)
    LANGUAGE sql STABLE
    -- the body: migrations
ALTER FUNCTION public.checkpoint_inputs(t uuid, j uuid) OWNER TO falaj_owner;

-- Name: checkpoint_kept_at(uuid, uuid); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.checkpoint_kept_at(t uuid, j uuid) RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    -- the body: migrations
ALTER FUNCTION public.checkpoint_kept_at(t uuid, j uuid) OWNER TO falaj_owner;

-- Name: checkpoint_sweep(bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.checkpoint_sweep(most bigint) RETURNS TABLE(tenant_id uuid, object_id uuid)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.checkpoint_sweep(most bigint) OWNER TO falaj_system;

-- Name: content_delete(uuid, text, uuid); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.content_delete(t uuid, what text, thing uuid) RETURNS TABLE(kind text, id uuid, name text, stored_bytes bigint)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.content_delete(t uuid, what text, thing uuid) OWNER TO falaj_owner;

-- Name: data_classes(); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.data_classes() RETURNS text[]
    LANGUAGE sql IMMUTABLE
    -- the body: migrations
ALTER FUNCTION public.data_classes() OWNER TO falaj_owner;

-- Name: deployment_minutes_put(jsonb, bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.deployment_minutes_put(rows jsonb, oldest bigint) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.deployment_minutes_put(rows jsonb, oldest bigint) OWNER TO falaj_system;

-- Name: deployment_roll(uuid, uuid, bigint); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.deployment_roll(t uuid, id uuid, drain_ms bigint) RETURNS TABLE(deployment_id uuid, job_id uuid, next_job_id uuid, old_job_id uuid, name text, model_id uuid, model_version bigint, next_version bigint, version bigint, spec jsonb, slots bigint, is_ready boolean, is_late boolean, is_drained boolean, next_state text, next_message text)
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.deployment_roll(t uuid, id uuid, drain_ms bigint) OWNER TO falaj_owner;

-- Name: deployments_due(bigint, bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.deployments_due(drain_ms bigint, limit_to bigint) RETURNS TABLE(tenant_id uuid, deployment_id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.deployments_due(drain_ms bigint, limit_to bigint) OWNER TO falaj_system;

-- Name: engine_shapes(); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.engine_shapes() RETURNS TABLE(engine_id uuid, zone text, pool text, name text, machines bigint, longest_s bigint, is_known boolean, programs boolean, engines text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.engine_shapes() OWNER TO falaj_system;

-- Name: environment_objects(uuid, uuid); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.environment_objects(t uuid, environment uuid) RETURNS SETOF uuid
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.environment_objects(t uuid, environment uuid) OWNER TO falaj_owner;

-- Name: environment_place(uuid, uuid); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.environment_place(t uuid, archive uuid) RETURNS TABLE(zone text, data_class text, size_bytes bigint)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.environment_place(t uuid, archive uuid) OWNER TO falaj_owner;

-- Name: erasures_after(uuid, uuid, bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.erasures_after(after_tenant uuid, after_user uuid, most bigint) RETURNS TABLE(tenant_id uuid, user_id uuid, by uuid, erased_at timestamp with time zone)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.erasures_after(after_tenant uuid, after_user uuid, most bigint) OWNER TO falaj_system;

-- Name: erasures_undone(uuid[], uuid[]); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.erasures_undone(tenants uuid[], users uuid[]) RETURNS TABLE(tenant_id uuid, user_id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.erasures_undone(tenants uuid[], users uuid[]) OWNER TO falaj_system;

-- Name: evidence_zone_stored(text); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.evidence_zone_stored(zone_code text) RETURNS TABLE(data_class text, tenants bigint, objects bigint, bytes bigint, key_versions text, providers text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.evidence_zone_stored(zone_code text) OWNER TO falaj_system;

-- Name: evidence_zone_transfers(text, timestamp with time zone, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.evidence_zone_transfers(zone_code text, since timestamp with time zone, until timestamp with time zone) RETURNS TABLE(from_zone text, to_zone text, data_class text, legal_basis text, transfers bigint, bytes bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.evidence_zone_transfers(zone_code text, since timestamp with time zone, until timestamp with time zone) OWNER TO falaj_system;

-- Name: falaj_platform_table(regclass); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.falaj_platform_table(t regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.falaj_platform_table(t regclass) OWNER TO falaj_owner;

-- Name: falaj_system_function(name, name[]); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.falaj_system_function(f name, VARIADIC callers name[] DEFAULT '{}'::name[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.falaj_system_function(f name, VARIADIC callers name[]) OWNER TO falaj_owner;

-- Name: falaj_tenant_table(regclass); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.falaj_tenant_table(t regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.falaj_tenant_table(t regclass) OWNER TO falaj_owner;

-- Name: federation_sweep(); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.federation_sweep() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.federation_sweep() OWNER TO falaj_system;

-- Name: invariants_check(); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.invariants_check() RETURNS TABLE(name text, doc text, violations bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET enable_seqscan TO 'on'
    SET enable_mergejoin TO 'on'
    SET enable_bitmapscan TO 'on'
    SET work_mem TO '64MB'
    -- the body: migrations
ALTER FUNCTION public.invariants_check() OWNER TO falaj_system;

-- Name: invariants_quota(); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.invariants_quota() RETURNS TABLE(name text, doc text, violations bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET enable_seqscan TO 'on'
    SET enable_mergejoin TO 'on'
    SET enable_bitmapscan TO 'on'
    SET work_mem TO '64MB'
    -- the body: migrations
ALTER FUNCTION public.invariants_quota() OWNER TO falaj_system;

-- Name: invitation_find(bytea); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.invitation_find(token_hash bytea) RETURNS TABLE(tenant_id uuid, tenant_name text, tenant_state text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.invitation_find(token_hash bytea) OWNER TO falaj_system;

-- Name: issuer_find(text, text[]); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.issuer_find(token_issuer text, audiences text[]) RETURNS TABLE(tenant_id uuid, issuer_id uuid, issuer text, audience text, algorithms text[], jwks_uri text, jwks jsonb, single_use boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.issuer_find(token_issuer text, audiences text[]) OWNER TO falaj_system;

-- Name: job_ahead(uuid, uuid, bigint, bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.job_ahead(t uuid, id uuid, in_priority bigint, most bigint) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.job_ahead(t uuid, id uuid, in_priority bigint, most bigint) OWNER TO falaj_system;

-- Name: job_ahead(uuid, uuid, text, bigint, bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.job_ahead(t uuid, id uuid, in_class text, in_priority bigint, most bigint) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.job_ahead(t uuid, id uuid, in_class text, in_priority bigint, most bigint) OWNER TO falaj_system;

-- Name: job_array_ids(uuid[], uuid[]); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.job_array_ids(tenants uuid[], jobs uuid[]) RETURNS TABLE(ord bigint, array_id uuid)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.job_array_ids(tenants uuid[], jobs uuid[]) OWNER TO falaj_system;

-- Name: job_bounds_put(uuid[], uuid[], bigint[], bigint[]); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.job_bounds_put(tenants uuid[], jobs uuid[], nodess bigint[], mosts bigint[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.job_bounds_put(tenants uuid[], jobs uuid[], nodess bigint[], mosts bigint[]) OWNER TO falaj_system;

-- Name: job_cancel_told(); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.job_cancel_told() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.job_cancel_told() OWNER TO falaj_system;

-- Name: job_changed(); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.job_changed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.job_changed() OWNER TO falaj_system;

-- Name: job_conditions(uuid, uuid, text, uuid, uuid, text, text, text, timestamp with time zone, timestamp with time zone, uuid[]); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.job_conditions(below uuid, floor uuid, kind text, project uuid, creator uuid, zone text, pool text, q text, after timestamp with time zone, before timestamp with time zone, visible uuid[]) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.job_conditions(below uuid, floor uuid, kind text, project uuid, creator uuid, zone text, pool text, q text, after timestamp with time zone, before timestamp with time zone, visible uuid[]) OWNER TO falaj_owner;

-- Name: job_counts(uuid, uuid, uuid, text, uuid, uuid, text, text, text, timestamp with time zone, timestamp with time zone, text[], bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.job_counts(t uuid, below uuid, floor uuid, kind text, project uuid, creator uuid, zone text, pool text, q text, after timestamp with time zone, before timestamp with time zone, last_states text[], cap bigint) RETURNS TABLE(state text, jobs bigint, is_exact boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.job_counts(t uuid, below uuid, floor uuid, kind text, project uuid, creator uuid, zone text, pool text, q text, after timestamp with time zone, before timestamp with time zone, last_states text[], cap bigint) OWNER TO falaj_system;

-- Name: job_edge_refuse(); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.job_edge_refuse() RETURNS trigger
    LANGUAGE plpgsql
    -- the body: migrations
ALTER FUNCTION public.job_edge_refuse() OWNER TO falaj_owner;

-- Name: job_engine_put(uuid[], uuid[], text[]); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.job_engine_put(tenants uuid[], jobs uuid[], engines text[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.job_engine_put(tenants uuid[], jobs uuid[], engines text[]) OWNER TO falaj_system;

-- Name: job_facets(text, uuid, uuid, text, text); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.job_facets(kind text, project uuid, creator uuid, zone text, pool text) RETURNS text[]
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.job_facets(kind text, project uuid, creator uuid, zone text, pool text) OWNER TO falaj_owner;

-- Name: job_find(uuid, uuid, uuid, boolean, text[], text[], text, uuid, uuid, text, text, text, timestamp with time zone, timestamp with time zone, bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.job_find(t uuid, below uuid, floor uuid, is_queued boolean, live text[], ended text[], kind text, project uuid, creator uuid, zone text, pool text, q text, after timestamp with time zone, before timestamp with time zone, most bigint) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.job_find(t uuid, below uuid, floor uuid, is_queued boolean, live text[], ended text[], kind text, project uuid, creator uuid, zone text, pool text, q text, after timestamp with time zone, before timestamp with time zone, most bigint) OWNER TO falaj_system;

-- Name: job_fixed_refuse(); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.job_fixed_refuse() RETURNS trigger
    LANGUAGE plpgsql
    -- the body: migrations
ALTER FUNCTION public.job_fixed_refuse() OWNER TO falaj_owner;

-- Name: job_kind_is_known(text); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.job_kind_is_known(kind text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    -- the body: migrations
ALTER FUNCTION public.job_kind_is_known(kind text) OWNER TO falaj_owner;

-- Name: job_many(uuid, text[]); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.job_many(t uuid, last_states text[]) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.job_many(t uuid, last_states text[]) OWNER TO falaj_owner;

-- Name: job_names_unknown(uuid[], text[], text[], uuid[], uuid[]); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.job_names_unknown(tenants uuid[], queues text[], classes text[], owners uuid[], projects uuid[]) RETURNS TABLE(what text, tenant_id uuid, name text, project_id uuid)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    -- the body: migrations
ALTER FUNCTION public.job_names_unknown(tenants uuid[], queues text[], classes text[], owners uuid[], projects uuid[]) OWNER TO falaj_system;

-- Name: job_newest_waiting(text); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.job_newest_waiting(conditions text) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.job_newest_waiting(conditions text) OWNER TO falaj_owner;

-- Name: job_nodes_put(uuid[], uuid[], bigint[]); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.job_nodes_put(tenants uuid[], jobs uuid[], nodess bigint[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.job_nodes_put(tenants uuid[], jobs uuid[], nodess bigint[]) OWNER TO falaj_system;

-- Name: job_page_of(uuid, uuid, uuid); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.job_page_of(t uuid, after uuid, last uuid, OUT jobs bigint, OUT names text, OUT ids uuid[], OUT facets text[]) RETURNS record
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.job_page_of(t uuid, after uuid, last uuid, OUT jobs bigint, OUT names text, OUT ids uuid[], OUT facets text[]) OWNER TO falaj_owner;

-- Name: job_paged(uuid, uuid, uuid, text, uuid, uuid, text, text, text, timestamp with time zone, timestamp with time zone, uuid[], text[], text[], text, bigint); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.job_paged(t uuid, below uuid, floor uuid, kind text, project uuid, creator uuid, zone text, pool text, q text, after timestamp with time zone, before timestamp with time zone, visible uuid[], live text[], ended text[], conditions text, most bigint) RETURNS TABLE(job_id uuid, state text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.job_paged(t uuid, below uuid, floor uuid, kind text, project uuid, creator uuid, zone text, pool text, q text, after timestamp with time zone, before timestamp with time zone, visible uuid[], live text[], ended text[], conditions text, most bigint) OWNER TO falaj_owner;

-- Name: job_pages_due(uuid, bigint, bigint); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.job_pages_due(below uuid, size bigint, most bigint) RETURNS TABLE(tenant_id uuid, after_id uuid, last_id uuid)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.job_pages_due(below uuid, size bigint, most bigint) OWNER TO falaj_owner;

-- Name: job_pages_few(uuid, text[]); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.job_pages_few(t uuid, wanted text[]) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.job_pages_few(t uuid, wanted text[]) OWNER TO falaj_owner;

-- Name: job_pattern(text); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.job_pattern(q text) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.job_pattern(q text) OWNER TO falaj_owner;

-- Name: job_purpose(text); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.job_purpose(kind text) RETURNS text
    LANGUAGE sql IMMUTABLE
    -- the body: migrations
ALTER FUNCTION public.job_purpose(kind text) OWNER TO falaj_owner;

-- Name: job_read_many(uuid[], uuid[]); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.job_read_many(tenants uuid[], jobs uuid[]) RETURNS TABLE(ord bigint, tenant_id uuid, job_id uuid, name text, kind text, state text, reason text, message text, spec jsonb, zone text, pool text, data_class text, slots bigint, gpus bigint, priority bigint, max_attempts bigint, max_runtime_s bigint, requeue_count bigint, fence bigint, version bigint, cancel_requested boolean, result jsonb, created_by uuid, submitted_at timestamp with time zone, started_at timestamp with time zone, finished_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.job_read_many(tenants uuid[], jobs uuid[]) OWNER TO falaj_system;

-- Name: job_retry_put(uuid[], uuid[], text[]); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.job_retry_put(tenants uuid[], jobs uuid[], retries text[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.job_retry_put(tenants uuid[], jobs uuid[], retries text[]) OWNER TO falaj_system;

-- Name: job; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.job (
    tenant_id uuid NOT NULL,
    job_id uuid NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    state text DEFAULT 'PENDING'::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    message text DEFAULT ''::text NOT NULL,
    spec jsonb NOT NULL,
    zone text,
    pool text DEFAULT 'default'::text NOT NULL,
    data_class text DEFAULT 'internal'::text NOT NULL,
    slots bigint DEFAULT 1 NOT NULL,
    gpus bigint DEFAULT 0 NOT NULL,
    priority bigint DEFAULT 0 NOT NULL,
    max_attempts bigint DEFAULT 3 NOT NULL,
    max_runtime_s bigint DEFAULT 86400 NOT NULL,
    requeue_count bigint DEFAULT 0 NOT NULL,
    fence bigint DEFAULT 0 NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    queued boolean DEFAULT true NOT NULL,
    cancel_requested boolean DEFAULT false NOT NULL,
    result jsonb,
    created_by uuid NOT NULL,
    submitted_at timestamp with time zone DEFAULT now() NOT NULL,
    not_before timestamp with time zone,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    project_id uuid,
    queue text DEFAULT 'default'::text NOT NULL,
    ended text GENERATED ALWAYS AS (
CASE
    WHEN (finished_at IS NOT NULL) THEN state
    ELSE NULL::text
END) STORED,
    submitted_xid xid8,
    cpu_milli bigint DEFAULT 0 NOT NULL,
    memory_bytes bigint DEFAULT 0 NOT NULL,
    gpu_milli bigint DEFAULT 1000 NOT NULL,
    gpu_models text DEFAULT ''::text NOT NULL,
    class text DEFAULT 'default'::text NOT NULL,
    shape bigint DEFAULT 0 NOT NULL,
    begin_at timestamp with time zone,
    deadline_at timestamp with time zone,
    retry jsonb,
    suspend_requested boolean DEFAULT false NOT NULL,
    nodes bigint DEFAULT 1 NOT NULL,
    ready_xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    nodes_max bigint DEFAULT 1 NOT NULL,
    engine text DEFAULT ''::text NOT NULL,
    suspend_why text DEFAULT ''::text NOT NULL,
    CONSTRAINT job_state_check CHECK (
CASE
    WHEN (finished_at IS NULL) THEN ((queued = (state = 'PENDING'::text)) AND (state = ANY ('{PENDING,ADMITTED,RUNNING,STARTING,HELD,PREEMPTING,COMPLETING,SUSPENDED}'::text[])))
    ELSE ((NOT queued) AND (state = ANY ('{COMPLETED,FAILED,CANCELLED,TIMEOUT,DEADLINE,OUT_OF_MEMORY,NODE_FAIL,PREEMPTED,REJECTED}'::text[])))
END),
    CONSTRAINT job_suspend_why_check CHECK ((suspend_why = ANY (ARRAY[''::text, 'Idle'::text])))
)
WITH (fillfactor='60');
ALTER TABLE ONLY public.job FORCE ROW LEVEL SECURITY;
ALTER TABLE public.job OWNER TO falaj_owner;

-- Name: COLUMN job.not_before; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.job.not_before IS 'The planner does not see a waiting job that has one; cleared when that time has come';

-- Name: COLUMN job.cpu_milli; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.job.cpu_milli IS '0: what its slots stand for, as memory_bytes';

-- Name: COLUMN job.gpu_models; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.job.gpu_models IS 'Between commas; empty: any';

-- Name: COLUMN job.deadline_at; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.job.deadline_at IS 'A job that still waits then ends as DEADLINE';

-- Name: COLUMN job.retry; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.job.retry IS '{max, on, backoff_s} (scheduler/jobs/retry.h); NULL: where machines fail, up to max_attempts';

-- Name: COLUMN job.suspend_requested; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.job.suspend_requested IS 'It becomes SUSPENDED when its machine has ended it';

-- Name: COLUMN job.nodes; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.job.nodes IS 'Machines that it runs on at once, each with its slots, GPUs and memory; at least';

-- Name: COLUMN job.ready_xid; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.job.ready_xid IS 'The transaction that stored it; 0: before that was kept';

-- Name: COLUMN job.nodes_max; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.job.nodes_max IS 'It takes more where they are free, up to so many; not above nodes: always nodes';

-- Name: COLUMN job.engine; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.job.engine IS 'What computes its model (node.engines, by name); empty: our own operations';

-- Name: COLUMN job.suspend_why; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.job.suspend_why IS 'With suspend_requested, the reason that it is put aside for; empty: a person asked';

-- Name: job_rows(uuid[], uuid[]); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.job_rows(tenants uuid[], jobs uuid[]) RETURNS SETOF public.job
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.job_rows(tenants uuid[], jobs uuid[]) OWNER TO falaj_system;

-- Name: job_shape(uuid, text, text, text, text, text, bigint, bigint, text, bigint, bigint, bigint, text); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.job_shape(project_id uuid, queue text, kind text, data_class text, zone text, pool text, slots bigint, gpus bigint, class text, cpu_milli bigint, memory_bytes bigint, gpu_milli bigint, gpu_models text) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    -- the body: migrations
ALTER FUNCTION public.job_shape(project_id uuid, queue text, kind text, data_class text, zone text, pool text, slots bigint, gpus bigint, class text, cpu_milli bigint, memory_bytes bigint, gpu_milli bigint, gpu_models text) OWNER TO falaj_owner;

-- Name: job_shape_keep(); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.job_shape_keep() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.job_shape_keep() OWNER TO falaj_owner;

-- Name: job_stays(text); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.job_stays(kind text) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    -- the body: migrations
ALTER FUNCTION public.job_stays(kind text) OWNER TO falaj_owner;

-- Name: job_submit_many(uuid[], uuid[], text[], text[], text[], text[], text[], text[], bigint[], bigint[], bigint[], bigint[], bigint[], uuid[], text[], text[], bytea[], uuid[], bytea[], bigint[], text[], uuid[], uuid[], text[]); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.job_submit_many(tenants uuid[], jobs uuid[], names text[], kinds text[], specs text[], zones text[], pools text[], classes text[], slotss bigint[], gpuss bigint[], priorities bigint[], attempts bigint[], runtimes bigint[], users uuid[], routes text[], keys text[], shas bytea[], event_ids uuid[], events bytea[], input_ords bigint[], input_names text[], input_objects uuid[], projects uuid[], queues text[]) RETURNS TABLE(ord bigint, verdict text, job_id uuid, room bigint, submitted_at timestamp with time zone, message text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.job_submit_many(tenants uuid[], jobs uuid[], names text[], kinds text[], specs text[], zones text[], pools text[], classes text[], slotss bigint[], gpuss bigint[], priorities bigint[], attempts bigint[], runtimes bigint[], users uuid[], routes text[], keys text[], shas bytea[], event_ids uuid[], events bytea[], input_ords bigint[], input_names text[], input_objects uuid[], projects uuid[], queues text[]) OWNER TO falaj_system;

-- Name: job_submit_many(uuid[], uuid[], text[], text[], text[], text[], text[], text[], bigint[], bigint[], bigint[], bigint[], bigint[], uuid[], text[], text[], bytea[], uuid[], bytea[], bigint[], text[], uuid[], uuid[], text[], bigint[], bigint[], bigint[], text[], text[], bigint[], bigint[], bigint[], text[], uuid[]); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.job_submit_many(tenants uuid[], jobs uuid[], names text[], kinds text[], specs text[], zones text[], pools text[], classes text[], slotss bigint[], gpuss bigint[], priorities bigint[], attempts bigint[], runtimes bigint[], users uuid[], routes text[], keys text[], shas bytea[], event_ids uuid[], events bytea[], input_ords bigint[], input_names text[], input_objects uuid[], projects uuid[], queues text[], cpus bigint[], memories bigint[], millis bigint[], modelss text[], class_names text[], begins bigint[], deadlines bigint[], dep_ords bigint[], dep_types text[], dep_jobs uuid[]) RETURNS TABLE(ord bigint, verdict text, job_id uuid, room bigint, submitted_at timestamp with time zone, message text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    -- the body: migrations
ALTER FUNCTION public.job_submit_many(tenants uuid[], jobs uuid[], names text[], kinds text[], specs text[], zones text[], pools text[], classes text[], slotss bigint[], gpuss bigint[], priorities bigint[], attempts bigint[], runtimes bigint[], users uuid[], routes text[], keys text[], shas bytea[], event_ids uuid[], events bytea[], input_ords bigint[], input_names text[], input_objects uuid[], projects uuid[], queues text[], cpus bigint[], memories bigint[], millis bigint[], modelss text[], class_names text[], begins bigint[], deadlines bigint[], dep_ords bigint[], dep_types text[], dep_jobs uuid[]) OWNER TO falaj_system;

-- Name: key_hangs(uuid, text, bigint, bigint); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.key_hangs(t uuid, of_zone text, of_version bigint, most bigint) RETURNS TABLE(kind text, id text, name text, display_name text, display_name_ar text, objects bigint, bytes bigint)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.key_hangs(t uuid, of_zone text, of_version bigint, most bigint) OWNER TO falaj_owner;

-- Name: key_shreds_after(uuid, text, bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.key_shreds_after(after_tenant uuid, after_zone text, most bigint) RETURNS TABLE(tenant_id uuid, zone text, version bigint, since timestamp with time zone)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.key_shreds_after(after_tenant uuid, after_zone text, most bigint) OWNER TO falaj_system;

-- Name: key_shreds_undone(uuid[], text[], bigint[], timestamp with time zone[]); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.key_shreds_undone(tenants uuid[], zones text[], versions bigint[], ordered timestamp with time zone[]) RETURNS TABLE(tenant_id uuid, zone text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.key_shreds_undone(tenants uuid[], zones text[], versions bigint[], ordered timestamp with time zone[]) OWNER TO falaj_system;

-- Name: lease_pull(jsonb, text); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.lease_pull(spec jsonb, of_zone text) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.lease_pull(spec jsonb, of_zone text) OWNER TO falaj_owner;

-- Name: list_condition(text, text, text); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.list_condition(list text, filter text, val text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.list_condition(list text, filter text, val text) OWNER TO falaj_owner;

-- Name: list_find(text, uuid, uuid, text, text, text[], text[], bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.list_find(list text, t uuid, last uuid, sort text, q text, filters text[], vals text[], most bigint) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.list_find(list text, t uuid, last uuid, sort text, q text, filters text[], vals text[], most bigint) OWNER TO falaj_system;

-- Name: login_find(text, text); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.login_find(tenant_name text, user_name text) RETURNS TABLE(tenant_id uuid, tenant_state text, user_id uuid, user_state text, phc text, zone text, has_totp boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.login_find(tenant_name text, user_name text) OWNER TO falaj_system;

-- Name: machine_kinds(text, bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.machine_kinds(in_pool text, most bigint) RETURNS TABLE(zone text, pool text, flavor text, gpu_model text, gpu_shared boolean, programs boolean, gangs boolean, gang_programs boolean, engines text, build text, kept text, slots bigint, gpus bigint, cpu_milli bigint, memory_bytes bigint, used_slots bigint, used_gpus bigint, used_cpu_milli bigint, used_memory_bytes bigint, held text, machines bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.machine_kinds(in_pool text, most bigint) OWNER TO falaj_system;

-- Name: machine_room(text, bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.machine_room(in_pool text, most bigint) RETURNS TABLE(zone text, pool text, flavor text, slots bigint, gpus bigint, free_slots bigint, free_gpus bigint, machines bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.machine_room(in_pool text, most bigint) OWNER TO falaj_system;

-- Name: machine_room_by(text[], text, text, bigint, bigint, bigint, bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.machine_room_by(in_zones text[], in_pool text, in_models text, in_slots bigint, in_gpus bigint, in_cpu_milli bigint, in_memory_bytes bigint) RETURNS timestamp with time zone
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.machine_room_by(in_zones text[], in_pool text, in_models text, in_slots bigint, in_gpus bigint, in_cpu_milli bigint, in_memory_bytes bigint) OWNER TO falaj_system;

-- Name: mirror_epoch(); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.mirror_epoch() RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.mirror_epoch() OWNER TO falaj_system;

-- Name: model_engine(uuid, uuid, bigint); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.model_engine(t uuid, model uuid, number bigint) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.model_engine(t uuid, model uuid, number bigint) OWNER TO falaj_owner;

-- Name: node_changed(); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.node_changed() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.node_changed() OWNER TO falaj_owner;

-- Name: node_flavor_set(uuid, text); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.node_flavor_set(node uuid, new_flavor text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.node_flavor_set(node uuid, new_flavor text) OWNER TO falaj_system;

-- Name: node_jobs(uuid, bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.node_jobs(node uuid, most bigint) RETURNS TABLE(job_id uuid, total bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.node_jobs(node uuid, most bigint) OWNER TO falaj_system;

-- Name: node_load(uuid); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.node_load(node uuid) RETURNS TABLE(used_slots bigint, used_gpus bigint, running bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.node_load(node uuid) OWNER TO falaj_system;

-- Name: node_move(uuid, text, text[], text); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.node_move(node uuid, wanted text, froms text[], why text) RETURNS SETOF uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.node_move(node uuid, wanted text, froms text[], why text) OWNER TO falaj_system;

-- Name: node_spent(); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.node_spent() RETURNS trigger
    LANGUAGE plpgsql
    -- the body: migrations
ALTER FUNCTION public.node_spent() OWNER TO falaj_owner;

-- Name: node_work(uuid, uuid, bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.node_work(node uuid, behind uuid, most bigint) RETURNS TABLE(attempt_id uuid, job_id uuid, tenant_id uuid, kind text, zone text, slots bigint, gpus bigint, state text, leased_at timestamp with time zone, started_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.node_work(node uuid, behind uuid, most bigint) OWNER TO falaj_system;

-- Name: passport_crossings(uuid, uuid, bigint); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.passport_crossings(t uuid, set_id uuid, most bigint) RETURNS TABLE(transfer_id uuid, dataset_version bigint, from_zone text, to_zone text, purpose text, rule text, legal_basis text, assessment_ref text, document_sha256 text, bytes bigint, by_user uuid, by_name text, at timestamp with time zone)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.passport_crossings(t uuid, set_id uuid, most bigint) OWNER TO falaj_owner;

-- Name: passport_jobs(uuid, uuid, bigint); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.passport_jobs(t uuid, set_id uuid, most bigint) RETURNS TABLE(job_id uuid, name text, kind text, state text, zone text, dataset_version bigint, submitted_at timestamp with time zone, submitted_by uuid, submitted_by_name text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.passport_jobs(t uuid, set_id uuid, most bigint) OWNER TO falaj_owner;

-- Name: passport_laws(uuid, uuid, text, bigint); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.passport_laws(t uuid, set_id uuid, class text, most bigint) RETURNS TABLE(zone text, name text, country text, regulator text, law_version bigint, regime text, may_leave text, source_text text, valid_from timestamp with time zone)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.passport_laws(t uuid, set_id uuid, class text, most bigint) OWNER TO falaj_owner;

-- Name: passport_models(uuid, uuid, bigint); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.passport_models(t uuid, set_id uuid, most bigint) RETURNS TABLE(model_id uuid, name text, display_name text, display_name_ar text, version bigint, job_id uuid, created_at timestamp with time zone, deployments bigint)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.passport_models(t uuid, set_id uuid, most bigint) OWNER TO falaj_owner;

-- Name: passport_places(uuid, uuid, bigint); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.passport_places(t uuid, set_id uuid, most bigint) RETURNS TABLE(version bigint, zone text, is_copy boolean, object_id uuid, sha256 text, size_bytes bigint, row_count bigint, created_at timestamp with time zone, key_version bigint, key_state text, key_tier text, key_origin text, key_provider text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.passport_places(t uuid, set_id uuid, most bigint) OWNER TO falaj_owner;

-- Name: person_origin_note(); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.person_origin_note() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.person_origin_note() OWNER TO falaj_system;

-- Name: person_origins(uuid); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.person_origins(u uuid) RETURNS TABLE(origin uuid, what text, is_known boolean)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.person_origins(u uuid) OWNER TO falaj_system;

-- Name: person_vouch(uuid, uuid, uuid); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.person_vouch(t uuid, u uuid, approved_by uuid) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.person_vouch(t uuid, u uuid, approved_by uuid) OWNER TO falaj_owner;

-- Name: project_goes(uuid, uuid); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.project_goes(t uuid, project uuid) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.project_goes(t uuid, project uuid) OWNER TO falaj_system;

-- Name: project_visible(uuid); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.project_visible(project uuid) RETURNS boolean
    LANGUAGE sql STABLE
    -- the body: migrations
ALTER FUNCTION public.project_visible(project uuid) OWNER TO falaj_owner;

-- Name: projects_all(); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.projects_all() RETURNS boolean
    LANGUAGE sql STABLE
    -- the body: migrations
ALTER FUNCTION public.projects_all() OWNER TO falaj_owner;

-- Name: projects_visible(); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.projects_visible() RETURNS uuid[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.projects_visible() OWNER TO falaj_owner;

-- Name: provider_find(text, text); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.provider_find(tenant_name text, provider_name text) RETURNS TABLE(tenant_id uuid, tenant_state text, provider_id uuid)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.provider_find(tenant_name text, provider_name text) OWNER TO falaj_system;

-- Name: provider_names(text); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.provider_names(tenant_name text) RETURNS TABLE(provider_id uuid, name text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.provider_names(tenant_name text) OWNER TO falaj_system;

-- Name: queue_alias(text); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.queue_alias(what text) RETURNS uuid
    LANGUAGE sql IMMUTABLE
    -- the body: migrations
ALTER FUNCTION public.queue_alias(what text) OWNER TO falaj_owner;

-- Name: queue_declared(bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.queue_declared(most bigint) RETURNS TABLE(tenant_id uuid, project_id uuid, name text, mode text, stop_policy text, within_cluster_queue text, reclaim_within_cohort text, slot_usage bigint, gpu_usage bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.queue_declared(most bigint) OWNER TO falaj_system;

-- Name: queue_jobs(bigint, interval); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.queue_jobs(most bigint, until interval) RETURNS TABLE(is_live boolean, is_own boolean, tenant_id uuid, job_id uuid, name text, machine uuid, zone text, pool text, kind text, data_class text, queue text, project_id uuid, slots bigint, gpus bigint, cpu_milli bigint, memory_bytes bigint, gpu_milli bigint, gpu_models text, class text, class_value bigint, priority bigint, shape bigint, depth bigint, submitted_at timestamp with time zone, ready_at timestamp with time zone, begun_at timestamp with time zone, devices bigint, stays boolean, max_runtime_s bigint, runs text, zones text, needs text, may_leave boolean, grace_s bigint, min_runtime_s bigint, preempted bigint, saved_at timestamp with time zone, leaves_at timestamp with time zone, leaves_for uuid, nodes bigint, nodes_max bigint, engine text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.queue_jobs(most bigint, until interval) OWNER TO falaj_system;

-- Name: queue_known(text); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.queue_known(in_name text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.queue_known(in_name text) OWNER TO falaj_system;

-- Name: queue_machines(bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.queue_machines(most bigint) RETURNS TABLE(machine uuid, is_ready boolean, zone text, pool text, flavor text, gpu_model text, gpu_shared boolean, programs boolean, gangs boolean, gang_programs boolean, engines text, build text, slots bigint, gpus bigint, cpu_milli bigint, memory_bytes bigint, once boolean)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.queue_machines(most bigint) OWNER TO falaj_system;

-- Name: queue_reserved(bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.queue_reserved(most bigint) RETURNS TABLE(machine uuid, tenant_id uuid, project_id uuid, from_us bigint, until_us bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.queue_reserved(most bigint) OWNER TO falaj_system;

-- Name: queue_rules(bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.queue_rules(most bigint) RETURNS TABLE(tenant_id uuid, project_id uuid, place text, resource text, queue text, flavor text, zone text, nominal bigint, borrowing_limit bigint, lending_limit bigint, weight bigint, used bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.queue_rules(most bigint) OWNER TO falaj_system;

-- Name: queue_tenants(bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.queue_tenants(most bigint) RETURNS TABLE(tenant_id uuid, is_mine boolean, owner uuid, name text, slots_limit bigint, gpus_limit bigint, guarded boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.queue_tenants(most bigint) OWNER TO falaj_system;

-- Name: quota_api_rates(); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.quota_api_rates() RETURNS TABLE(tenant_id uuid, per_minute bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.quota_api_rates() OWNER TO falaj_system;

-- Name: quota_cohort(text, text, text, uuid); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.quota_cohort(in_resource text, in_flavor text, in_zone text, but uuid, OUT lendable bigint, OUT lent bigint) RETURNS record
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.quota_cohort(in_resource text, in_flavor text, in_zone text, but uuid, OUT lendable bigint, OUT lent bigint) OWNER TO falaj_system;

-- Name: quota_counted(uuid, text); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.quota_counted(in_tenant uuid, in_resource text) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.quota_counted(in_tenant uuid, in_resource text) OWNER TO falaj_system;

-- Name: quota_guard(); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.quota_guard() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.quota_guard() OWNER TO falaj_owner;

-- Name: reservation_changed(); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.reservation_changed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.reservation_changed() OWNER TO falaj_system;

-- Name: reservation_for(uuid, uuid, text[]); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.reservation_for(t uuid, project uuid, zones text[]) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.reservation_for(t uuid, project uuid, zones text[]) OWNER TO falaj_system;

-- Name: residency_changed(); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.residency_changed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.residency_changed() OWNER TO falaj_system;

-- Name: residency_clauses(text, bigint); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.residency_clauses(of_class text, most bigint) RETURNS TABLE(zone text, regime text, source_text text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.residency_clauses(of_class text, most bigint) OWNER TO falaj_owner;

-- Name: residency_things(uuid, uuid, text, bigint); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.residency_things(t uuid, set_id uuid, of_class text, most bigint) RETURNS TABLE(thing text, thing_id uuid, name text, display_name text, display_name_ar text, state text, job_kind text, thing_version bigint, zone text, pinned boolean)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.residency_things(t uuid, set_id uuid, of_class text, most bigint) OWNER TO falaj_owner;

-- Name: residency_zone_ok(uuid, text, text, text); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.residency_zone_ok(t uuid, class text, target text, purpose_ text DEFAULT NULL::text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.residency_zone_ok(t uuid, class text, target text, purpose_ text) OWNER TO falaj_owner;

-- Name: root_key_users(text); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.root_key_users(in_zone text) RETURNS TABLE(root_version bigint, keys bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.root_key_users(in_zone text) OWNER TO falaj_system;

-- Name: second_person_facts(uuid, uuid, uuid, text[]); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.second_person_facts(t uuid, other uuid, u uuid, roles text[]) RETURNS TABLE(kind text, is_known boolean, other_is_known boolean, what text, step text, account_at timestamp with time zone, role_at timestamp with time zone, link_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.second_person_facts(t uuid, other uuid, u uuid, roles text[]) OWNER TO falaj_system;

-- Name: secret_forget(uuid, uuid, bigint); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.secret_forget(t uuid, which uuid, keep bigint) RETURNS TABLE(kind text, id uuid, name text, stored_bytes bigint)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.secret_forget(t uuid, which uuid, keep bigint) OWNER TO falaj_owner;

-- Name: serving_jobs(); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.serving_jobs() RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.serving_jobs() OWNER TO falaj_owner;

-- Name: session_find(bytea); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.session_find(cookie_hash bytea) RETURNS TABLE(tenant_id uuid, user_id uuid, tenant_name text, tenant_state text, home_zone text, user_name text, user_kind text, user_state text, allowed_zones text[], bindings jsonb, authz_rev bigint, session_id uuid, method text, stage text, proved_at timestamp with time zone, mfa_at timestamp with time zone, last_seen timestamp with time zone, until timestamp with time zone, ended_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.session_find(cookie_hash bytea) OWNER TO falaj_system;

-- Name: session_seen(uuid[], uuid[]); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.session_seen(tenants uuid[], sessions uuid[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.session_seen(tenants uuid[], sessions uuid[]) OWNER TO falaj_system;

-- Name: shared_environment_jobs(text, text); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.shared_environment_jobs(image text, of_zone text) RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.shared_environment_jobs(image text, of_zone text) OWNER TO falaj_system;

-- Name: shared_environment_of(uuid, uuid); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.shared_environment_of(t uuid, job uuid) RETURNS TABLE(owner_id uuid, object_id uuid, is_withdrawn boolean)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.shared_environment_of(t uuid, job uuid) OWNER TO falaj_owner;

-- Name: subject_has_hold(uuid, uuid); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.subject_has_hold(t uuid, subject uuid) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.subject_has_hold(t uuid, subject uuid) OWNER TO falaj_system;

-- Name: submit_guard(uuid[], uuid[], bigint[], bigint[], bigint[], uuid[], text[], text[]); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.submit_guard(tenants uuid[], projects uuid[], slotss bigint[], gpuss bigint[], runtimes bigint[], users uuid[], routes text[], keys text[]) RETURNS TABLE(ord bigint, verdict text, message text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.submit_guard(tenants uuid[], projects uuid[], slotss bigint[], gpuss bigint[], runtimes bigint[], users uuid[], routes text[], keys text[]) OWNER TO falaj_system;

-- Name: submit_guard_gangs(uuid[], uuid[], bigint[], bigint[], bigint[], uuid[], text[], text[]); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.submit_guard_gangs(tenants uuid[], projects uuid[], slotss bigint[], gpuss bigint[], runtimes bigint[], users uuid[], routes text[], keys text[]) RETURNS TABLE(ord bigint, verdict text, message text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.submit_guard_gangs(tenants uuid[], projects uuid[], slotss bigint[], gpuss bigint[], runtimes bigint[], users uuid[], routes text[], keys text[]) OWNER TO falaj_system;

-- Name: system_facts(); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.system_facts() RETURNS TABLE(server_version text, in_recovery boolean, standbys bigint, replay_age_ms bigint, round_age_ms bigint, round_us bigint, round_version text, unnumbered bigint, unnumbered_age_ms bigint, unsigned_logs bigint, head_age_ms bigint, waiting bigint, running bigint, nodes_ready bigint, nodes_draining bigint, nodes_quarantined bigint, nodes_lost bigint, slots bigint, used_slots bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.system_facts() OWNER TO falaj_system;

-- Name: tenant_create(uuid, text, text, text, text[], uuid, text, uuid, text, uuid, uuid, bytea, text, timestamp with time zone, bytea, bigint, text, uuid, bytea, text); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.tenant_create(t uuid, tenant_name text, shown_name text, home text, zones text[], admin_id uuid, admin_name text, binding uuid, role_name text, by_user uuid, token uuid, token_hash bytea, token_hint text, token_until timestamp with time zone, key_wrapped bytea, key_root bigint, key_provider text, event uuid, event_body bytea, shown_name_ar text DEFAULT ''::text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.tenant_create(t uuid, tenant_name text, shown_name text, home text, zones text[], admin_id uuid, admin_name text, binding uuid, role_name text, by_user uuid, token uuid, token_hash bytea, token_hint text, token_until timestamp with time zone, key_wrapped bytea, key_root bigint, key_provider text, event uuid, event_body bytea, shown_name_ar text) OWNER TO falaj_system;

-- Name: tenant_delete_schedule(uuid, timestamp with time zone, text, uuid, bytea); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.tenant_delete_schedule(t uuid, after timestamp with time zone, why text, event uuid, event_body bytea) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.tenant_delete_schedule(t uuid, after timestamp with time zone, why text, event uuid, event_body bytea) OWNER TO falaj_system;

-- Name: tenant_goes(uuid); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.tenant_goes(t uuid) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.tenant_goes(t uuid) OWNER TO falaj_system;

-- Name: tenant_has_hold(uuid); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.tenant_has_hold(t uuid) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.tenant_has_hold(t uuid) OWNER TO falaj_system;

-- Name: tenant_key_guard(); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.tenant_key_guard() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.tenant_key_guard() OWNER TO falaj_owner;

-- Name: tenant_officer(uuid, uuid, uuid, text, uuid, uuid, uuid, bytea); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.tenant_officer(t uuid, u uuid, binding uuid, role_name text, by_user uuid, approved_by uuid, event uuid, event_body bytea) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.tenant_officer(t uuid, u uuid, binding uuid, role_name text, by_user uuid, approved_by uuid, event uuid, event_body bytea) OWNER TO falaj_system;

-- Name: tenant_wipe(uuid, bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.tenant_wipe(t uuid, most bigint) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.tenant_wipe(t uuid, most bigint) OWNER TO falaj_system;

-- Name: tenant_wiped(uuid, uuid[], bytea[]); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.tenant_wiped(t uuid, events uuid[], bodies bytea[]) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.tenant_wiped(t uuid, events uuid[], bodies bytea[]) OWNER TO falaj_system;

-- Name: tenants_due(bigint); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.tenants_due(most bigint) RETURNS TABLE(tenant_id uuid)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.tenants_due(most bigint) OWNER TO falaj_system;

-- Name: uploads_open(uuid, uuid); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.uploads_open(in_tenant uuid, in_user uuid, OUT of_tenant bigint, OUT of_user bigint) RETURNS record
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.uploads_open(in_tenant uuid, in_user uuid, OUT of_tenant bigint, OUT of_user bigint) OWNER TO falaj_system;

-- Name: usage_energy_measured_mj(bigint, bigint, bigint, bigint, bigint, bigint); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.usage_energy_measured_mj(slot_ms bigint, gpu_ms bigint, slot_watts bigint, gpu_watts bigint, cpu_mj bigint, gpu_mj bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    -- the body: migrations
ALTER FUNCTION public.usage_energy_measured_mj(slot_ms bigint, gpu_ms bigint, slot_watts bigint, gpu_watts bigint, cpu_mj bigint, gpu_mj bigint) OWNER TO falaj_owner;

-- Name: usage_energy_mj(bigint, bigint, bigint, bigint); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.usage_energy_mj(slot_ms bigint, gpu_ms bigint, slot_watts bigint, gpu_watts bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    -- the body: migrations
ALTER FUNCTION public.usage_energy_mj(slot_ms bigint, gpu_ms bigint, slot_watts bigint, gpu_watts bigint) OWNER TO falaj_owner;

-- Name: usage_money_micro(bigint, bigint, bigint, bigint, bigint, bigint); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.usage_money_micro(slot_ms bigint, gpu_ms bigint, slot_hour bigint, gpu_hour bigint, energy_mj bigint, kwh bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    -- the body: migrations
ALTER FUNCTION public.usage_money_micro(slot_ms bigint, gpu_ms bigint, slot_hour bigint, gpu_hour bigint, energy_mj bigint, kwh bigint) OWNER TO falaj_owner;

-- Name: user_end_credentials(uuid, uuid); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.user_end_credentials(t uuid, u uuid) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.user_end_credentials(t uuid, u uuid) OWNER TO falaj_owner;

-- Name: zone_first_law(); Type: FUNCTION; Schema: public; Owner: falaj_system
CREATE FUNCTION public.zone_first_law() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.zone_first_law() OWNER TO falaj_system;

-- Name: zone_law_guard(); Type: FUNCTION; Schema: public; Owner: falaj_owner
CREATE FUNCTION public.zone_law_guard() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    -- the body: migrations
ALTER FUNCTION public.zone_law_guard() OWNER TO falaj_owner;

-- Name: api_token; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.api_token (
    tenant_id uuid NOT NULL,
    token_id uuid NOT NULL,
    user_id uuid NOT NULL,
    name text NOT NULL,
    hash bytea NOT NULL,
    hint text NOT NULL,
    scopes text[] DEFAULT '{}'::text[] NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    last_used_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    cidrs cidr[] DEFAULT '{}'::cidr[] NOT NULL,
    zones text[] DEFAULT '{}'::text[] NOT NULL,
    created_by uuid,
    successor_id uuid,
    last_used_ip inet,
    CONSTRAINT api_token_cidrs_check CHECK ((cardinality(cidrs) <= 16)),
    CONSTRAINT api_token_hash_check CHECK ((length(hash) = 32)),
    CONSTRAINT api_token_zones_check CHECK ((cardinality(zones) <= 16))
);
ALTER TABLE ONLY public.api_token FORCE ROW LEVEL SECURITY;
ALTER TABLE public.api_token OWNER TO falaj_owner;

-- Name: app_user; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.app_user (
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    name text NOT NULL,
    kind text DEFAULT 'person'::text NOT NULL,
    state text DEFAULT 'ACTIVE'::text NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    owner_id uuid,
    created_by uuid,
    vouched_at timestamp with time zone,
    vouched_by uuid,
    CONSTRAINT app_user_kind_check CHECK ((kind = ANY (ARRAY['person'::text, 'service'::text]))),
    CONSTRAINT app_user_name_check CHECK (((length(name) >= 1) AND (length(name) <= 128))),
    CONSTRAINT app_user_state_check CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'DISABLED'::text, 'DEACTIVATED'::text])))
);
ALTER TABLE ONLY public.app_user FORCE ROW LEVEL SECURITY;
ALTER TABLE public.app_user OWNER TO falaj_owner;

-- Name: approval; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.approval (
    tenant_id uuid NOT NULL,
    approval_id uuid NOT NULL,
    kind text NOT NULL,
    state text DEFAULT 'PENDING'::text NOT NULL,
    subject_id uuid,
    subject text NOT NULL,
    payload jsonb NOT NULL,
    payload_sha bytea NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    needed bigint NOT NULL,
    requested_by uuid NOT NULL,
    outcome text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone,
    CONSTRAINT approval_needed_check CHECK (((needed >= 1) AND (needed <= 4))),
    CONSTRAINT approval_payload_sha_check CHECK ((length(payload_sha) = 32)),
    CONSTRAINT approval_reason_check CHECK ((length(reason) <= 1024)),
    CONSTRAINT approval_state_check CHECK ((state = ANY (ARRAY['PENDING'::text, 'EXECUTED'::text, 'REFUSED'::text, 'WITHDRAWN'::text, 'EXPIRED'::text, 'FAILED'::text])))
);
ALTER TABLE ONLY public.approval FORCE ROW LEVEL SECURITY;
ALTER TABLE public.approval OWNER TO falaj_owner;

-- Name: approval_decision; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.approval_decision (
    tenant_id uuid NOT NULL,
    approval_id uuid NOT NULL,
    user_id uuid NOT NULL,
    approve boolean NOT NULL,
    note text DEFAULT ''::text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT approval_decision_note_check CHECK ((length(note) <= 1024))
);
ALTER TABLE ONLY public.approval_decision FORCE ROW LEVEL SECURITY;
ALTER TABLE public.approval_decision OWNER TO falaj_owner;

-- Name: array_dependency; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.array_dependency (
    tenant_id uuid NOT NULL,
    job_id uuid NOT NULL,
    array_id uuid NOT NULL,
    type text NOT NULL,
    open boolean DEFAULT true NOT NULL,
    CONSTRAINT array_dependency_type_check CHECK ((type = ANY (ARRAY['after'::text, 'afterany'::text, 'afterok'::text, 'afternotok'::text])))
);
ALTER TABLE ONLY public.array_dependency FORCE ROW LEVEL SECURITY;
ALTER TABLE public.array_dependency OWNER TO falaj_owner;

-- Name: TABLE array_dependency; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.array_dependency IS 'Jobs that wait for an array';

-- Name: array_task; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.array_task (
    tenant_id uuid NOT NULL,
    array_id uuid NOT NULL,
    task_index bigint NOT NULL,
    try bigint NOT NULL,
    job_id uuid NOT NULL,
    live boolean DEFAULT true NOT NULL,
    newest boolean DEFAULT true NOT NULL,
    again boolean DEFAULT false NOT NULL,
    CONSTRAINT array_task_check CHECK (((NOT again) OR (newest AND (NOT live)))),
    CONSTRAINT array_task_try_check CHECK ((try >= 1))
);
ALTER TABLE ONLY public.array_task FORCE ROW LEVEL SECURITY;
ALTER TABLE public.array_task OWNER TO falaj_owner;

-- Name: TABLE array_task; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.array_task IS 'Which job a task of an array became, at each of its tries';

-- Name: attempt; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.attempt (
    tenant_id uuid NOT NULL,
    attempt_id uuid NOT NULL,
    job_id uuid NOT NULL,
    fence bigint NOT NULL,
    node_id uuid NOT NULL,
    state text DEFAULT 'LEASED'::text NOT NULL,
    live boolean DEFAULT true NOT NULL,
    slots bigint NOT NULL,
    gpus bigint NOT NULL,
    lease_until timestamp with time zone NOT NULL,
    endpoint text,
    exit_code bigint,
    message text DEFAULT ''::text NOT NULL,
    leased_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    taken_at timestamp with time zone,
    admitted_version bigint,
    admitted_xid xid8,
    cpu_milli bigint DEFAULT 0 NOT NULL,
    memory_bytes bigint DEFAULT 0 NOT NULL,
    gpu_milli bigint DEFAULT 1000 NOT NULL,
    devices bigint DEFAULT 0 NOT NULL,
    evict_until timestamp with time zone,
    evict_for uuid,
    evict_why text DEFAULT ''::text NOT NULL,
    cancel_asked boolean DEFAULT false NOT NULL,
    cause text DEFAULT ''::text NOT NULL,
    nodes bigint DEFAULT 1 NOT NULL,
    cpu_mj bigint,
    gpu_mj bigint,
    got_further boolean DEFAULT false NOT NULL,
    CONSTRAINT attempt_check2 CHECK (((evict_until IS NULL) = (evict_for IS NULL))),
    CONSTRAINT attempt_cpu_mj_check CHECK ((cpu_mj >= 0)),
    CONSTRAINT attempt_evict_why_check CHECK ((length(evict_why) <= 200)),
    CONSTRAINT attempt_gpu_mj_check CHECK ((gpu_mj >= 0)),
    CONSTRAINT attempt_state_check CHECK (
CASE
    WHEN live THEN ((finished_at IS NULL) AND (state = ANY ('{LEASED,STARTING,RUNNING}'::text[])))
    ELSE ((finished_at IS NOT NULL) AND (state = ANY ('{SUCCEEDED,FAILED,PREEMPTED,CANCELLED,LEASE_RETURNED,LEASE_EXPIRED,FENCED}'::text[])))
END)
)
WITH (fillfactor='60');
ALTER TABLE ONLY public.attempt FORCE ROW LEVEL SECURITY;
ALTER TABLE public.attempt OWNER TO falaj_owner;

-- Name: COLUMN attempt.devices; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.attempt.devices IS 'Bit i: it holds gpu_milli thousandths of device i of its machine; 0 with gpus: from before they had numbers';

-- Name: COLUMN attempt.evict_until; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.attempt.evict_until IS 'It was told to make room and is to have ended by then; it counts as running until it has';

-- Name: COLUMN attempt.cancel_asked; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.attempt.cancel_asked IS 'Its job was asked to stop while this attempt was the newest; written by the trigger job_cancel_told';

-- Name: COLUMN attempt.cause; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.attempt.cause IS 'Why it failed (scheduler/jobs/retry_cause.def); empty: it did not';

-- Name: COLUMN attempt.nodes; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.attempt.nodes IS 'Its machines; slots, gpus, cpu_milli and memory_bytes are those of all together, node_id is that of rank 0';

-- Name: COLUMN attempt.cpu_mj; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.attempt.cpu_mj IS 'Millijoules of its processors, measured (workers/agent/energy.h); NULL: not measured';

-- Name: COLUMN attempt.gpu_mj; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.attempt.gpu_mj IS 'Millijoules of its GPUs, measured; NULL: not measured, or it had none';

-- Name: COLUMN attempt.got_further; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.attempt.got_further IS 'It kept a checkpoint of a later step than any attempt before it (attempt_further)';

-- Name: attempt_idle; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.attempt_idle (
    tenant_id uuid NOT NULL,
    attempt_id uuid NOT NULL,
    rank bigint NOT NULL,
    idle_since timestamp with time zone,
    told_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    visited_at timestamp with time zone,
    noticed_at timestamp with time zone,
    CONSTRAINT attempt_idle_rank_check CHECK (((rank >= 0) AND (rank <= 63)))
);
ALTER TABLE ONLY public.attempt_idle FORCE ROW LEVEL SECURITY;
ALTER TABLE public.attempt_idle OWNER TO falaj_owner;

-- Name: TABLE attempt_idle; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.attempt_idle IS 'Running attempts whose machines have said that what they hold was not used, by rank';

-- Name: attempt_member; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.attempt_member (
    tenant_id uuid NOT NULL,
    attempt_id uuid NOT NULL,
    rank bigint NOT NULL,
    job_id uuid NOT NULL,
    node_id uuid NOT NULL,
    slots bigint NOT NULL,
    gpus bigint NOT NULL,
    cpu_milli bigint NOT NULL,
    memory_bytes bigint NOT NULL,
    gpu_milli bigint NOT NULL,
    devices bigint NOT NULL,
    state text DEFAULT 'LEASED'::text NOT NULL,
    live boolean DEFAULT true NOT NULL,
    lease_until timestamp with time zone NOT NULL,
    endpoint text,
    leased_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    cpu_mj bigint,
    gpu_mj bigint,
    CONSTRAINT attempt_member_check CHECK (
CASE
    WHEN live THEN ((finished_at IS NULL) AND (state = ANY ('{LEASED,STARTING,RUNNING}'::text[])))
    ELSE ((finished_at IS NOT NULL) AND (state = ANY ('{SUCCEEDED,FAILED,PREEMPTED,CANCELLED,LEASE_RETURNED,LEASE_EXPIRED,FENCED}'::text[])))
END),
    CONSTRAINT attempt_member_cpu_mj_check CHECK ((cpu_mj >= 0)),
    CONSTRAINT attempt_member_gpu_mj_check CHECK ((gpu_mj >= 0)),
    CONSTRAINT attempt_member_rank_check CHECK (((rank >= 0) AND (rank <= 63)))
)
WITH (fillfactor='60');
ALTER TABLE ONLY public.attempt_member FORCE ROW LEVEL SECURITY;
ALTER TABLE public.attempt_member OWNER TO falaj_owner;

-- Name: TABLE attempt_member; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.attempt_member IS 'Machines of attempts that run on more than one, by rank, with what each holds there';

-- Name: COLUMN attempt_member.cpu_mj; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.attempt_member.cpu_mj IS 'Millijoules of its processors as of its last word; NULL: not measured, and of
  rank 0, whose are in the attempt';

-- Name: COLUMN attempt_member.gpu_mj; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.attempt_member.gpu_mj IS 'Millijoules of its GPUs as of its last word; NULL: not measured, or it has none';

-- Name: audit_anchor; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.audit_anchor (
    tenant_id uuid NOT NULL,
    anchor_id uuid NOT NULL,
    kind text NOT NULL,
    target text NOT NULL,
    size bigint NOT NULL,
    head_sha bytea NOT NULL,
    proof bytea,
    key_id text,
    outcome text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT audit_anchor_head_sha_check CHECK ((length(head_sha) = 32)),
    CONSTRAINT audit_anchor_kind_check CHECK ((kind = ANY (ARRAY['file'::text, 'webhook'::text, 'zone'::text])))
);
ALTER TABLE ONLY public.audit_anchor FORCE ROW LEVEL SECURITY;
ALTER TABLE public.audit_anchor OWNER TO falaj_owner;

-- Name: audit_backlog; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.audit_backlog (
    tenant_id uuid NOT NULL,
    event_id uuid NOT NULL,
    ord bigint NOT NULL
);
ALTER TABLE ONLY public.audit_backlog FORCE ROW LEVEL SECURITY;
ALTER TABLE public.audit_backlog OWNER TO falaj_owner;

-- Name: audit_cursor; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.audit_cursor (
    id integer NOT NULL,
    xid xid8 NOT NULL,
    ord bigint NOT NULL,
    CONSTRAINT audit_cursor_id_check CHECK ((id = 1))
);
ALTER TABLE public.audit_cursor OWNER TO falaj_owner;

-- Name: audit_event; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.audit_event (
    tenant_id uuid NOT NULL,
    event_id uuid NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    ord bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY public.audit_event FORCE ROW LEVEL SECURITY;
ALTER TABLE public.audit_event OWNER TO falaj_owner;

-- Name: audit_event_ord_seq; Type: SEQUENCE; Schema: public; Owner: falaj_owner
ALTER TABLE public.audit_event ALTER COLUMN ord ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_event_ord_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: audit_export; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.audit_export (
    tenant_id uuid NOT NULL,
    export_id uuid NOT NULL,
    format text NOT NULL,
    filter text,
    from_tseq bigint NOT NULL,
    to_tseq bigint NOT NULL,
    prev_size bigint DEFAULT 0 NOT NULL,
    head_size bigint NOT NULL,
    since_export uuid,
    key_id text,
    public_key bytea,
    created_us bigint NOT NULL,
    created_by uuid NOT NULL,
    size_bytes bigint,
    sha256 bytea,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    version smallint DEFAULT 1 NOT NULL,
    proves text,
    CONSTRAINT audit_export_format_check CHECK ((format = ANY (ARRAY['jsonl'::text, 'ocsf'::text, 'cef'::text, 'syslog'::text, 'csv'::text, 'summary'::text, 'summary-html'::text]))),
    CONSTRAINT audit_export_proves_check CHECK ((proves = ANY (ARRAY['completeness'::text, 'inclusion'::text])))
);
ALTER TABLE ONLY public.audit_export FORCE ROW LEVEL SECURITY;
ALTER TABLE public.audit_export OWNER TO falaj_owner;

-- Name: audit_gone; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.audit_gone (
    tenant_id uuid NOT NULL,
    kind text NOT NULL,
    thing_id uuid NOT NULL,
    name text NOT NULL,
    gone_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    display_name text DEFAULT ''::text NOT NULL,
    display_name_ar text DEFAULT ''::text NOT NULL
);
ALTER TABLE ONLY public.audit_gone FORCE ROW LEVEL SECURITY;
ALTER TABLE public.audit_gone OWNER TO falaj_owner;

-- Name: audit_head; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.audit_head (
    tenant_id uuid NOT NULL,
    size bigint NOT NULL,
    root bytea NOT NULL,
    chain bytea NOT NULL,
    ts_us bigint NOT NULL,
    prev_hash bytea,
    key_id text NOT NULL,
    zone text NOT NULL,
    body bytea NOT NULL,
    signature bytea NOT NULL,
    CONSTRAINT audit_head_root_check CHECK ((length(root) = 32)),
    CONSTRAINT audit_head_signature_check CHECK ((length(signature) = 64))
);
ALTER TABLE ONLY public.audit_head FORCE ROW LEVEL SECURITY;
ALTER TABLE public.audit_head OWNER TO falaj_owner;

-- Name: audit_hold; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.audit_hold (
    tenant_id uuid NOT NULL,
    hold_id uuid NOT NULL,
    about_tenant uuid,
    subject_id uuid,
    from_at timestamp with time zone,
    until_at timestamp with time zone,
    reason text NOT NULL,
    state text DEFAULT 'ACTIVE'::text NOT NULL,
    placed_by uuid NOT NULL,
    lifted_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT audit_hold_check CHECK (((about_tenant IS NULL) OR (tenant_id = '00000000-0000-0000-0000-000000000000'::uuid))),
    CONSTRAINT audit_hold_check1 CHECK (((state = 'LIFTED'::text) = (lifted_at IS NOT NULL))),
    CONSTRAINT audit_hold_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 1024))),
    CONSTRAINT audit_hold_state_check CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'LIFTED'::text])))
);
ALTER TABLE ONLY public.audit_hold FORCE ROW LEVEL SECURITY;
ALTER TABLE public.audit_hold OWNER TO falaj_owner;

-- Name: audit_log_state; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.audit_log_state (
    tenant_id uuid NOT NULL,
    size bigint NOT NULL,
    chain bytea NOT NULL,
    frontier bytea NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    paged bigint DEFAULT 0 NOT NULL,
    opened_from bigint,
    opened_to bigint
)
WITH (fillfactor='50');
ALTER TABLE ONLY public.audit_log_state FORCE ROW LEVEL SECURITY;
ALTER TABLE public.audit_log_state OWNER TO falaj_owner;

-- Name: audit_page; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.audit_page (
    tenant_id uuid NOT NULL,
    first_tseq bigint NOT NULL,
    last_tseq bigint NOT NULL,
    min_at timestamp with time zone,
    max_at timestamp with time zone,
    bloom bytea,
    CONSTRAINT audit_page_bloom_check CHECK ((length(bloom) = 1024)),
    CONSTRAINT audit_page_check CHECK ((last_tseq = (first_tseq + 255))),
    CONSTRAINT audit_page_first_tseq_check CHECK (((first_tseq % (256)::bigint) = 1))
);
ALTER TABLE ONLY public.audit_page ALTER COLUMN bloom SET STORAGE PLAIN;
ALTER TABLE ONLY public.audit_page FORCE ROW LEVEL SECURITY;
ALTER TABLE public.audit_page OWNER TO falaj_owner;

-- Name: audit_retention; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.audit_retention (
    tenant_id uuid NOT NULL,
    class text NOT NULL,
    zone text DEFAULT ''::text NOT NULL,
    keep_days bigint NOT NULL,
    set_by uuid,
    set_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT audit_retention_check CHECK (((zone = ''::text) OR (tenant_id = '00000000-0000-0000-0000-000000000000'::uuid))),
    CONSTRAINT audit_retention_class_check CHECK ((class ~ '^([A-Z]{3}|\*)$'::text)),
    CONSTRAINT audit_retention_keep_days_check CHECK (((keep_days >= 1) AND (keep_days <= 36525)))
);
ALTER TABLE ONLY public.audit_retention FORCE ROW LEVEL SECURITY;
ALTER TABLE public.audit_retention OWNER TO falaj_owner;

-- Name: audit_seq; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.audit_seq (
    tenant_id uuid NOT NULL,
    tseq bigint NOT NULL,
    event_id uuid NOT NULL,
    leaf bytea NOT NULL,
    chain bytea NOT NULL,
    at timestamp with time zone,
    code text COLLATE pg_catalog."C",
    action text COLLATE pg_catalog."C",
    actor text,
    actor_id uuid,
    resource_kind text,
    resource_id text,
    outcome text,
    request_id text,
    source text,
    dropped_at timestamp with time zone,
    CONSTRAINT audit_seq_chain_check CHECK ((length(chain) = 32)),
    CONSTRAINT audit_seq_leaf_check CHECK ((length(leaf) = 32)),
    CONSTRAINT audit_seq_tseq_check CHECK ((tseq > 0))
);
ALTER TABLE ONLY public.audit_seq FORCE ROW LEVEL SECURITY;
ALTER TABLE public.audit_seq OWNER TO falaj_owner;

-- Name: audit_shadow; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.audit_shadow (
    tenant_id uuid NOT NULL,
    shadow_id bigint NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    table_name text NOT NULL,
    op text NOT NULL,
    login text NOT NULL,
    address text,
    program text NOT NULL,
    statement_sha bytea NOT NULL,
    row_key text DEFAULT ''::text NOT NULL,
    event_id uuid
);
ALTER TABLE ONLY public.audit_shadow FORCE ROW LEVEL SECURITY;
ALTER TABLE public.audit_shadow OWNER TO falaj_owner;

-- Name: audit_shadow_shadow_id_seq; Type: SEQUENCE; Schema: public; Owner: falaj_owner
ALTER TABLE public.audit_shadow ALTER COLUMN shadow_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_shadow_shadow_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: audit_subject_key; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.audit_subject_key (
    tenant_id uuid NOT NULL,
    subject_id uuid NOT NULL,
    key_id uuid NOT NULL,
    zone text NOT NULL,
    key_version bigint NOT NULL,
    wrapped bytea,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    erased_at timestamp with time zone,
    erased_by uuid,
    CONSTRAINT audit_subject_key_check CHECK (((wrapped IS NULL) = (erased_at IS NOT NULL)))
)
WITH (autovacuum_vacuum_threshold='0', autovacuum_vacuum_scale_factor='0');
ALTER TABLE ONLY public.audit_subject_key FORCE ROW LEVEL SECURITY;
ALTER TABLE public.audit_subject_key OWNER TO falaj_owner;

-- Name: audit_task; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.audit_task (
    name text NOT NULL,
    done_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    state text DEFAULT ''::text NOT NULL
);
ALTER TABLE public.audit_task OWNER TO falaj_owner;

-- Name: dataset; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.dataset (
    tenant_id uuid NOT NULL,
    dataset_id uuid NOT NULL,
    name text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    data_class text DEFAULT 'internal'::text NOT NULL,
    label_column text NOT NULL,
    classes bigint NOT NULL,
    latest_version bigint DEFAULT 0 NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    project_id uuid,
    target text DEFAULT 'class'::text NOT NULL,
    ignored_columns text[] DEFAULT '{}'::text[] NOT NULL,
    category_columns text[] DEFAULT '{}'::text[] NOT NULL,
    missing_values boolean DEFAULT false NOT NULL,
    display_name text DEFAULT ''::text NOT NULL,
    display_name_ar text DEFAULT ''::text NOT NULL,
    CONSTRAINT dataset_classes_check CHECK ((((classes >= 0) AND (classes <= 100000)) AND (classes <> 1))),
    CONSTRAINT dataset_display_name_ar_check CHECK ((length(display_name_ar) <= 128)),
    CONSTRAINT dataset_display_name_check CHECK ((length(display_name) <= 128)),
    CONSTRAINT dataset_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text)),
    CONSTRAINT dataset_target_check CHECK ((target = ANY (ARRAY['class'::text, 'number'::text, 'flags'::text, 'none'::text])))
);
ALTER TABLE ONLY public.dataset FORCE ROW LEVEL SECURITY;
ALTER TABLE public.dataset OWNER TO falaj_owner;

-- Name: deployment; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.deployment (
    tenant_id uuid NOT NULL,
    deployment_id uuid NOT NULL,
    name text NOT NULL,
    model_id uuid NOT NULL,
    model_version bigint NOT NULL,
    job_id uuid NOT NULL,
    state text DEFAULT 'ACTIVE'::text NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    project_id uuid,
    next_job_id uuid,
    next_version bigint,
    next_until timestamp with time zone,
    old_job_id uuid,
    turned_at timestamp with time zone,
    roll_error text DEFAULT ''::text NOT NULL,
    CONSTRAINT deployment_check CHECK ((((next_job_id IS NULL) = (next_version IS NULL)) AND ((next_job_id IS NULL) = (next_until IS NULL)))),
    CONSTRAINT deployment_check1 CHECK (((old_job_id IS NULL) OR (turned_at IS NOT NULL))),
    CONSTRAINT deployment_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text)),
    CONSTRAINT deployment_roll_error_check CHECK ((length(roll_error) <= 512)),
    CONSTRAINT deployment_state_check CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'DELETED'::text])))
);
ALTER TABLE ONLY public.deployment FORCE ROW LEVEL SECURITY;
ALTER TABLE public.deployment OWNER TO falaj_owner;

-- Name: COLUMN deployment.next_until; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.deployment.next_until IS 'A roll that has not turned by then is given up';

-- Name: model; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.model (
    tenant_id uuid NOT NULL,
    model_id uuid NOT NULL,
    name text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    latest_version bigint DEFAULT 0 NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    project_id uuid,
    display_name text DEFAULT ''::text NOT NULL,
    display_name_ar text DEFAULT ''::text NOT NULL,
    CONSTRAINT model_display_name_ar_check CHECK ((length(display_name_ar) <= 128)),
    CONSTRAINT model_display_name_check CHECK ((length(display_name) <= 128)),
    CONSTRAINT model_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text))
);
ALTER TABLE ONLY public.model FORCE ROW LEVEL SECURITY;
ALTER TABLE public.model OWNER TO falaj_owner;

-- Name: node; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.node (
    node_id uuid NOT NULL,
    zone text NOT NULL,
    pool text NOT NULL,
    name text NOT NULL,
    identity text NOT NULL,
    state text DEFAULT 'READY'::text NOT NULL,
    slots bigint NOT NULL,
    cpus bigint NOT NULL,
    memory_bytes bigint NOT NULL,
    gpus bigint DEFAULT 0 NOT NULL,
    backend text DEFAULT ''::text NOT NULL,
    version text NOT NULL,
    boot_id uuid NOT NULL,
    last_seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    is_drained boolean DEFAULT false NOT NULL,
    flavor text DEFAULT 'cpu'::text NOT NULL,
    cpu_milli bigint DEFAULT 0 NOT NULL,
    gpu_model text DEFAULT ''::text NOT NULL,
    gpu_shared boolean DEFAULT false NOT NULL,
    devices jsonb DEFAULT '[]'::jsonb NOT NULL,
    gangs boolean DEFAULT false NOT NULL,
    programs boolean DEFAULT true NOT NULL,
    changed_xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    change_no bigint DEFAULT 1 NOT NULL,
    gang_programs boolean DEFAULT false NOT NULL,
    engines text DEFAULT ''::text NOT NULL,
    is_spent boolean DEFAULT false NOT NULL,
    CONSTRAINT node_flavor_check CHECK ((flavor ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text)),
    CONSTRAINT node_reason_check CHECK ((length(reason) <= 512)),
    CONSTRAINT node_slots_check CHECK (((slots >= 0) AND (slots <= 4096))),
    CONSTRAINT node_state_check CHECK ((state = ANY (ARRAY['READY'::text, 'DRAINING'::text, 'QUARANTINED'::text, 'LOST'::text])))
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='200');
ALTER TABLE public.node OWNER TO falaj_owner;

-- Name: COLUMN node.cpu_milli; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.node.cpu_milli IS '0: not said, its slots stand for them';

-- Name: COLUMN node.gpu_shared; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.node.gpu_shared IS 'Its devices keep jobs apart that have shares of one';

-- Name: COLUMN node.gangs; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.node.gangs IS 'Its agent runs parts of jobs on several machines';

-- Name: COLUMN node.programs; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.node.programs IS 'It starts programs of tenants (jobs of kind run)';

-- Name: COLUMN node.changed_xid; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.node.changed_xid IS 'The transaction that changed what a planner sees of it';

-- Name: COLUMN node.change_no; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.node.change_no IS 'How often that has changed';

-- Name: COLUMN node.gang_programs; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.node.gang_programs IS 'Its agent runs parts of programs on several machines';

-- Name: COLUMN node.engines; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.node.engines IS 'What computes models outside our operations there: names and versions between commas';

-- Name: COLUMN node.is_spent; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.node.is_spent IS 'An engine lent it for one lease and it has had it: it takes no other until its next run';

-- Name: project; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.project (
    tenant_id uuid NOT NULL,
    project_id uuid NOT NULL,
    name text NOT NULL,
    display_name text DEFAULT ''::text NOT NULL,
    state text DEFAULT 'ACTIVE'::text NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    display_name_ar text DEFAULT ''::text NOT NULL,
    CONSTRAINT project_display_name_ar_check CHECK ((length(display_name_ar) <= 128)),
    CONSTRAINT project_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text)),
    CONSTRAINT project_state_check CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'CLOSED'::text])))
);
ALTER TABLE ONLY public.project FORCE ROW LEVEL SECURITY;
ALTER TABLE public.project OWNER TO falaj_owner;

-- Name: tenant; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.tenant (
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    display_name text NOT NULL,
    state text DEFAULT 'ACTIVE'::text NOT NULL,
    home_zone text,
    allowed_zones text[] DEFAULT '{}'::text[] NOT NULL,
    authz_rev bigint DEFAULT 1 NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    state_reason text DEFAULT ''::text NOT NULL,
    delete_after timestamp with time zone,
    display_name_ar text DEFAULT ''::text NOT NULL,
    CONSTRAINT tenant_check CHECK (((tenant_id = '00000000-0000-0000-0000-000000000000'::uuid) OR ((home_zone IS NOT NULL) AND (home_zone = ANY (allowed_zones))))),
    CONSTRAINT tenant_check1 CHECK (((state <> 'DELETING'::text) OR (delete_after IS NOT NULL))),
    CONSTRAINT tenant_display_name_ar_check CHECK ((length(display_name_ar) <= 128)),
    CONSTRAINT tenant_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text)),
    CONSTRAINT tenant_state_check CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'SUSPENDED'::text, 'DELETING'::text, 'DELETED'::text]))),
    CONSTRAINT tenant_state_reason_check CHECK ((length(state_reason) <= 1024))
);
ALTER TABLE ONLY public.tenant FORCE ROW LEVEL SECURITY;
ALTER TABLE public.tenant OWNER TO falaj_owner;

-- Name: user_group; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.user_group (
    tenant_id uuid NOT NULL,
    group_id uuid NOT NULL,
    name text NOT NULL,
    external_id text,
    role text,
    role_set_by uuid,
    version bigint DEFAULT 1 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT user_group_check CHECK (((role IS NULL) = (role_set_by IS NULL))),
    CONSTRAINT user_group_external_id_check CHECK (((length(external_id) >= 1) AND (length(external_id) <= 256))),
    CONSTRAINT user_group_name_check CHECK (((length(name) >= 1) AND (length(name) <= 128)))
);
ALTER TABLE ONLY public.user_group FORCE ROW LEVEL SECURITY;
ALTER TABLE public.user_group OWNER TO falaj_owner;

-- Name: zone; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.zone (
    code text NOT NULL,
    name text NOT NULL,
    country text NOT NULL,
    legal_regimes text[] DEFAULT '{}'::text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    regulator text DEFAULT ''::text NOT NULL,
    provider text DEFAULT ''::text NOT NULL,
    data_classes text[] DEFAULT '{public,internal,personal,sensitive}'::text[] NOT NULL,
    worker_cidrs cidr[] DEFAULT '{}'::cidr[] NOT NULL,
    law_version bigint DEFAULT 1 NOT NULL,
    CONSTRAINT zone_code_check CHECK ((code ~ '^[a-z0-9][a-z0-9-]{1,30}$'::text)),
    CONSTRAINT zone_country_check CHECK ((country ~ '^[A-Z]{2}$'::text)),
    CONSTRAINT zone_data_classes_check CHECK ((data_classes <@ public.data_classes()))
);
ALTER TABLE public.zone OWNER TO falaj_owner;

-- Name: audit_thing; Type: VIEW; Schema: public; Owner: falaj_owner
CREATE VIEW public.audit_thing WITH (security_invoker='true') AS
 SELECT dataset.tenant_id,
    'dataset'::text AS kind,
    'dst'::text AS prefix,
    dataset.dataset_id AS thing_id,
    dataset.name,
    false AS gone,
    dataset.display_name,
    dataset.display_name_ar
   FROM public.dataset
UNION ALL
 SELECT model.tenant_id,
    'model'::text AS kind,
    'mdl'::text AS prefix,
    model.model_id AS thing_id,
    model.name,
    false AS gone,
    model.display_name,
    model.display_name_ar
   FROM public.model
UNION ALL
 SELECT deployment.tenant_id,
    'deployment'::text AS kind,
    'dpl'::text AS prefix,
    deployment.deployment_id AS thing_id,
    deployment.name,
    false AS gone,
    ''::text AS display_name,
    ''::text AS display_name_ar
   FROM public.deployment
  WHERE (deployment.state = 'ACTIVE'::text)
UNION ALL
 SELECT deployment.tenant_id,
    'deployment'::text AS kind,
    'dpl'::text AS prefix,
    deployment.deployment_id AS thing_id,
    deployment.name,
    true AS gone,
    ''::text AS display_name,
    ''::text AS display_name_ar
   FROM public.deployment
  WHERE (deployment.state <> 'ACTIVE'::text)
UNION ALL
 SELECT project.tenant_id,
    'project'::text AS kind,
    'prj'::text AS prefix,
    project.project_id AS thing_id,
    project.name,
    false AS gone,
    project.display_name,
    project.display_name_ar
   FROM public.project
UNION ALL
 SELECT user_group.tenant_id,
    'group'::text AS kind,
    'grp'::text AS prefix,
    user_group.group_id AS thing_id,
    user_group.name,
    false AS gone,
    ''::text AS display_name,
    ''::text AS display_name_ar
   FROM public.user_group
UNION ALL
 SELECT job.tenant_id,
    'job'::text AS kind,
    'job'::text AS prefix,
    job.job_id AS thing_id,
    job.name,
    false AS gone,
    ''::text AS display_name,
    ''::text AS display_name_ar
   FROM public.job
UNION ALL
 SELECT '00000000-0000-0000-0000-000000000000'::uuid AS tenant_id,
    'tenant'::text AS kind,
    'tnt'::text AS prefix,
    tenant.tenant_id AS thing_id,
    tenant.name,
    false AS gone,
    tenant.display_name,
    tenant.display_name_ar
   FROM public.tenant
UNION ALL
 SELECT '00000000-0000-0000-0000-000000000000'::uuid AS tenant_id,
    'node'::text AS kind,
    'nod'::text AS prefix,
    node.node_id AS thing_id,
    node.name,
    false AS gone,
    ''::text AS display_name,
    ''::text AS display_name_ar
   FROM public.node
UNION ALL
 SELECT audit_gone.tenant_id,
    audit_gone.kind,
        CASE audit_gone.kind
            WHEN 'dataset'::text THEN 'dst'::text
            WHEN 'model'::text THEN 'mdl'::text
            ELSE 'grp'::text
        END AS prefix,
    audit_gone.thing_id,
    audit_gone.name,
    true AS gone,
    audit_gone.display_name,
    audit_gone.display_name_ar
   FROM public.audit_gone
UNION ALL
 SELECT t.tenant_id,
    'zone'::text AS kind,
    ''::text AS prefix,
    NULL::uuid AS thing_id,
    z.code AS name,
    false AS gone,
    ''::text AS display_name,
    ''::text AS display_name_ar
   FROM (public.tenant t
     CROSS JOIN public.zone z)
UNION ALL
 SELECT '00000000-0000-0000-0000-000000000000'::uuid AS tenant_id,
    'zone'::text AS kind,
    ''::text AS prefix,
    NULL::uuid AS thing_id,
    zone.code AS name,
    false AS gone,
    ''::text AS display_name,
    ''::text AS display_name_ar
   FROM public.zone
UNION ALL
 SELECT '00000000-0000-0000-0000-000000000000'::uuid AS tenant_id,
    'table'::text AS kind,
    ''::text AS prefix,
    NULL::uuid AS thing_id,
    pg_class.relname AS name,
    false AS gone,
    ''::text AS display_name,
    ''::text AS display_name_ar
   FROM pg_class
  WHERE ((pg_class.relnamespace = ('public'::regnamespace)::oid) AND (pg_class.relkind = 'r'::"char"));
ALTER TABLE public.audit_thing OWNER TO falaj_owner;

-- Name: auth_key; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.auth_key (
    zone text NOT NULL,
    tkek bytea NOT NULL,
    root_version bigint NOT NULL,
    dek_id uuid NOT NULL,
    wrapped bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT auth_key_zone_check CHECK (((length(zone) >= 2) AND (length(zone) <= 63)))
);
ALTER TABLE public.auth_key OWNER TO falaj_owner;

-- Name: break_glass; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.break_glass (
    tenant_id uuid NOT NULL,
    approval_id uuid NOT NULL,
    zone text NOT NULL,
    user_id uuid NOT NULL,
    requested_by uuid NOT NULL,
    approved_by uuid NOT NULL,
    until timestamp with time zone NOT NULL,
    opened_at timestamp with time zone,
    CONSTRAINT break_glass_check CHECK ((requested_by <> approved_by))
);
ALTER TABLE ONLY public.break_glass FORCE ROW LEVEL SECURITY;
ALTER TABLE public.break_glass OWNER TO falaj_owner;

-- Name: budget; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.budget (
    tenant_id uuid NOT NULL,
    budget_id uuid NOT NULL,
    project_id uuid,
    name text NOT NULL,
    measure text NOT NULL,
    amount bigint NOT NULL,
    currency text DEFAULT ''::text NOT NULL,
    period text NOT NULL,
    warn_percent bigint[] DEFAULT '{80,100}'::bigint[] NOT NULL,
    stop_percent bigint,
    reserve boolean DEFAULT false NOT NULL,
    state text DEFAULT 'OPEN'::text NOT NULL,
    warned bigint DEFAULT 0 NOT NULL,
    settled numeric DEFAULT 0 NOT NULL,
    counted_xid xid8 DEFAULT '0'::xid8 NOT NULL,
    counted_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    period_start timestamp with time zone NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    counted_epoch bigint DEFAULT 0 NOT NULL,
    CONSTRAINT budget_amount_check CHECK (((amount >= 1) AND (amount <= 1000000000))),
    CONSTRAINT budget_check CHECK (((measure = 'money'::text) = (currency ~ '^[A-Z]{3}$'::text))),
    CONSTRAINT budget_measure_check CHECK ((measure = ANY (ARRAY['money'::text, 'gpu_hours'::text, 'kwh'::text]))),
    CONSTRAINT budget_name_check CHECK (((length(name) >= 1) AND (length(name) <= 128))),
    CONSTRAINT budget_period_check CHECK ((period = ANY (ARRAY['month'::text, 'total'::text]))),
    CONSTRAINT budget_state_check CHECK ((state = ANY (ARRAY['OPEN'::text, 'STOPPED'::text]))),
    CONSTRAINT budget_stop_percent_check CHECK (((stop_percent >= 1) AND (stop_percent <= 1000)))
)
WITH (fillfactor='50');
ALTER TABLE ONLY public.budget FORCE ROW LEVEL SECURITY;
ALTER TABLE public.budget OWNER TO falaj_owner;

-- Name: change_swept; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.change_swept (
    id smallint DEFAULT 1 NOT NULL,
    upto xid8 DEFAULT '0'::xid8 NOT NULL,
    CONSTRAINT change_swept_id_check CHECK ((id = 1))
);
ALTER TABLE ONLY public.change_swept FORCE ROW LEVEL SECURITY;
ALTER TABLE public.change_swept OWNER TO falaj_owner;

-- Name: TABLE change_swept; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.change_swept IS 'Notes of transactions up to this one may have been removed from job_change and plan_change';

-- Name: checkpoint; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.checkpoint (
    tenant_id uuid NOT NULL,
    job_id uuid NOT NULL,
    object_id uuid NOT NULL,
    fence bigint NOT NULL,
    step bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    whole_at timestamp with time zone,
    CONSTRAINT checkpoint_step_check CHECK ((step >= 0))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='200');
ALTER TABLE ONLY public.checkpoint FORCE ROW LEVEL SECURITY;
ALTER TABLE public.checkpoint OWNER TO falaj_owner;

-- Name: TABLE checkpoint; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.checkpoint IS 'States of unfinished jobs, of which the newest are kept; whole_at is absent while one is being
  written';

-- Name: database_epoch; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.database_epoch (
    id integer NOT NULL,
    epoch bigint DEFAULT 1 NOT NULL,
    cluster text DEFAULT ''::text NOT NULL,
    stage text DEFAULT 'open'::text NOT NULL,
    event_ord bigint DEFAULT 0 NOT NULL,
    usage_ord bigint DEFAULT 0 NOT NULL,
    began_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    began_xid xid8 DEFAULT '0'::xid8 NOT NULL,
    next_event_ord bigint DEFAULT 0 NOT NULL,
    next_usage_ord bigint DEFAULT 0 NOT NULL,
    drain xid8 DEFAULT '0'::xid8 NOT NULL,
    next_page bigint DEFAULT 0 NOT NULL,
    pages bigint DEFAULT 0 NOT NULL,
    came_from text DEFAULT ''::text NOT NULL,
    moved_at timestamp with time zone,
    written xid8 DEFAULT pg_current_xact_id() NOT NULL,
    CONSTRAINT database_epoch_id_check CHECK ((id = 1)),
    CONSTRAINT database_epoch_stage_check CHECK ((stage = ANY (ARRAY['open'::text, 'draining'::text, 'listing'::text])))
)
WITH (fillfactor='50');
ALTER TABLE public.database_epoch OWNER TO falaj_owner;

-- Name: dataset_version; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.dataset_version (
    tenant_id uuid NOT NULL,
    dataset_id uuid NOT NULL,
    version bigint NOT NULL,
    object_id uuid NOT NULL,
    row_count bigint NOT NULL,
    column_count bigint NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    format text DEFAULT 'csv'::text NOT NULL,
    classes bigint DEFAULT 0 NOT NULL,
    CONSTRAINT dataset_version_classes_check CHECK ((classes >= 0)),
    CONSTRAINT dataset_version_format_check CHECK ((format = ANY (ARRAY['csv'::text, 'npy'::text, 'tokens'::text, 'onnx'::text, 'oci'::text]))),
    CONSTRAINT dataset_version_version_check CHECK ((version > 0))
);
ALTER TABLE ONLY public.dataset_version FORCE ROW LEVEL SECURITY;
ALTER TABLE public.dataset_version OWNER TO falaj_owner;

-- Name: dek; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.dek (
    tenant_id uuid NOT NULL,
    dek_id uuid NOT NULL,
    object_id uuid NOT NULL,
    zone text NOT NULL,
    key_version bigint NOT NULL,
    wrapped bytea,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY public.dek FORCE ROW LEVEL SECURITY;
ALTER TABLE public.dek OWNER TO falaj_owner;

-- Name: deployment_minute; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.deployment_minute (
    tenant_id uuid NOT NULL,
    deployment_id uuid NOT NULL,
    minute bigint NOT NULL,
    writer_id uuid NOT NULL,
    requests bigint NOT NULL,
    errors bigint NOT NULL,
    refused bigint NOT NULL,
    classes bigint[] NOT NULL,
    tokens bigint DEFAULT 0 NOT NULL,
    first_classes bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    gap_classes bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    CONSTRAINT deployment_minute_check CHECK (((errors + refused) <= requests)),
    CONSTRAINT deployment_minute_classes_check CHECK ((cardinality(classes) <= 96)),
    CONSTRAINT deployment_minute_errors_check CHECK ((errors >= 0)),
    CONSTRAINT deployment_minute_first_classes_check CHECK ((cardinality(first_classes) <= 96)),
    CONSTRAINT deployment_minute_gap_classes_check CHECK ((cardinality(gap_classes) <= 96)),
    CONSTRAINT deployment_minute_refused_check CHECK ((refused >= 0)),
    CONSTRAINT deployment_minute_requests_check CHECK ((requests > 0)),
    CONSTRAINT deployment_minute_tokens_check CHECK ((tokens >= 0))
);
ALTER TABLE ONLY public.deployment_minute FORCE ROW LEVEL SECURITY;
ALTER TABLE public.deployment_minute OWNER TO falaj_owner;

-- Name: device_grant; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.device_grant (
    device_hash bytea NOT NULL,
    user_hash bytea NOT NULL,
    client text NOT NULL,
    ip text DEFAULT ''::text NOT NULL,
    state text DEFAULT 'PENDING'::text NOT NULL,
    of_tenant uuid,
    of_user uuid,
    interval_s bigint DEFAULT 5 NOT NULL,
    polled_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT device_grant_check CHECK (((state = ANY (ARRAY['APPROVED'::text, 'USED'::text])) <= ((of_tenant IS NOT NULL) AND (of_user IS NOT NULL)))),
    CONSTRAINT device_grant_client_check CHECK (((length(client) >= 1) AND (length(client) <= 64))),
    CONSTRAINT device_grant_device_hash_check CHECK ((length(device_hash) = 32)),
    CONSTRAINT device_grant_state_check CHECK ((state = ANY (ARRAY['PENDING'::text, 'APPROVED'::text, 'DENIED'::text, 'USED'::text]))),
    CONSTRAINT device_grant_user_hash_check CHECK ((length(user_hash) = 32))
);
ALTER TABLE public.device_grant OWNER TO falaj_owner;

-- Name: engine; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.engine (
    engine_id uuid NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    zone text NOT NULL,
    pool text NOT NULL,
    address text NOT NULL,
    account text NOT NULL,
    credential text DEFAULT ''::text NOT NULL,
    authority text DEFAULT ''::text NOT NULL,
    place text DEFAULT ''::text NOT NULL,
    worker text NOT NULL,
    worker_config text NOT NULL,
    folder text NOT NULL,
    machines bigint NOT NULL,
    longest_seconds bigint NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    health text DEFAULT 'UNKNOWN'::text NOT NULL,
    health_says text DEFAULT ''::text NOT NULL,
    heard_at timestamp with time zone,
    created_by uuid NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    image text DEFAULT ''::text NOT NULL,
    node_selector text DEFAULT ''::text NOT NULL,
    tolerations text DEFAULT ''::text NOT NULL,
    told_tenants uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    told_jobs uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    CONSTRAINT engine_account_check CHECK ((length(account) <= 64)),
    CONSTRAINT engine_address_check CHECK ((length(address) <= 256)),
    CONSTRAINT engine_authority_check CHECK ((authority ~ '^([a-z0-9][a-z0-9._-]{0,62})?$'::text)),
    CONSTRAINT engine_credential_check CHECK ((credential ~ '^([a-z0-9][a-z0-9._-]{0,62})?$'::text)),
    CONSTRAINT engine_folder_check CHECK (((folder ~ '^/'::text) AND (length(folder) <= 256))),
    CONSTRAINT engine_health_check CHECK ((health = ANY (ARRAY['UNKNOWN'::text, 'UP'::text, 'DOWN'::text]))),
    CONSTRAINT engine_health_says_check CHECK ((length(health_says) <= 256)),
    CONSTRAINT engine_image_check CHECK ((length(image) <= 512)),
    CONSTRAINT engine_image_kind CHECK (((kind = 'kubernetes'::text) = (image <> ''::text))),
    CONSTRAINT engine_kind_check CHECK ((kind = ANY (ARRAY['slurm'::text, 'kubernetes'::text]))),
    CONSTRAINT engine_longest_seconds_check CHECK (((longest_seconds >= 60) AND (longest_seconds <= 31622400))),
    CONSTRAINT engine_machines_check CHECK (((machines >= 1) AND (machines <= 1000))),
    CONSTRAINT engine_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9-]{0,47}$'::text)),
    CONSTRAINT engine_node_selector_check CHECK ((length(node_selector) <= 512)),
    CONSTRAINT engine_place_check CHECK ((length(place) <= 64)),
    CONSTRAINT engine_pool_check CHECK (((pool ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text) AND (pool <> 'default'::text))),
    CONSTRAINT engine_told_check CHECK (((cardinality(told_tenants) = cardinality(told_jobs)) AND (cardinality(told_jobs) <= 1000))),
    CONSTRAINT engine_tolerations_check CHECK ((length(tolerations) <= 512)),
    CONSTRAINT engine_worker_check CHECK (((worker ~ '^/'::text) AND (length(worker) <= 256))),
    CONSTRAINT engine_worker_config_check CHECK (((worker_config ~ '^/'::text) AND (length(worker_config) <= 256)))
);
ALTER TABLE ONLY public.engine FORCE ROW LEVEL SECURITY;
ALTER TABLE public.engine OWNER TO falaj_owner;

-- Name: TABLE engine; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.engine IS 'Outside schedulers that lend machines for one lease';

-- Name: COLUMN engine.told_jobs; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.engine.told_jobs IS 'Jobs whose message says that places are kept; of the tenants beside them';

-- Name: engine_run; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.engine_run (
    run_id uuid NOT NULL,
    engine_id uuid NOT NULL,
    for_tenant uuid NOT NULL,
    for_job uuid NOT NULL,
    state text DEFAULT 'WANTED'::text NOT NULL,
    seats bigint[] NOT NULL,
    slots bigint NOT NULL,
    cpus bigint NOT NULL,
    gpus bigint NOT NULL,
    memory_bytes bigint NOT NULL,
    minutes bigint NOT NULL,
    tries bigint DEFAULT 0 NOT NULL,
    digest text DEFAULT ''::text NOT NULL,
    external_id text DEFAULT ''::text NOT NULL,
    external_state text DEFAULT ''::text NOT NULL,
    says text DEFAULT ''::text NOT NULL,
    outcome text DEFAULT ''::text NOT NULL,
    wanted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    sent_at timestamp with time zone,
    wait_until timestamp with time zone,
    seen_at timestamp with time zone,
    ended_at timestamp with time zone,
    is_left boolean DEFAULT false NOT NULL,
    CONSTRAINT engine_run_check CHECK (((state = 'ENDED'::text) = (ended_at IS NOT NULL))),
    CONSTRAINT engine_run_external_id_check CHECK ((length(external_id) <= 64)),
    CONSTRAINT engine_run_external_state_check CHECK ((length(external_state) <= 64)),
    CONSTRAINT engine_run_says_check CHECK ((length(says) <= 256)),
    CONSTRAINT engine_run_seats_check CHECK (((cardinality(seats) >= 1) AND (cardinality(seats) <= 64))),
    CONSTRAINT engine_run_state_check CHECK ((state = ANY (ARRAY['WANTED'::text, 'SENT'::text, 'ENDED'::text])))
);
ALTER TABLE ONLY public.engine_run FORCE ROW LEVEL SECURITY;
ALTER TABLE public.engine_run OWNER TO falaj_owner;

-- Name: TABLE engine_run; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.engine_run IS 'Machines that were asked of an engine, each time for one job';

-- Name: COLUMN engine_run.is_left; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.engine_run.is_left IS 'It ended here, and what it left at its engine was not yet seen removed';

-- Name: environment; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.environment (
    tenant_id uuid NOT NULL,
    environment_id uuid NOT NULL,
    project_id uuid,
    name text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    dataset_id uuid,
    dataset_version bigint NOT NULL,
    object_id uuid,
    asked_digest text DEFAULT ''::text NOT NULL,
    allow_setuid boolean NOT NULL,
    owns_archive boolean NOT NULL,
    job_id uuid NOT NULL,
    signature bytea,
    key_id uuid,
    signed_at timestamp with time zone,
    version bigint DEFAULT 1 NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    offered_by uuid,
    offered_at timestamp with time zone,
    pulled_from text DEFAULT ''::text NOT NULL,
    CONSTRAINT environment_archive CHECK (((object_id IS NOT NULL) OR (pulled_from <> ''::text))),
    CONSTRAINT environment_asked_digest_check CHECK ((asked_digest ~ '^(sha256:[0-9a-f]{64})?$'::text)),
    CONSTRAINT environment_dataset_version_check CHECK ((dataset_version > 0)),
    CONSTRAINT environment_description_check CHECK ((length(description) <= 256)),
    CONSTRAINT environment_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text)),
    CONSTRAINT environment_offered CHECK (((offered_by IS NULL) = (offered_at IS NULL))),
    CONSTRAINT environment_pulled_from_check CHECK ((length(pulled_from) <= 640)),
    CONSTRAINT environment_signature_check CHECK ((length(signature) = 64))
);
ALTER TABLE ONLY public.environment FORCE ROW LEVEL SECURITY;
ALTER TABLE public.environment OWNER TO falaj_owner;

-- Name: TABLE environment; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.environment IS 'Images by name, as a job of kind inspect found them';

-- Name: COLUMN environment.offered_at; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.environment.offered_at IS 'Since when the platform''s staff may publish it to others; NULL: they may not';

-- Name: COLUMN environment.pulled_from; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.environment.pulled_from IS 'HOST/NAME@sha256:… of an image from a registry; empty: its archive was sent';

-- Name: environment_key; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.environment_key (
    tenant_id uuid NOT NULL,
    key_id uuid NOT NULL,
    name text NOT NULL,
    public_key bytea NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT environment_key_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text)),
    CONSTRAINT environment_key_public_key_check CHECK ((length(public_key) = 32))
);
ALTER TABLE ONLY public.environment_key FORCE ROW LEVEL SECURITY;
ALTER TABLE public.environment_key OWNER TO falaj_owner;

-- Name: TABLE environment_key; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.environment_key IS 'Ed25519 public keys with which a tenant signs digests of images';

-- Name: environment_policy; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.environment_policy (
    tenant_id uuid NOT NULL,
    require_signed boolean DEFAULT false NOT NULL,
    changed_by uuid NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    allow_shared boolean DEFAULT true NOT NULL
);
ALTER TABLE ONLY public.environment_policy FORCE ROW LEVEL SECURITY;
ALTER TABLE public.environment_policy OWNER TO falaj_owner;

-- Name: TABLE environment_policy; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.environment_policy IS 'What images a tenant lets its programs run in; no row: any';

-- Name: COLUMN environment_policy.allow_shared; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.environment_policy.allow_shared IS 'Programs may run in images that the platform''s staff publish';

-- Name: environment_signature; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.environment_signature (
    tenant_id uuid NOT NULL,
    digest text NOT NULL,
    signature bytea NOT NULL,
    key_id uuid NOT NULL,
    signed_by uuid NOT NULL,
    signed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT environment_signature_digest_check CHECK ((digest ~ '^sha256:[0-9a-f]{64}$'::text)),
    CONSTRAINT environment_signature_signature_check CHECK ((length(signature) = 64))
);
ALTER TABLE ONLY public.environment_signature FORCE ROW LEVEL SECURITY;
ALTER TABLE public.environment_signature OWNER TO falaj_owner;

-- Name: TABLE environment_signature; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.environment_signature IS 'A tenant''s signatures over digests of shared images';

-- Name: erasure_certificate; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.erasure_certificate (
    tenant_id uuid NOT NULL,
    certificate_id uuid NOT NULL,
    zone text NOT NULL,
    key_version bigint NOT NULL,
    blob_sha bytea,
    objects bigint NOT NULL,
    destroyed_at timestamp with time zone NOT NULL,
    root_version bigint NOT NULL,
    backups_until timestamp with time zone NOT NULL,
    body text NOT NULL,
    signature bytea NOT NULL,
    key_id text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT erasure_certificate_signature_check CHECK ((length(signature) = 64))
);
ALTER TABLE ONLY public.erasure_certificate FORCE ROW LEVEL SECURITY;
ALTER TABLE public.erasure_certificate OWNER TO falaj_owner;

-- Name: federated_role; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.federated_role (
    tenant_id uuid NOT NULL,
    provider_id uuid NOT NULL,
    binding_id uuid NOT NULL,
    user_id uuid NOT NULL,
    role text NOT NULL
);
ALTER TABLE ONLY public.federated_role FORCE ROW LEVEL SECURITY;
ALTER TABLE public.federated_role OWNER TO falaj_owner;

-- Name: federated_user; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.federated_user (
    tenant_id uuid NOT NULL,
    provider_id uuid NOT NULL,
    subject text NOT NULL,
    user_id uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    last_login_at timestamp with time zone DEFAULT now() NOT NULL,
    linked_by uuid,
    CONSTRAINT federated_user_subject_check CHECK (((length(subject) >= 1) AND (length(subject) <= 255)))
);
ALTER TABLE ONLY public.federated_user FORCE ROW LEVEL SECURITY;
ALTER TABLE public.federated_user OWNER TO falaj_owner;

-- Name: group_member; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.group_member (
    tenant_id uuid NOT NULL,
    group_id uuid NOT NULL,
    user_id uuid NOT NULL
);
ALTER TABLE ONLY public.group_member FORCE ROW LEVEL SECURITY;
ALTER TABLE public.group_member OWNER TO falaj_owner;

-- Name: idempotency; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.idempotency (
    tenant_id uuid NOT NULL,
    principal_id uuid NOT NULL,
    route text NOT NULL,
    key text NOT NULL,
    request_sha bytea NOT NULL,
    status integer DEFAULT 0 NOT NULL,
    resource_id uuid,
    body text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT idempotency_key_check CHECK (((length(key) >= 1) AND (length(key) <= 255)))
);
ALTER TABLE ONLY public.idempotency FORCE ROW LEVEL SECURITY;
ALTER TABLE public.idempotency OWNER TO falaj_owner;

-- Name: identity_provider; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.identity_provider (
    tenant_id uuid NOT NULL,
    provider_id uuid NOT NULL,
    name text NOT NULL,
    issuer text NOT NULL,
    client_id text NOT NULL,
    sealed bytea,
    zone text,
    scopes text[] NOT NULL,
    name_claim text NOT NULL,
    groups_claim text NOT NULL,
    group_roles jsonb DEFAULT '[]'::jsonb NOT NULL,
    mfa_values text[] NOT NULL,
    create_users boolean NOT NULL,
    state text DEFAULT 'ACTIVE'::text NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    set_by uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT identity_provider_check CHECK (((sealed IS NULL) = (zone IS NULL))),
    CONSTRAINT identity_provider_client_id_check CHECK (((length(client_id) >= 1) AND (length(client_id) <= 255))),
    CONSTRAINT identity_provider_issuer_check CHECK (((length(issuer) >= 8) AND (length(issuer) <= 512))),
    CONSTRAINT identity_provider_name_check CHECK (((length(name) >= 1) AND (length(name) <= 63))),
    CONSTRAINT identity_provider_scopes_check CHECK (((cardinality(scopes) >= 1) AND (cardinality(scopes) <= 16))),
    CONSTRAINT identity_provider_state_check CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'DISABLED'::text])))
);
ALTER TABLE ONLY public.identity_provider FORCE ROW LEVEL SECURITY;
ALTER TABLE public.identity_provider OWNER TO falaj_owner;

-- Name: idle_policy; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.idle_policy (
    tenant_id uuid NOT NULL,
    after_minutes bigint NOT NULL,
    notice_minutes bigint NOT NULL,
    projects text[] DEFAULT '{}'::text[] NOT NULL,
    changed_by uuid NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT idle_policy_after_minutes_check CHECK (((after_minutes = 0) OR ((after_minutes >= 5) AND (after_minutes <= 43200)))),
    CONSTRAINT idle_policy_notice_minutes_check CHECK (((notice_minutes >= 1) AND (notice_minutes <= 1440))),
    CONSTRAINT idle_policy_projects_check CHECK ((cardinality(projects) <= 200))
);
ALTER TABLE ONLY public.idle_policy FORCE ROW LEVEL SECURITY;
ALTER TABLE public.idle_policy OWNER TO falaj_owner;

-- Name: TABLE idle_policy; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.idle_policy IS 'For how long a tenant lets jobs hold what they do not use; no row: for ever';

-- Name: inside_policy; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.inside_policy (
    tenant_id uuid NOT NULL,
    allowed boolean DEFAULT true NOT NULL,
    closed_projects uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    changed_by uuid NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT inside_policy_closed_projects_check CHECK ((cardinality(closed_projects) <= 200))
);
ALTER TABLE ONLY public.inside_policy FORCE ROW LEVEL SECURITY;
ALTER TABLE public.inside_policy OWNER TO falaj_owner;

-- Name: TABLE inside_policy; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.inside_policy IS 'Whether a tenant lets people into its running programs; no row: it does';

-- Name: invitation; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.invitation (
    tenant_id uuid NOT NULL,
    invitation_id uuid NOT NULL,
    name text NOT NULL,
    email_hint text DEFAULT ''::text NOT NULL,
    roles text[] DEFAULT '{}'::text[] NOT NULL,
    hash bytea NOT NULL,
    state text DEFAULT 'OPEN'::text NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    user_id uuid,
    CONSTRAINT invitation_check CHECK (((state = 'ACCEPTED'::text) = (user_id IS NOT NULL))),
    CONSTRAINT invitation_email_hint_check CHECK ((length(email_hint) <= 254)),
    CONSTRAINT invitation_hash_check CHECK ((length(hash) = 32)),
    CONSTRAINT invitation_name_check CHECK (((length(name) >= 1) AND (length(name) <= 128))),
    CONSTRAINT invitation_state_check CHECK ((state = ANY (ARRAY['OPEN'::text, 'ACCEPTED'::text, 'WITHDRAWN'::text])))
)
WITH (autovacuum_vacuum_threshold='0', autovacuum_vacuum_scale_factor='0');
ALTER TABLE ONLY public.invitation FORCE ROW LEVEL SECURITY;
ALTER TABLE public.invitation OWNER TO falaj_owner;

-- Name: issuer; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.issuer (
    tenant_id uuid NOT NULL,
    issuer_id uuid NOT NULL,
    name text NOT NULL,
    issuer text NOT NULL,
    audience text NOT NULL,
    algorithms text[] NOT NULL,
    jwks_uri text,
    jwks jsonb,
    single_use boolean NOT NULL,
    state text DEFAULT 'ACTIVE'::text NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT issuer_algorithms_check CHECK ((((cardinality(algorithms) >= 1) AND (cardinality(algorithms) <= 2)) AND (algorithms <@ ARRAY['RS256'::text, 'ES256'::text]))),
    CONSTRAINT issuer_audience_check CHECK (((length(audience) >= 1) AND (length(audience) <= 256))),
    CONSTRAINT issuer_check CHECK (((jwks_uri IS NULL) <> (jwks IS NULL))),
    CONSTRAINT issuer_issuer_check CHECK (((length(issuer) >= 8) AND (length(issuer) <= 512))),
    CONSTRAINT issuer_jwks_uri_check CHECK (((length(jwks_uri) >= 8) AND (length(jwks_uri) <= 512))),
    CONSTRAINT issuer_name_check CHECK (((length(name) >= 1) AND (length(name) <= 63))),
    CONSTRAINT issuer_state_check CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'DISABLED'::text])))
);
ALTER TABLE ONLY public.issuer FORCE ROW LEVEL SECURITY;
ALTER TABLE public.issuer OWNER TO falaj_owner;

-- Name: issuer_subject; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.issuer_subject (
    tenant_id uuid NOT NULL,
    issuer_id uuid NOT NULL,
    subject text NOT NULL,
    user_id uuid NOT NULL,
    CONSTRAINT issuer_subject_subject_check CHECK (((length(subject) >= 1) AND (length(subject) <= 255)))
);
ALTER TABLE ONLY public.issuer_subject FORCE ROW LEVEL SECURITY;
ALTER TABLE public.issuer_subject OWNER TO falaj_owner;

-- Name: job_array; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.job_array (
    tenant_id uuid NOT NULL,
    array_id uuid NOT NULL,
    project_id uuid,
    name text NOT NULL,
    tasks text NOT NULL,
    first_index bigint NOT NULL,
    step bigint NOT NULL,
    total bigint NOT NULL,
    most bigint NOT NULL,
    template jsonb NOT NULL,
    started bigint DEFAULT 0 NOT NULL,
    completed bigint DEFAULT 0 NOT NULL,
    failed bigint DEFAULT 0 NOT NULL,
    again bigint DEFAULT 0 NOT NULL,
    paused text DEFAULT ''::text NOT NULL,
    cancelled_at timestamp with time zone,
    message text DEFAULT ''::text NOT NULL,
    turn_at timestamp with time zone DEFAULT now() NOT NULL,
    ended_at timestamp with time zone,
    version bigint DEFAULT 1 NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT job_array_again_check CHECK ((again >= 0)),
    CONSTRAINT job_array_check CHECK (((started >= 0) AND (started <= total))),
    CONSTRAINT job_array_check1 CHECK ((((completed + failed) + again) <= started)),
    CONSTRAINT job_array_completed_check CHECK ((completed >= 0)),
    CONSTRAINT job_array_failed_check CHECK ((failed >= 0)),
    CONSTRAINT job_array_first_index_check CHECK ((first_index >= 0)),
    CONSTRAINT job_array_most_check CHECK ((most >= 1)),
    CONSTRAINT job_array_paused_check CHECK ((paused = ANY (ARRAY[''::text, 'HELD'::text, 'SUSPENDED'::text]))),
    CONSTRAINT job_array_step_check CHECK ((step >= 1)),
    CONSTRAINT job_array_total_check CHECK (((total >= 1) AND (total <= 10000)))
);
ALTER TABLE ONLY public.job_array FORCE ROW LEVEL SECURITY;
ALTER TABLE public.job_array OWNER TO falaj_owner;

-- Name: TABLE job_array; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.job_array IS 'Arrays of jobs; a task has no other row until it becomes a job';

-- Name: job_change; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.job_change (
    changed_xid xid8 NOT NULL,
    of_tenant uuid NOT NULL,
    of_job uuid NOT NULL
);
ALTER TABLE ONLY public.job_change FORCE ROW LEVEL SECURITY;
ALTER TABLE public.job_change OWNER TO falaj_owner;

-- Name: TABLE job_change; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.job_change IS 'Waiting jobs that were put back, changed, held or ended, until the planner has read it';

-- Name: job_dependency; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.job_dependency (
    tenant_id uuid NOT NULL,
    job_id uuid NOT NULL,
    on_job_id uuid NOT NULL,
    type text NOT NULL,
    open boolean DEFAULT true NOT NULL,
    CONSTRAINT job_dependency_check CHECK ((on_job_id <> job_id)),
    CONSTRAINT job_dependency_type_check CHECK ((type = ANY (ARRAY['after'::text, 'afterany'::text, 'afterok'::text, 'afternotok'::text])))
);
ALTER TABLE ONLY public.job_dependency FORCE ROW LEVEL SECURITY;
ALTER TABLE public.job_dependency OWNER TO falaj_owner;

-- Name: COLUMN job_dependency.open; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.job_dependency.open IS 'Not met yet, and its job still waits';

-- Name: job_edge; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.job_edge (
    from_state text NOT NULL,
    event text NOT NULL,
    to_state text NOT NULL
);
ALTER TABLE public.job_edge OWNER TO falaj_owner;

-- Name: job_end; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.job_end (
    tenant_id uuid NOT NULL,
    ended bigint DEFAULT 0 NOT NULL,
    CONSTRAINT job_end_ended_check CHECK ((ended >= 0))
)
WITH (fillfactor='20', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='200');
ALTER TABLE ONLY public.job_end FORCE ROW LEVEL SECURITY;
ALTER TABLE public.job_end OWNER TO falaj_owner;

-- Name: job_event; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.job_event (
    tenant_id uuid NOT NULL,
    job_id uuid NOT NULL,
    version bigint NOT NULL,
    state text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    message text DEFAULT ''::text NOT NULL,
    fence bigint DEFAULT 0 NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY public.job_event FORCE ROW LEVEL SECURITY;
ALTER TABLE public.job_event OWNER TO falaj_owner;

-- Name: job_log; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.job_log (
    tenant_id uuid NOT NULL,
    job_id uuid NOT NULL,
    log_id bigint NOT NULL,
    fence bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    stream text NOT NULL,
    text text NOT NULL,
    CONSTRAINT job_log_stream_check CHECK ((stream = ANY (ARRAY['stdout'::text, 'stderr'::text, 'system'::text])))
);
ALTER TABLE ONLY public.job_log FORCE ROW LEVEL SECURITY;
ALTER TABLE public.job_log OWNER TO falaj_owner;

-- Name: job_log_log_id_seq; Type: SEQUENCE; Schema: public; Owner: falaj_owner
ALTER TABLE public.job_log ALTER COLUMN log_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.job_log_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: job_metric; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.job_metric (
    tenant_id uuid NOT NULL,
    job_id uuid NOT NULL,
    metric_id bigint NOT NULL,
    fence bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    step bigint NOT NULL,
    "values" jsonb NOT NULL
);
ALTER TABLE ONLY public.job_metric FORCE ROW LEVEL SECURITY;
ALTER TABLE public.job_metric OWNER TO falaj_owner;

-- Name: job_metric_metric_id_seq; Type: SEQUENCE; Schema: public; Owner: falaj_owner
ALTER TABLE public.job_metric ALTER COLUMN metric_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.job_metric_metric_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: job_object; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.job_object (
    tenant_id uuid NOT NULL,
    job_id uuid NOT NULL,
    direction text NOT NULL,
    name text NOT NULL,
    object_id uuid NOT NULL,
    fence bigint DEFAULT 0 NOT NULL,
    CONSTRAINT job_object_direction_check CHECK ((direction = ANY (ARRAY['input'::text, 'output'::text])))
);
ALTER TABLE ONLY public.job_object FORCE ROW LEVEL SECURITY;
ALTER TABLE public.job_object OWNER TO falaj_owner;

-- Name: job_page; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.job_page (
    tenant_id uuid NOT NULL,
    after_id uuid NOT NULL,
    last_id uuid NOT NULL,
    jobs bigint NOT NULL,
    is_final boolean DEFAULT false NOT NULL,
    names text NOT NULL,
    ids uuid[] NOT NULL,
    facets text[] NOT NULL,
    CONSTRAINT job_page_check CHECK ((last_id > after_id))
);
ALTER TABLE ONLY public.job_page ALTER COLUMN names SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.job_page ALTER COLUMN ids SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.job_page FORCE ROW LEVEL SECURITY;
ALTER TABLE public.job_page OWNER TO falaj_owner;

-- Name: job_session; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.job_session (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    job_id uuid NOT NULL,
    attempt_id uuid NOT NULL,
    node_id uuid NOT NULL,
    user_id uuid NOT NULL,
    kind text NOT NULL,
    ask text NOT NULL,
    asked_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    heard_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    noticed_at timestamp with time zone,
    joined boolean DEFAULT false NOT NULL,
    ticket_sha256 text,
    entered_at timestamp with time zone,
    rank bigint DEFAULT 0 NOT NULL,
    CONSTRAINT job_session_ask_check CHECK ((octet_length(ask) <= 16384)),
    CONSTRAINT job_session_kind_check CHECK ((kind = ANY (ARRAY['exec'::text, 'shell'::text, 'forward'::text, 'attach'::text]))),
    CONSTRAINT job_session_rank_check CHECK (((rank >= 0) AND (rank <= 63))),
    CONSTRAINT job_session_ticket_sha256_check CHECK ((ticket_sha256 ~ '^[0-9a-f]{64}$'::text))
);
ALTER TABLE ONLY public.job_session FORCE ROW LEVEL SECURITY;
ALTER TABLE public.job_session OWNER TO falaj_owner;

-- Name: TABLE job_session; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.job_session IS 'People inside running programs, now';

-- Name: COLUMN job_session.rank; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.job_session.rank IS 'In the program of which of the job''s machines; node_id is that machine';

-- Name: job_step; Type: VIEW; Schema: public; Owner: falaj_owner
CREATE VIEW public.job_step WITH (security_invoker='true') AS
 SELECT job_event.tenant_id,
    job_event.job_id,
    job_event.version,
    job_event.state,
    job_event.reason,
    job_event.message,
    job_event.fence,
    job_event.at
   FROM public.job_event
UNION ALL
 SELECT job.tenant_id,
    job.job_id,
    1 AS version,
    'PENDING'::text AS state,
    'Resources'::text AS reason,
    ''::text AS message,
    0 AS fence,
    job.submitted_at AS at
   FROM public.job
  WHERE (job.submitted_xid IS NOT NULL)
UNION ALL
 SELECT a.tenant_id,
    a.job_id,
    (v.admitted + s.step) AS version,
    s.state,
    ''::text AS reason,
    ''::text AS message,
    a.fence,
    s.at
   FROM ((public.attempt a
     CROSS JOIN LATERAL ( SELECT COALESCE(a.admitted_version, ( SELECT e.version
                   FROM public.job_event e
                  WHERE ((e.tenant_id = a.tenant_id) AND (e.job_id = a.job_id) AND (e.fence = a.fence) AND (e.state = 'ADMITTED'::text)))) AS admitted) v)
     CROSS JOIN LATERAL ( VALUES (0,'ADMITTED'::text,
                CASE
                    WHEN (a.admitted_version IS NOT NULL) THEN a.leased_at
                    ELSE NULL::timestamp with time zone
                END), (1,'STARTING'::text,a.taken_at), (2,'RUNNING'::text,a.started_at)) s(step, state, at))
  WHERE ((v.admitted IS NOT NULL) AND (s.at IS NOT NULL) AND (NOT (EXISTS ( SELECT
           FROM public.job_event x
          WHERE ((x.tenant_id = a.tenant_id) AND (x.job_id = a.job_id) AND (x.version = (v.admitted + s.step)))))))
UNION ALL
 SELECT j.tenant_id,
    j.job_id,
    j.version,
    j.state,
    j.reason,
    j.message,
    j.fence,
    j.finished_at AS at
   FROM public.job j
  WHERE ((j.finished_at IS NOT NULL) AND (EXISTS ( SELECT
           FROM public.attempt a
          WHERE ((a.tenant_id = j.tenant_id) AND (a.job_id = j.job_id) AND (a.fence = j.fence) AND (NOT a.live)))) AND (NOT (EXISTS ( SELECT
           FROM public.job_event x
          WHERE ((x.tenant_id = j.tenant_id) AND (x.job_id = j.job_id) AND (x.version = j.version))))));
ALTER TABLE public.job_step OWNER TO falaj_owner;

-- Name: usage_ord; Type: SEQUENCE; Schema: public; Owner: falaj_owner
CREATE SEQUENCE public.usage_ord
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER TABLE public.usage_ord OWNER TO falaj_owner;

-- Name: usage_record; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.usage_record (
    tenant_id uuid NOT NULL,
    attempt_id uuid NOT NULL,
    job_id uuid NOT NULL,
    zone text NOT NULL,
    pool text NOT NULL,
    slots bigint NOT NULL,
    gpus bigint NOT NULL,
    wall_ms bigint NOT NULL,
    slot_ms bigint NOT NULL,
    gpu_ms bigint NOT NULL,
    ended_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    project_id uuid,
    queue text,
    flavor text,
    energy_mj bigint,
    money_micro bigint,
    currency text,
    xid xid8 DEFAULT pg_current_xact_id(),
    ord bigint DEFAULT nextval('public.usage_ord'::regclass) NOT NULL,
    CONSTRAINT usage_record_is_debit CHECK (((queue IS NULL) OR ((slot_ms >= 0) AND (gpu_ms >= 0) AND (energy_mj >= 0) AND (money_micro >= 0) AND (flavor IS NOT NULL) AND (currency IS NOT NULL) AND (xid IS NOT NULL))))
);
ALTER TABLE ONLY public.usage_record FORCE ROW LEVEL SECURITY;
ALTER TABLE public.usage_record OWNER TO falaj_owner;

-- Name: job_step_xid; Type: VIEW; Schema: public; Owner: falaj_owner
CREATE VIEW public.job_step_xid WITH (security_invoker='true') AS
 SELECT job.tenant_id,
    job.submitted_xid AS xid,
    job.submitted_at AS at
   FROM public.job
  WHERE (job.submitted_xid IS NOT NULL)
UNION ALL
 SELECT attempt.tenant_id,
    attempt.admitted_xid AS xid,
    attempt.leased_at AS at
   FROM public.attempt
  WHERE (attempt.admitted_xid IS NOT NULL)
UNION ALL
 SELECT j.tenant_id,
    u.xid,
    u.ended_at AS at
   FROM ((public.job j
     JOIN public.attempt a ON (((a.tenant_id = j.tenant_id) AND (a.job_id = j.job_id) AND (a.fence = j.fence) AND (NOT a.live))))
     JOIN public.usage_record u ON (((u.tenant_id = a.tenant_id) AND (u.attempt_id = a.attempt_id) AND (u.xid IS NOT NULL))))
  WHERE ((j.finished_at IS NOT NULL) AND (NOT (EXISTS ( SELECT
           FROM public.job_event x
          WHERE ((x.tenant_id = j.tenant_id) AND (x.job_id = j.job_id) AND (x.version = j.version))))));
ALTER TABLE public.job_step_xid OWNER TO falaj_owner;

-- Name: join_token; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.join_token (
    join_token_id uuid NOT NULL,
    zone text NOT NULL,
    pool text NOT NULL,
    node_name text,
    hash bytea NOT NULL,
    hint text NOT NULL,
    cidrs cidr[] DEFAULT '{}'::cidr[] NOT NULL,
    uses bigint NOT NULL,
    used bigint DEFAULT 0 NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    last_used_at timestamp with time zone,
    created_by uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT join_token_check CHECK (((used >= 0) AND (used <= uses))),
    CONSTRAINT join_token_cidrs_check CHECK ((cardinality(cidrs) <= 16)),
    CONSTRAINT join_token_hash_check CHECK ((length(hash) = 32)),
    CONSTRAINT join_token_node_name_check CHECK ((node_name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'::text)),
    CONSTRAINT join_token_pool_check CHECK ((pool ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text)),
    CONSTRAINT join_token_uses_check CHECK (((uses >= 1) AND (uses <= 1000)))
);
ALTER TABLE ONLY public.join_token FORCE ROW LEVEL SECURITY;
ALTER TABLE public.join_token OWNER TO falaj_owner;

-- Name: jwt_used; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.jwt_used (
    tenant_id uuid NOT NULL,
    issuer_id uuid NOT NULL,
    jti_hash bytea NOT NULL,
    until timestamp with time zone NOT NULL,
    CONSTRAINT jwt_used_jti_hash_check CHECK ((length(jti_hash) = 32))
);
ALTER TABLE ONLY public.jwt_used FORCE ROW LEVEL SECURITY;
ALTER TABLE public.jwt_used OWNER TO falaj_owner;

-- Name: key_edge; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.key_edge (
    from_state text NOT NULL,
    to_state text NOT NULL
);
ALTER TABLE public.key_edge OWNER TO falaj_owner;

-- Name: key_rewrap; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.key_rewrap (
    tenant_id uuid NOT NULL,
    rewrap_id uuid NOT NULL,
    zone text NOT NULL,
    kind text NOT NULL,
    to_version bigint NOT NULL,
    state text DEFAULT 'RUNNING'::text NOT NULL,
    total bigint DEFAULT 0 NOT NULL,
    done bigint DEFAULT 0 NOT NULL,
    failed bigint DEFAULT 0 NOT NULL,
    message text DEFAULT ''::text NOT NULL,
    after_id uuid,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT key_rewrap_kind_check CHECK ((kind = ANY (ARRAY['tenant'::text, 'root'::text]))),
    CONSTRAINT key_rewrap_state_check CHECK ((state = ANY (ARRAY['RUNNING'::text, 'DONE'::text, 'SUPERSEDED'::text])))
)
WITH (fillfactor='50');
ALTER TABLE ONLY public.key_rewrap FORCE ROW LEVEL SECURITY;
ALTER TABLE public.key_rewrap OWNER TO falaj_owner;

-- Name: ledger_entry; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.ledger_entry (
    tenant_id uuid NOT NULL,
    transaction_id uuid NOT NULL,
    line integer NOT NULL,
    account text NOT NULL,
    project_id uuid,
    queue text NOT NULL,
    zone text NOT NULL,
    pool text NOT NULL,
    flavor text NOT NULL,
    slot_ms bigint NOT NULL,
    gpu_ms bigint NOT NULL,
    energy_mj bigint NOT NULL,
    money_micro bigint NOT NULL,
    currency text DEFAULT ''::text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    ord bigint DEFAULT nextval('public.usage_ord'::regclass) NOT NULL,
    CONSTRAINT ledger_entry_account_check CHECK ((account = ANY (ARRAY['tenant'::text, 'project'::text, 'zone'::text]))),
    CONSTRAINT ledger_entry_check CHECK (((line = 2) = (account = 'zone'::text))),
    CONSTRAINT ledger_entry_check1 CHECK (
CASE line
    WHEN 1 THEN ((slot_ms >= 0) AND (gpu_ms >= 0) AND (energy_mj >= 0) AND (money_micro >= 0))
    ELSE ((slot_ms <= 0) AND (gpu_ms <= 0) AND (energy_mj <= 0) AND (money_micro <= 0))
END),
    CONSTRAINT ledger_entry_line_check CHECK ((line = ANY (ARRAY[1, 2])))
);
ALTER TABLE ONLY public.ledger_entry FORCE ROW LEVEL SECURITY;
ALTER TABLE public.ledger_entry OWNER TO falaj_owner;

-- Name: legal_clock; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.legal_clock (
    tenant_id uuid NOT NULL,
    clock_id uuid NOT NULL,
    kind text NOT NULL,
    zone text NOT NULL,
    reference text NOT NULL,
    law text DEFAULT ''::text NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    first_due_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    opened_by uuid NOT NULL,
    extended_at timestamp with time zone,
    extension_reason text,
    closed_at timestamp with time zone,
    closed_by uuid,
    note text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    told smallint DEFAULT 0 NOT NULL,
    CONSTRAINT legal_clock_check CHECK (((first_due_at > opened_at) AND (first_due_at <= (opened_at + '301 years'::interval)))),
    CONSTRAINT legal_clock_check1 CHECK (((extended_at IS NULL) = (extension_reason IS NULL))),
    CONSTRAINT legal_clock_check2 CHECK (
CASE
    WHEN (extended_at IS NULL) THEN (due_at = first_due_at)
    ELSE ((kind <> ALL (ARRAY['breach'::text, 'retention'::text])) AND (due_at > first_due_at) AND (due_at <= (first_due_at + '63 days'::interval)))
END),
    CONSTRAINT legal_clock_check3 CHECK ((((closed_at IS NULL) = (closed_by IS NULL)) AND ((closed_at IS NULL) = (note IS NULL)))),
    CONSTRAINT legal_clock_extension_reason_check CHECK (((length(extension_reason) >= 1) AND (length(extension_reason) <= 1024))),
    CONSTRAINT legal_clock_kind_check CHECK ((kind = ANY (ARRAY['access'::text, 'erasure'::text, 'rectification'::text, 'objection'::text, 'breach'::text, 'retention'::text]))),
    CONSTRAINT legal_clock_law_check CHECK ((length(law) <= 1280)),
    CONSTRAINT legal_clock_note_check CHECK (((length(note) >= 1) AND (length(note) <= 1024))),
    CONSTRAINT legal_clock_opened_at_check CHECK ((opened_at >= '1970-01-01 00:00:00+00'::timestamp with time zone)),
    CONSTRAINT legal_clock_reference_check CHECK (((length(reference) >= 1) AND (length(reference) <= 128))),
    CONSTRAINT legal_clock_told_check CHECK (((told >= 0) AND (told <= 2)))
);
ALTER TABLE ONLY public.legal_clock FORCE ROW LEVEL SECURITY;
ALTER TABLE public.legal_clock OWNER TO falaj_owner;

-- Name: TABLE legal_clock; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.legal_clock IS 'Terms that a law sets: opened for a request or breach, extended at most once, closed';

-- Name: COLUMN legal_clock.told; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON COLUMN public.legal_clock.told IS '0 nothing, 1 that it is due soon, 2 that it is overdue; an extension begins anew';

-- Name: login_guard; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.login_guard (
    key bytea NOT NULL,
    tries bigint NOT NULL,
    until timestamp with time zone NOT NULL,
    refused boolean DEFAULT false NOT NULL,
    seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT login_guard_key_check CHECK ((length(key) = 32))
);
ALTER TABLE public.login_guard OWNER TO falaj_owner;

-- Name: machine_hold; Type: VIEW; Schema: public; Owner: falaj_owner
CREATE VIEW public.machine_hold WITH (security_invoker='true') AS
 SELECT a.node_id,
    a.tenant_id,
    a.attempt_id,
    a.job_id,
    a.slots,
    a.gpus,
    a.cpu_milli,
    a.memory_bytes,
    a.gpu_milli,
    a.devices,
    a.state,
    a.leased_at,
    a.started_at
   FROM public.attempt a
  WHERE (a.live AND (a.nodes = 1))
UNION ALL
 SELECT m.node_id,
    m.tenant_id,
    m.attempt_id,
    m.job_id,
    m.slots,
    m.gpus,
    m.cpu_milli,
    m.memory_bytes,
    m.gpu_milli,
    m.devices,
    m.state,
    m.leased_at,
    m.started_at
   FROM public.attempt_member m
  WHERE m.live;
ALTER TABLE public.machine_hold OWNER TO falaj_owner;

-- Name: model_version; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.model_version (
    tenant_id uuid NOT NULL,
    model_id uuid NOT NULL,
    version bigint NOT NULL,
    object_id uuid NOT NULL,
    job_id uuid,
    fence bigint DEFAULT 0 NOT NULL,
    family text NOT NULL,
    inputs bigint NOT NULL,
    outputs bigint NOT NULL,
    metrics jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    signature jsonb,
    CONSTRAINT model_version_version_check CHECK ((version > 0))
);
ALTER TABLE ONLY public.model_version FORCE ROW LEVEL SECURITY;
ALTER TABLE public.model_version OWNER TO falaj_owner;

-- Name: node_cert; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.node_cert (
    fingerprint bytea NOT NULL,
    identity text NOT NULL,
    source text NOT NULL,
    join_token_id uuid,
    issued_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    not_after timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    key_sha bytea,
    CONSTRAINT node_cert_check CHECK ((ends_at <= not_after)),
    CONSTRAINT node_cert_fingerprint_check CHECK ((length(fingerprint) = 32)),
    CONSTRAINT node_cert_key_sha_check CHECK ((length(key_sha) = 32)),
    CONSTRAINT node_cert_source_check CHECK ((source = ANY (ARRAY['join'::text, 'renew'::text])))
);
ALTER TABLE ONLY public.node_cert FORCE ROW LEVEL SECURITY;
ALTER TABLE public.node_cert OWNER TO falaj_owner;

-- Name: notice_cursor; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.notice_cursor (
    tenant_id uuid NOT NULL,
    tseq bigint NOT NULL,
    patrolled_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT notice_cursor_tseq_check CHECK ((tseq >= 0))
);
ALTER TABLE ONLY public.notice_cursor FORCE ROW LEVEL SECURITY;
ALTER TABLE public.notice_cursor OWNER TO falaj_owner;

-- Name: TABLE notice_cursor; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.notice_cursor IS 'How far a tenant''s log was read for notifications; tenants without rules have no row';

-- Name: notice_delivery; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.notice_delivery (
    tenant_id uuid NOT NULL,
    delivery_id uuid NOT NULL,
    notification_id uuid,
    user_id uuid,
    target uuid NOT NULL,
    kind text NOT NULL,
    event text NOT NULL,
    source text NOT NULL,
    resource_kind text DEFAULT ''::text NOT NULL,
    resource_id text DEFAULT ''::text NOT NULL,
    name text DEFAULT ''::text NOT NULL,
    project_id uuid,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL,
    at timestamp with time zone NOT NULL,
    state text DEFAULT 'WAITING'::text NOT NULL,
    tries bigint DEFAULT 0 NOT NULL,
    next_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    status bigint,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT notice_delivery_check CHECK (((state = 'WAITING'::text) = (ended_at IS NULL))),
    CONSTRAINT notice_delivery_check1 CHECK (((kind = 'mail'::text) = (user_id IS NOT NULL))),
    CONSTRAINT notice_delivery_event_check CHECK ((length(event) <= 64)),
    CONSTRAINT notice_delivery_kind_check CHECK ((kind = ANY (ARRAY['mail'::text, 'webhook'::text]))),
    CONSTRAINT notice_delivery_name_check CHECK ((length(name) <= 256)),
    CONSTRAINT notice_delivery_reason_check CHECK ((length(reason) <= 512)),
    CONSTRAINT notice_delivery_resource_id_check CHECK ((length(resource_id) <= 256)),
    CONSTRAINT notice_delivery_resource_kind_check CHECK ((length(resource_kind) <= 64)),
    CONSTRAINT notice_delivery_source_check CHECK ((length(source) <= 128)),
    CONSTRAINT notice_delivery_state_check CHECK ((state = ANY (ARRAY['WAITING'::text, 'DELIVERED'::text, 'DEAD'::text])))
);
ALTER TABLE ONLY public.notice_delivery FORCE ROW LEVEL SECURITY;
ALTER TABLE public.notice_delivery OWNER TO falaj_owner;

-- Name: TABLE notice_delivery; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.notice_delivery IS 'What is to be sent, and what became of it';

-- Name: notice_person; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.notice_person (
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    address text NOT NULL,
    confirmed_at timestamp with time zone,
    code_hash bytea,
    code_until timestamp with time zone,
    code_tries bigint DEFAULT 0 NOT NULL,
    language text DEFAULT 'en'::text NOT NULL,
    events text[] DEFAULT '{}'::text[] NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT notice_person_address_check CHECK (((length(address) >= 3) AND (length(address) <= 254))),
    CONSTRAINT notice_person_code_hash_check CHECK ((length(code_hash) = 32)),
    CONSTRAINT notice_person_code_tries_check CHECK ((code_tries >= 0)),
    CONSTRAINT notice_person_events_check CHECK ((cardinality(events) <= 32)),
    CONSTRAINT notice_person_language_check CHECK ((language = ANY (ARRAY['en'::text, 'ar'::text])))
);
ALTER TABLE ONLY public.notice_person FORCE ROW LEVEL SECURITY;
ALTER TABLE public.notice_person OWNER TO falaj_owner;

-- Name: TABLE notice_person; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.notice_person IS 'Where a person gets mail, in which language, and of which events of their own';

-- Name: notice_rule; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.notice_rule (
    tenant_id uuid NOT NULL,
    notification_id uuid NOT NULL,
    project_id uuid,
    name text NOT NULL,
    kind text NOT NULL,
    state text DEFAULT 'ACTIVE'::text NOT NULL,
    events text[] NOT NULL,
    url text,
    recipients uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    wait_minutes bigint DEFAULT 60 NOT NULL,
    sealed bytea,
    zone text,
    version bigint DEFAULT 1 NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT notice_rule_check CHECK (((kind = 'webhook'::text) = (url IS NOT NULL))),
    CONSTRAINT notice_rule_check1 CHECK (((kind = 'webhook'::text) = ((sealed IS NOT NULL) AND (zone IS NOT NULL)))),
    CONSTRAINT notice_rule_check2 CHECK (((kind = 'mail'::text) = (cardinality(recipients) > 0))),
    CONSTRAINT notice_rule_events_check CHECK (((cardinality(events) >= 1) AND (cardinality(events) <= 32))),
    CONSTRAINT notice_rule_kind_check CHECK ((kind = ANY (ARRAY['mail'::text, 'webhook'::text]))),
    CONSTRAINT notice_rule_name_check CHECK (((length(name) >= 1) AND (length(name) <= 64))),
    CONSTRAINT notice_rule_recipients_check CHECK ((cardinality(recipients) <= 50)),
    CONSTRAINT notice_rule_state_check CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'PAUSED'::text]))),
    CONSTRAINT notice_rule_url_check CHECK (((length(url) >= 8) AND (length(url) <= 512))),
    CONSTRAINT notice_rule_wait_minutes_check CHECK (((wait_minutes >= 1) AND (wait_minutes <= 10080)))
);
ALTER TABLE ONLY public.notice_rule FORCE ROW LEVEL SECURITY;
ALTER TABLE public.notice_rule OWNER TO falaj_owner;

-- Name: TABLE notice_rule; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.notice_rule IS 'Which events of a tenant are told to whom, by mail or by a webhook';

-- Name: object; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.object (
    tenant_id uuid NOT NULL,
    object_id uuid NOT NULL,
    zone text NOT NULL,
    kind text NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    data_class text DEFAULT 'internal'::text NOT NULL,
    state text NOT NULL,
    size_bytes bigint DEFAULT 0 NOT NULL,
    sha256 bytea,
    stored_bytes bigint DEFAULT 0 NOT NULL,
    stored_sha256 bytea,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT object_check CHECK (((state <> 'COMMITTED'::text) OR ((sha256 IS NOT NULL) AND (stored_sha256 IS NOT NULL)))),
    CONSTRAINT object_data_class_check CHECK ((data_class = ANY (ARRAY['public'::text, 'internal'::text, 'personal'::text, 'sensitive'::text, 'health'::text, 'banking'::text, 'gov'::text]))),
    CONSTRAINT object_kind_check CHECK ((kind = ANY (ARRAY['dataset'::text, 'model'::text, 'checkpoint'::text, 'artifact'::text, 'part'::text, 'secret'::text]))),
    CONSTRAINT object_sha256_check CHECK ((length(sha256) = 32)),
    CONSTRAINT object_size_bytes_check CHECK ((size_bytes >= 0)),
    CONSTRAINT object_state_check CHECK ((state = ANY (ARRAY['WRITING'::text, 'COMMITTED'::text, 'DELETED'::text]))),
    CONSTRAINT object_stored_sha256_check CHECK ((length(stored_sha256) = 32))
);
ALTER TABLE ONLY public.object FORCE ROW LEVEL SECURITY;
ALTER TABLE public.object OWNER TO falaj_owner;

-- Name: oidc_login; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.oidc_login (
    state_hash bytea NOT NULL,
    cookie_hash bytea NOT NULL,
    of_tenant uuid NOT NULL,
    of_provider uuid NOT NULL,
    return_to text NOT NULL,
    redirect_uri text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT oidc_login_cookie_hash_check CHECK ((length(cookie_hash) = 32)),
    CONSTRAINT oidc_login_return_to_check CHECK (((length(return_to) >= 1) AND (length(return_to) <= 512))),
    CONSTRAINT oidc_login_state_hash_check CHECK ((length(state_hash) = 32))
);
ALTER TABLE public.oidc_login OWNER TO falaj_owner;

-- Name: password; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.password (
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    phc text NOT NULL,
    zone text NOT NULL,
    set_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT password_phc_check CHECK ((phc ~~ '$argon2id$%'::text))
);
ALTER TABLE ONLY public.password FORCE ROW LEVEL SECURITY;
ALTER TABLE public.password OWNER TO falaj_owner;

-- Name: person_origin; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.person_origin (
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    maker uuid NOT NULL,
    what text NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT person_origin_what_check CHECK ((what = ANY (ARRAY['account'::text, 'role'::text, 'link'::text, 'provider'::text, 'token'::text, 'subject'::text])))
);
ALTER TABLE ONLY public.person_origin FORCE ROW LEVEL SECURITY;
ALTER TABLE public.person_origin OWNER TO falaj_owner;

-- Name: plan_change; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.plan_change (
    changed_xid xid8 NOT NULL,
    writer bigint NOT NULL,
    tenants uuid[] NOT NULL,
    jobs uuid[] NOT NULL,
    versions bigint[]
);
ALTER TABLE ONLY public.plan_change ALTER COLUMN tenants SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.plan_change ALTER COLUMN jobs SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.plan_change ALTER COLUMN versions SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.plan_change FORCE ROW LEVEL SECURITY;
ALTER TABLE public.plan_change OWNER TO falaj_owner;

-- Name: TABLE plan_change; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.plan_change IS 'What a plan made of waiting jobs, until every scheduler that stands by has read it';

-- Name: price; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.price (
    price_id uuid NOT NULL,
    flavor text NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    currency text NOT NULL,
    slot_hour bigint NOT NULL,
    gpu_hour bigint NOT NULL,
    kwh bigint NOT NULL,
    slot_watts bigint NOT NULL,
    gpu_watts bigint NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT price_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT price_flavor_check CHECK ((flavor ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text)),
    CONSTRAINT price_gpu_hour_check CHECK (((gpu_hour >= 0) AND (gpu_hour <= 100000000))),
    CONSTRAINT price_gpu_watts_check CHECK (((gpu_watts >= 0) AND (gpu_watts <= 100000))),
    CONSTRAINT price_kwh_check CHECK (((kwh >= 0) AND (kwh <= 100000000))),
    CONSTRAINT price_slot_hour_check CHECK (((slot_hour >= 0) AND (slot_hour <= 100000000))),
    CONSTRAINT price_slot_watts_check CHECK (((slot_watts >= 0) AND (slot_watts <= 100000)))
);
ALTER TABLE public.price OWNER TO falaj_owner;

-- Name: priority_class; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.priority_class (
    class text NOT NULL,
    value bigint NOT NULL,
    preemptible boolean DEFAULT true NOT NULL,
    grace_s bigint DEFAULT 60 NOT NULL,
    min_runtime_s bigint DEFAULT 0 NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT priority_class_class_check CHECK ((class ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text)),
    CONSTRAINT priority_class_description_check CHECK ((length(description) <= 512)),
    CONSTRAINT priority_class_grace_s_check CHECK (((grace_s >= 0) AND (grace_s <= 86400))),
    CONSTRAINT priority_class_min_runtime_s_check CHECK (((min_runtime_s >= 0) AND (min_runtime_s <= 2592000))),
    CONSTRAINT priority_class_value_check CHECK (((value >= '-1000000'::integer) AND (value <= 1000000)))
);
ALTER TABLE public.priority_class OWNER TO falaj_owner;

-- Name: TABLE priority_class; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.priority_class IS 'Within a tenant jobs of a class with a higher value go first; priority orders inside one class';

-- Name: queue; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.queue (
    tenant_id uuid NOT NULL,
    queue_id uuid NOT NULL,
    project_id uuid,
    name text NOT NULL,
    mode text DEFAULT 'BestEffortFIFO'::text NOT NULL,
    stop_policy text DEFAULT 'None'::text NOT NULL,
    within_cluster_queue text DEFAULT 'Never'::text NOT NULL,
    reclaim_within_cohort text DEFAULT 'Never'::text NOT NULL,
    slot_usage bigint DEFAULT 0 NOT NULL,
    gpu_usage bigint DEFAULT 0 NOT NULL,
    usage_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT queue_gpu_usage_check CHECK ((gpu_usage >= 0)),
    CONSTRAINT queue_mode_check CHECK ((mode = ANY (ARRAY['StrictFIFO'::text, 'BestEffortFIFO'::text]))),
    CONSTRAINT queue_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text)),
    CONSTRAINT queue_reclaim_within_cohort_check CHECK ((reclaim_within_cohort = ANY (ARRAY['Never'::text, 'LowerPriority'::text, 'Any'::text]))),
    CONSTRAINT queue_slot_usage_check CHECK ((slot_usage >= 0)),
    CONSTRAINT queue_stop_policy_check CHECK ((stop_policy = ANY (ARRAY['None'::text, 'Hold'::text, 'HoldAndDrain'::text]))),
    CONSTRAINT queue_within_cluster_queue_check CHECK ((within_cluster_queue = ANY (ARRAY['Never'::text, 'LowerPriority'::text, 'LowerOrNewerEqualPriority'::text])))
);
ALTER TABLE ONLY public.queue FORCE ROW LEVEL SECURITY;
ALTER TABLE public.queue OWNER TO falaj_owner;

-- Name: quota; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.quota (
    tenant_id uuid NOT NULL,
    resource text NOT NULL,
    hard_limit bigint NOT NULL,
    used bigint DEFAULT 0 NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    guarded boolean DEFAULT false NOT NULL,
    ended bigint DEFAULT 0 NOT NULL,
    CONSTRAINT quota_check CHECK ((used <= hard_limit)),
    CONSTRAINT quota_hard_limit_check CHECK ((hard_limit >= 0)),
    CONSTRAINT quota_resource_check CHECK ((resource = ANY (ARRAY['jobs'::text, 'slots'::text, 'gpus'::text, 'stored_bytes'::text, 'objects'::text, 'running_jobs'::text, 'pending_jobs'::text, 'api_rate_per_minute'::text]))),
    CONSTRAINT quota_used_check CHECK (((used >= 0) OR (resource = ANY (ARRAY['slots'::text, 'gpus'::text]))))
)
WITH (fillfactor='20', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='200');
ALTER TABLE ONLY public.quota FORCE ROW LEVEL SECURITY;
ALTER TABLE public.quota OWNER TO falaj_owner;

-- Name: TABLE quota; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.quota IS 'jobs: live (not terminal) jobs, when what has ended since is taken off (job_end); stored_bytes, objects: committed objects. slots, gpus, running_jobs, pending_jobs and api_rate_per_minute are limits without a counter: what is used is counted when asked';

-- Name: quota_rule; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.quota_rule (
    tenant_id uuid NOT NULL,
    rule_id uuid NOT NULL,
    place text NOT NULL,
    project_id uuid,
    queue text DEFAULT ''::text NOT NULL,
    resource text NOT NULL,
    flavor text DEFAULT ''::text NOT NULL,
    zone text DEFAULT ''::text NOT NULL,
    nominal bigint NOT NULL,
    borrowing_limit bigint,
    lending_limit bigint,
    weight bigint DEFAULT 1000 NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT quota_rule_borrowing_limit_check CHECK (((borrowing_limit >= 0) AND (borrowing_limit <= 1000000000))),
    CONSTRAINT quota_rule_check CHECK (((lending_limit >= 0) AND (lending_limit <= nominal))),
    CONSTRAINT quota_rule_check1 CHECK (((place = 'queue'::text) = (queue <> ''::text))),
    CONSTRAINT quota_rule_check2 CHECK (((place <> 'project'::text) OR (project_id IS NOT NULL))),
    CONSTRAINT quota_rule_check3 CHECK (((place <> 'tenant'::text) OR (project_id IS NULL))),
    CONSTRAINT quota_rule_nominal_check CHECK (((nominal >= 0) AND (nominal <= 1000000000))),
    CONSTRAINT quota_rule_place_check CHECK ((place = ANY (ARRAY['tenant'::text, 'project'::text, 'queue'::text]))),
    CONSTRAINT quota_rule_queue_check CHECK (((queue = ''::text) OR (queue ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text))),
    CONSTRAINT quota_rule_resource_check CHECK ((resource = ANY (ARRAY['slots'::text, 'gpus'::text]))),
    CONSTRAINT quota_rule_weight_check CHECK (((weight >= 0) AND (weight <= 1000000)))
);
ALTER TABLE ONLY public.quota_rule FORCE ROW LEVEL SECURITY;
ALTER TABLE public.quota_rule OWNER TO falaj_owner;

-- Name: recovery_code; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.recovery_code (
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    hash bytea NOT NULL,
    used_at timestamp with time zone,
    CONSTRAINT recovery_code_hash_check CHECK ((length(hash) = 32))
);
ALTER TABLE ONLY public.recovery_code FORCE ROW LEVEL SECURITY;
ALTER TABLE public.recovery_code OWNER TO falaj_owner;

-- Name: registry_host; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.registry_host (
    registry_id uuid NOT NULL,
    zone text NOT NULL,
    host text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    hosts text[] DEFAULT '{}'::text[] NOT NULL,
    ca_pem text DEFAULT ''::text NOT NULL,
    reach text NOT NULL,
    max_bytes bigint NOT NULL,
    silent_s bigint NOT NULL,
    allowed boolean DEFAULT true NOT NULL,
    changed_by uuid NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    CONSTRAINT registry_host_ca_pem_check CHECK ((length(ca_pem) <= 16384)),
    CONSTRAINT registry_host_description_check CHECK ((length(description) <= 256)),
    CONSTRAINT registry_host_host_check CHECK ((host ~ '^[a-z0-9][a-z0-9.-]{0,252}(:[0-9]{1,5})?$'::text)),
    CONSTRAINT registry_host_hosts_check CHECK ((cardinality(hosts) <= 8)),
    CONSTRAINT registry_host_max_bytes_check CHECK (((max_bytes >= 1) AND (max_bytes <= 1073741824))),
    CONSTRAINT registry_host_reach_check CHECK ((reach = ANY (ARRAY['public'::text, 'private'::text, 'local'::text]))),
    CONSTRAINT registry_host_silent_s_check CHECK (((silent_s >= 1) AND (silent_s <= 600)))
);
ALTER TABLE ONLY public.registry_host FORCE ROW LEVEL SECURITY;
ALTER TABLE public.registry_host OWNER TO falaj_owner;

-- Name: TABLE registry_host; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.registry_host IS 'Registries that machines of a zone may pull images from';

-- Name: reservation; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.reservation (
    reservation_id uuid NOT NULL,
    purpose text NOT NULL,
    for_tenant uuid,
    for_project uuid,
    zone text DEFAULT ''::text NOT NULL,
    flavor text DEFAULT ''::text NOT NULL,
    from_at timestamp with time zone NOT NULL,
    until_at timestamp with time zone NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT reservation_check CHECK (((purpose = 'tenant'::text) = (for_tenant IS NOT NULL))),
    CONSTRAINT reservation_check1 CHECK (((for_project IS NULL) OR (for_tenant IS NOT NULL))),
    CONSTRAINT reservation_check2 CHECK ((until_at > from_at)),
    CONSTRAINT reservation_purpose_check CHECK ((purpose = ANY (ARRAY['maintenance'::text, 'tenant'::text]))),
    CONSTRAINT reservation_reason_check CHECK ((length(reason) <= 256))
);
ALTER TABLE ONLY public.reservation FORCE ROW LEVEL SECURITY;
ALTER TABLE public.reservation OWNER TO falaj_owner;

-- Name: TABLE reservation; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.reservation IS 'Windows of time in which machines are kept, for maintenance or for the jobs of a tenant';

-- Name: reservation_machine; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.reservation_machine (
    reservation_id uuid NOT NULL,
    node_id uuid NOT NULL
);
ALTER TABLE ONLY public.reservation_machine FORCE ROW LEVEL SECURITY;
ALTER TABLE public.reservation_machine OWNER TO falaj_owner;

-- Name: TABLE reservation_machine; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.reservation_machine IS 'The machines of a reservation';

-- Name: reservation_revision; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.reservation_revision (
    id integer NOT NULL,
    revision bigint NOT NULL,
    CONSTRAINT reservation_revision_id_check CHECK ((id = 1))
);
ALTER TABLE public.reservation_revision OWNER TO falaj_owner;

-- Name: TABLE reservation_revision; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.reservation_revision IS 'How often any reservation has changed; one number';

-- Name: residency_revision; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.residency_revision (
    id integer NOT NULL,
    revision bigint NOT NULL,
    CONSTRAINT residency_revision_id_check CHECK ((id = 1))
);
ALTER TABLE public.residency_revision OWNER TO falaj_owner;

-- Name: root_key; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.root_key (
    zone text NOT NULL,
    version bigint NOT NULL,
    provider text NOT NULL,
    state text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    retired_at timestamp with time zone,
    destroyed_at timestamp with time zone,
    CONSTRAINT root_key_state_check CHECK ((state = ANY (ARRAY['CURRENT'::text, 'RETIRED'::text, 'DESTROYED'::text]))),
    CONSTRAINT root_key_version_check CHECK ((version > 0))
);
ALTER TABLE public.root_key OWNER TO falaj_owner;

-- Name: saved_view; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.saved_view (
    tenant_id uuid NOT NULL,
    view_id uuid NOT NULL,
    owner_id uuid NOT NULL,
    list text NOT NULL,
    name text NOT NULL,
    query text NOT NULL,
    shared boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT saved_view_list_check CHECK (((length(list) >= 1) AND (length(list) <= 128))),
    CONSTRAINT saved_view_name_check CHECK (((length(name) >= 1) AND (length(name) <= 64))),
    CONSTRAINT saved_view_query_check CHECK ((length(query) <= 4096))
);
ALTER TABLE ONLY public.saved_view FORCE ROW LEVEL SECURITY;
ALTER TABLE public.saved_view OWNER TO falaj_owner;

-- Name: TABLE saved_view; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.saved_view IS 'Views of lists under a name; one that is shared is seen by everybody of its tenant';

-- Name: scheduler_round; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.scheduler_round (
    id integer NOT NULL,
    at timestamp with time zone NOT NULL,
    plan_us bigint NOT NULL,
    version text NOT NULL,
    CONSTRAINT scheduler_round_id_check CHECK ((id = 1)),
    CONSTRAINT scheduler_round_plan_us_check CHECK ((plan_us >= 0))
)
WITH (fillfactor='50');
ALTER TABLE public.scheduler_round OWNER TO falaj_owner;

-- Name: schema_function; Type: TABLE; Schema: public; Owner: falaj_migrate
CREATE TABLE public.schema_function (
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT schema_function_checksum_check CHECK ((length(checksum) = 64))
);
ALTER TABLE public.schema_function OWNER TO falaj_migrate;

-- Name: schema_migration; Type: TABLE; Schema: public; Owner: falaj_migrate
CREATE TABLE public.schema_migration (
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    duration_ms bigint NOT NULL,
    CONSTRAINT schema_migration_checksum_check CHECK ((length(checksum) = 64)),
    CONSTRAINT schema_migration_version_check CHECK ((version > 0))
);
ALTER TABLE public.schema_migration OWNER TO falaj_migrate;

-- Name: scim_user; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.scim_user (
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    external_id text,
    attributes jsonb DEFAULT '{}'::jsonb NOT NULL,
    off_version bigint,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT scim_user_external_id_check CHECK (((length(external_id) >= 1) AND (length(external_id) <= 256)))
)
WITH (autovacuum_vacuum_threshold='0', autovacuum_vacuum_scale_factor='0');
ALTER TABLE ONLY public.scim_user FORCE ROW LEVEL SECURITY;
ALTER TABLE public.scim_user OWNER TO falaj_owner;

-- Name: secret; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.secret (
    tenant_id uuid NOT NULL,
    secret_id uuid NOT NULL,
    project_id uuid,
    name text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    zone text NOT NULL,
    state text DEFAULT 'ACTIVE'::text NOT NULL,
    latest_version bigint DEFAULT 0 NOT NULL,
    last_used_at timestamp with time zone,
    version bigint DEFAULT 1 NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT secret_description_check CHECK ((length(description) <= 256)),
    CONSTRAINT secret_latest_version_check CHECK ((latest_version >= 0)),
    CONSTRAINT secret_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text)),
    CONSTRAINT secret_state_check CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'DISABLED'::text])))
);
ALTER TABLE ONLY public.secret FORCE ROW LEVEL SECURITY;
ALTER TABLE public.secret OWNER TO falaj_owner;

-- Name: TABLE secret; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.secret IS 'Names of secrets, each of one zone; a project''s own come before the tenant''s of that name';

-- Name: secret_version; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.secret_version (
    tenant_id uuid NOT NULL,
    secret_id uuid NOT NULL,
    version bigint NOT NULL,
    object_id uuid NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT secret_version_version_check CHECK ((version > 0))
);
ALTER TABLE ONLY public.secret_version FORCE ROW LEVEL SECURITY;
ALTER TABLE public.secret_version OWNER TO falaj_owner;

-- Name: TABLE secret_version; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.secret_version IS 'Values of secrets, as sealed objects';

-- Name: session; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.session (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    user_id uuid NOT NULL,
    hash bytea NOT NULL,
    method text NOT NULL,
    stage text NOT NULL,
    proved_at timestamp with time zone NOT NULL,
    mfa_at timestamp with time zone,
    ip text DEFAULT ''::text NOT NULL,
    user_agent text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    last_seen timestamp with time zone DEFAULT now() NOT NULL,
    until timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    reason text,
    CONSTRAINT session_check CHECK (((ended_at IS NULL) = (reason IS NULL))),
    CONSTRAINT session_hash_check CHECK ((length(hash) = 32)),
    CONSTRAINT session_ip_check CHECK ((length(ip) <= 64)),
    CONSTRAINT session_method_check CHECK ((method = ANY (ARRAY['password'::text, 'oidc'::text, 'break-glass'::text]))),
    CONSTRAINT session_reason_check CHECK ((reason = ANY (ARRAY['logout'::text, 'revoked'::text, 'password'::text, 'replaced'::text]))),
    CONSTRAINT session_stage_check CHECK ((stage = ANY (ARRAY['full'::text, 'code'::text, 'enrol'::text]))),
    CONSTRAINT session_user_agent_check CHECK ((length(user_agent) <= 200))
);
ALTER TABLE ONLY public.session FORCE ROW LEVEL SECURITY;
ALTER TABLE public.session OWNER TO falaj_owner;

-- Name: shared_environment; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.shared_environment (
    shared_id uuid NOT NULL,
    zone text NOT NULL,
    digest text NOT NULL,
    name text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    owner_id uuid NOT NULL,
    environment_id uuid NOT NULL,
    object_id uuid NOT NULL,
    data_class text NOT NULL,
    size_bytes bigint NOT NULL,
    unpacked_bytes bigint NOT NULL,
    files bigint NOT NULL,
    package_count bigint NOT NULL,
    package_source text NOT NULL,
    layers jsonb NOT NULL,
    packages jsonb NOT NULL,
    published_by uuid NOT NULL,
    published_at timestamp with time zone DEFAULT now() NOT NULL,
    withdrawn_by uuid,
    withdrawn_at timestamp with time zone,
    withdrawn_reason text DEFAULT ''::text NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    CONSTRAINT shared_environment_check CHECK (((withdrawn_by IS NULL) = (withdrawn_at IS NULL))),
    CONSTRAINT shared_environment_description_check CHECK ((length(description) <= 256)),
    CONSTRAINT shared_environment_digest_check CHECK ((digest ~ '^sha256:[0-9a-f]{64}$'::text)),
    CONSTRAINT shared_environment_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text)),
    CONSTRAINT shared_environment_size_bytes_check CHECK ((size_bytes >= 0)),
    CONSTRAINT shared_environment_withdrawn_reason_check CHECK ((length(withdrawn_reason) <= 512))
);
ALTER TABLE ONLY public.shared_environment FORCE ROW LEVEL SECURITY;
ALTER TABLE public.shared_environment OWNER TO falaj_owner;

-- Name: TABLE shared_environment; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.shared_environment IS 'Images that the platform''s staff let every tenant of a zone run programs in';

-- Name: tenant_kept; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.tenant_kept (
    table_name text NOT NULL,
    reason text NOT NULL
);
ALTER TABLE public.tenant_kept OWNER TO falaj_owner;

-- Name: tenant_key; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.tenant_key (
    tenant_id uuid NOT NULL,
    zone text NOT NULL,
    version bigint NOT NULL,
    state text NOT NULL,
    wrapped bytea,
    root_version bigint NOT NULL,
    provider text NOT NULL,
    wraps bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    origin text DEFAULT 'generated'::text NOT NULL,
    tier text DEFAULT 'wrapped'::text NOT NULL,
    blob_sha bytea,
    retired_at timestamp with time zone,
    disabled_at timestamp with time zone,
    destroy_after timestamp with time zone,
    destroyed_at timestamp with time zone,
    CONSTRAINT tenant_key_blob_sha_check CHECK ((length(blob_sha) = 32)),
    CONSTRAINT tenant_key_check CHECK (((state = 'DESTROYED'::text) = (wrapped IS NULL))),
    CONSTRAINT tenant_key_check1 CHECK (((state = 'DESTROY_SCHEDULED'::text) <= (destroy_after IS NOT NULL))),
    CONSTRAINT tenant_key_check2 CHECK (((state = 'DESTROYED'::text) = (destroyed_at IS NOT NULL))),
    CONSTRAINT tenant_key_origin_check CHECK ((origin = ANY (ARRAY['generated'::text, 'imported'::text]))),
    CONSTRAINT tenant_key_state_check CHECK ((state = ANY (ARRAY['PENDING'::text, 'PRIMARY'::text, 'DECRYPT_ONLY'::text, 'DISABLED'::text, 'DESTROY_SCHEDULED'::text, 'DESTROYED'::text]))),
    CONSTRAINT tenant_key_tier_check CHECK ((tier = ANY (ARRAY['wrapped'::text, 'sovereign'::text]))),
    CONSTRAINT tenant_key_version_check CHECK ((version > 0)),
    CONSTRAINT tenant_key_wraps_check CHECK ((wraps < '4294967296'::bigint))
);
ALTER TABLE ONLY public.tenant_key FORCE ROW LEVEL SECURITY;
ALTER TABLE public.tenant_key OWNER TO falaj_owner;

-- Name: tenant_zone; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.tenant_zone (
    tenant_id uuid NOT NULL,
    data_class text NOT NULL,
    zone text NOT NULL,
    CONSTRAINT tenant_zone_data_class_check CHECK ((data_class = ANY (public.data_classes())))
);
ALTER TABLE ONLY public.tenant_zone FORCE ROW LEVEL SECURITY;
ALTER TABLE public.tenant_zone OWNER TO falaj_owner;

-- Name: totp; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.totp (
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    sealed bytea NOT NULL,
    zone text NOT NULL,
    confirmed_at timestamp with time zone,
    last_step bigint DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY public.totp FORCE ROW LEVEL SECURITY;
ALTER TABLE public.totp OWNER TO falaj_owner;

-- Name: transfer; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.transfer (
    tenant_id uuid NOT NULL,
    transfer_id uuid NOT NULL,
    policy_id uuid,
    rule text NOT NULL,
    from_zone text NOT NULL,
    to_zone text NOT NULL,
    data_class text NOT NULL,
    purpose text NOT NULL,
    dataset_id uuid NOT NULL,
    version bigint NOT NULL,
    from_object uuid NOT NULL,
    to_object uuid NOT NULL,
    bytes bigint NOT NULL,
    by_user uuid NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT transfer_bytes_check CHECK ((bytes >= 0))
);
ALTER TABLE ONLY public.transfer FORCE ROW LEVEL SECURITY;
ALTER TABLE public.transfer OWNER TO falaj_owner;

-- Name: transfer_policy; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.transfer_policy (
    tenant_id uuid NOT NULL,
    policy_id uuid NOT NULL,
    from_zone text NOT NULL,
    to_zone text NOT NULL,
    data_class text NOT NULL,
    purpose text NOT NULL,
    legal_basis text NOT NULL,
    document_sha256 bytea NOT NULL,
    assessment_ref text NOT NULL,
    exception_ref text DEFAULT ''::text NOT NULL,
    recipients text[] DEFAULT '{}'::text[] NOT NULL,
    state text DEFAULT 'PROPOSED'::text NOT NULL,
    valid_from timestamp with time zone,
    valid_until timestamp with time zone NOT NULL,
    approval_id uuid NOT NULL,
    proposed_by uuid NOT NULL,
    revoked_by uuid,
    revoked_at timestamp with time zone,
    version bigint DEFAULT 1 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT transfer_policy_assessment_ref_check CHECK (((length(assessment_ref) >= 1) AND (length(assessment_ref) <= 256))),
    CONSTRAINT transfer_policy_check CHECK ((from_zone <> to_zone)),
    CONSTRAINT transfer_policy_check1 CHECK ((valid_until <= (created_at + '366 days'::interval))),
    CONSTRAINT transfer_policy_check2 CHECK (((data_class <> ALL (ARRAY['health'::text, 'banking'::text, 'gov'::text])) OR (exception_ref <> ''::text))),
    CONSTRAINT transfer_policy_check3 CHECK (((state <> 'ACTIVE'::text) OR (valid_from IS NOT NULL))),
    CONSTRAINT transfer_policy_check4 CHECK (((state = 'REVOKED'::text) = (revoked_at IS NOT NULL))),
    CONSTRAINT transfer_policy_data_class_check CHECK ((data_class = ANY (public.data_classes()))),
    CONSTRAINT transfer_policy_document_sha256_check CHECK ((length(document_sha256) = 32)),
    CONSTRAINT transfer_policy_exception_ref_check CHECK ((length(exception_ref) <= 256)),
    CONSTRAINT transfer_policy_legal_basis_check CHECK ((legal_basis = ANY (ARRAY['adequacy'::text, 'scc'::text, 'bcr'::text, 'explicit-consent'::text, 'contract'::text, 'legal-claim'::text, 'public-interest'::text, 'regulator-approval'::text]))),
    CONSTRAINT transfer_policy_purpose_check CHECK ((purpose ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text)),
    CONSTRAINT transfer_policy_state_check CHECK ((state = ANY (ARRAY['PROPOSED'::text, 'ACTIVE'::text, 'REVOKED'::text])))
);
ALTER TABLE ONLY public.transfer_policy FORCE ROW LEVEL SECURITY;
ALTER TABLE public.transfer_policy OWNER TO falaj_owner;

-- Name: upload; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.upload (
    tenant_id uuid NOT NULL,
    upload_id uuid NOT NULL,
    dataset_id uuid NOT NULL,
    zone text NOT NULL,
    size_bytes bigint NOT NULL,
    sha256 bytea,
    received bigint DEFAULT 0 NOT NULL,
    parts bigint DEFAULT 0 NOT NULL,
    state text DEFAULT 'OPEN'::text NOT NULL,
    version bigint,
    created_by uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    claim uuid,
    claimed_until timestamp with time zone,
    completed_bytes bigint DEFAULT 0 NOT NULL,
    failure text,
    format text DEFAULT 'csv'::text NOT NULL,
    CONSTRAINT upload_check CHECK (((received >= 0) AND (received <= size_bytes))),
    CONSTRAINT upload_check1 CHECK (((state = 'COMPLETED'::text) = (version IS NOT NULL))),
    CONSTRAINT upload_check2 CHECK (((completed_bytes >= 0) AND (completed_bytes <= size_bytes))),
    CONSTRAINT upload_check3 CHECK (((state = 'COMPLETING'::text) = (claim IS NOT NULL))),
    CONSTRAINT upload_check4 CHECK (((claim IS NULL) = (claimed_until IS NULL))),
    CONSTRAINT upload_failure_check CHECK ((length(failure) <= 500)),
    CONSTRAINT upload_format_check CHECK ((format = ANY (ARRAY['csv'::text, 'npy'::text, 'tokens'::text, 'onnx'::text, 'oci'::text]))),
    CONSTRAINT upload_parts_check CHECK (((parts >= 0) AND (parts <= 4096))),
    CONSTRAINT upload_sha256_check CHECK ((length(sha256) = 32)),
    CONSTRAINT upload_size_bytes_check CHECK (((size_bytes >= 1) AND (size_bytes <= 1073741824))),
    CONSTRAINT upload_state_check CHECK ((state = ANY (ARRAY['OPEN'::text, 'COMPLETING'::text, 'COMPLETED'::text, 'REFUSED'::text]))),
    CONSTRAINT upload_version_check CHECK ((version > 0))
);
ALTER TABLE ONLY public.upload FORCE ROW LEVEL SECURITY;
ALTER TABLE public.upload OWNER TO falaj_owner;

-- Name: upload_part; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.upload_part (
    tenant_id uuid NOT NULL,
    upload_id uuid NOT NULL,
    start bigint NOT NULL,
    object_id uuid NOT NULL,
    CONSTRAINT upload_part_start_check CHECK ((start >= 0))
);
ALTER TABLE ONLY public.upload_part FORCE ROW LEVEL SECURITY;
ALTER TABLE public.upload_part OWNER TO falaj_owner;

-- Name: usage_debit; Type: VIEW; Schema: public; Owner: falaj_owner
CREATE VIEW public.usage_debit WITH (security_invoker='true') AS
 SELECT usage_record.tenant_id,
    usage_record.attempt_id,
    usage_record.project_id,
    usage_record.queue,
    usage_record.zone,
    usage_record.pool,
    usage_record.flavor,
    usage_record.slot_ms,
    usage_record.gpu_ms,
    usage_record.energy_mj,
    usage_record.money_micro,
    usage_record.currency,
    usage_record.ended_at AS at,
    usage_record.xid,
    usage_record.ord
   FROM public.usage_record
  WHERE (usage_record.queue IS NOT NULL)
UNION ALL
 SELECT ledger_entry.tenant_id,
    ledger_entry.transaction_id AS attempt_id,
    ledger_entry.project_id,
    ledger_entry.queue,
    ledger_entry.zone,
    ledger_entry.pool,
    ledger_entry.flavor,
    ledger_entry.slot_ms,
    ledger_entry.gpu_ms,
    ledger_entry.energy_mj,
    ledger_entry.money_micro,
    ledger_entry.currency,
    ledger_entry.at,
    ledger_entry.xid,
    ledger_entry.ord
   FROM public.ledger_entry
  WHERE (ledger_entry.line = 1);
ALTER TABLE public.usage_debit OWNER TO falaj_owner;

-- Name: usage_fence; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.usage_fence (
    id integer NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    closed_ord bigint DEFAULT 0 NOT NULL,
    next_ord bigint DEFAULT 0 NOT NULL,
    next_xid xid8 DEFAULT '0'::xid8 NOT NULL,
    seen_ord bigint DEFAULT 0 NOT NULL,
    CONSTRAINT usage_fence_id_check CHECK ((id = 1))
)
WITH (fillfactor='50');
ALTER TABLE public.usage_fence OWNER TO falaj_owner;

-- Name: TABLE usage_fence; Type: COMMENT; Schema: public; Owner: falaj_owner
COMMENT ON TABLE public.usage_fence IS 'Up to where the leader has summed up charges into budgets; one row';

-- Name: usage_open; Type: VIEW; Schema: public; Owner: falaj_owner
CREATE VIEW public.usage_open WITH (security_invoker='true') AS
 SELECT a.tenant_id,
    a.attempt_id,
    a.job_id,
    j.project_id,
    j.queue,
    n.zone,
    n.pool,
    n.flavor,
    a.slots,
    a.gpus,
    u.wall_ms,
    (u.wall_ms * a.slots) AS slot_ms,
    (u.wall_ms * a.gpus) AS gpu_ms,
    e.energy_mj,
    public.usage_money_micro((u.wall_ms * a.slots), (u.wall_ms * a.gpus), p.slot_hour, p.gpu_hour, e.energy_mj, p.kwh) AS money_micro,
    COALESCE(p.currency, ''::text) AS currency
   FROM (((((public.attempt a
     JOIN public.job j ON (((j.tenant_id = a.tenant_id) AND (j.job_id = a.job_id))))
     JOIN public.node n ON ((n.node_id = a.node_id)))
     LEFT JOIN LATERAL ( SELECT price.slot_hour,
            price.gpu_hour,
            price.kwh,
            price.slot_watts,
            price.gpu_watts,
            price.currency
           FROM public.price
          WHERE ((price.flavor = n.flavor) AND (price.valid_from <= a.leased_at))
          ORDER BY price.valid_from DESC
         LIMIT 1) p ON (true))
     CROSS JOIN LATERAL ( SELECT (GREATEST((0)::numeric, (EXTRACT(epoch FROM (clock_timestamp() - COALESCE(a.started_at, a.leased_at))) * (1000)::numeric)))::bigint AS wall_ms) u)
     CROSS JOIN LATERAL ( SELECT public.usage_energy_mj((u.wall_ms * a.slots), (u.wall_ms * a.gpus), p.slot_watts, p.gpu_watts) AS energy_mj) e)
  WHERE a.live;
ALTER TABLE public.usage_open OWNER TO falaj_owner;

-- Name: wrapped_data_key; Type: VIEW; Schema: public; Owner: falaj_owner
CREATE VIEW public.wrapped_data_key WITH (security_invoker='true') AS
 SELECT d.tenant_id,
    d.dek_id AS key_id,
    d.zone,
    d.key_version,
    d.wrapped,
    o.kind,
    o.object_id,
    o.version AS object_version,
    false AS is_person
   FROM (public.dek d
     JOIN public.object o ON (((o.tenant_id = d.tenant_id) AND (o.object_id = d.object_id))))
  WHERE (d.wrapped IS NOT NULL)
UNION ALL
 SELECT s.tenant_id,
    s.key_id,
    s.zone,
    s.key_version,
    s.wrapped,
    'audit-subject'::text AS kind,
    s.key_id AS object_id,
    1 AS object_version,
    true AS is_person
   FROM public.audit_subject_key s
  WHERE (s.wrapped IS NOT NULL);
ALTER TABLE public.wrapped_data_key OWNER TO falaj_owner;

-- Name: zone_clock; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.zone_clock (
    zone text NOT NULL,
    version bigint NOT NULL,
    n bigint NOT NULL,
    regime text NOT NULL,
    name text NOT NULL,
    hours bigint,
    source_text text NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    valid_to timestamp with time zone,
    CONSTRAINT zone_clock_check CHECK ((valid_to > valid_from)),
    CONSTRAINT zone_clock_hours_check CHECK ((hours > 0)),
    CONSTRAINT zone_clock_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text))
);
ALTER TABLE public.zone_clock OWNER TO falaj_owner;

-- Name: zone_law; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.zone_law (
    zone text NOT NULL,
    version bigint NOT NULL,
    law jsonb NOT NULL,
    approval_id uuid,
    approved_by uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    set_by uuid NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT zone_law_version_check CHECK ((version > 0))
);
ALTER TABLE public.zone_law OWNER TO falaj_owner;

-- Name: zone_rule; Type: TABLE; Schema: public; Owner: falaj_owner
CREATE TABLE public.zone_rule (
    zone text NOT NULL,
    version bigint NOT NULL,
    n bigint NOT NULL,
    regime text NOT NULL,
    data_class text NOT NULL,
    may_leave text NOT NULL,
    countries text[] DEFAULT '{}'::text[] NOT NULL,
    source_text text NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    valid_to timestamp with time zone,
    CONSTRAINT zone_rule_check CHECK ((valid_to > valid_from)),
    CONSTRAINT zone_rule_data_class_check CHECK ((data_class = ANY (public.data_classes()))),
    CONSTRAINT zone_rule_may_leave_check CHECK ((may_leave = ANY (ARRAY['never'::text, 'with_basis'::text, 'free'::text]))),
    CONSTRAINT zone_rule_regime_check CHECK ((regime ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text))
);
ALTER TABLE public.zone_rule OWNER TO falaj_owner;

-- Name: api_token api_token_hash_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.api_token
    ADD CONSTRAINT api_token_hash_key UNIQUE (hash);

-- Name: api_token api_token_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.api_token
    ADD CONSTRAINT api_token_pkey PRIMARY KEY (tenant_id, token_id);

-- Name: app_user app_user_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.app_user
    ADD CONSTRAINT app_user_pkey PRIMARY KEY (tenant_id, user_id);

-- Name: app_user app_user_tenant_id_name_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.app_user
    ADD CONSTRAINT app_user_tenant_id_name_key UNIQUE (tenant_id, name);

-- Name: approval_decision approval_decision_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.approval_decision
    ADD CONSTRAINT approval_decision_pkey PRIMARY KEY (tenant_id, approval_id, user_id);

-- Name: approval approval_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.approval
    ADD CONSTRAINT approval_pkey PRIMARY KEY (tenant_id, approval_id);

-- Name: array_dependency array_dependency_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.array_dependency
    ADD CONSTRAINT array_dependency_pkey PRIMARY KEY (tenant_id, job_id, array_id, type);

-- Name: array_task array_task_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.array_task
    ADD CONSTRAINT array_task_pkey PRIMARY KEY (tenant_id, array_id, task_index, try);

-- Name: array_task array_task_tenant_id_job_id_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.array_task
    ADD CONSTRAINT array_task_tenant_id_job_id_key UNIQUE (tenant_id, job_id);

-- Name: attempt_idle attempt_idle_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.attempt_idle
    ADD CONSTRAINT attempt_idle_pkey PRIMARY KEY (tenant_id, attempt_id, rank);

-- Name: attempt_member attempt_member_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.attempt_member
    ADD CONSTRAINT attempt_member_pkey PRIMARY KEY (tenant_id, attempt_id, rank);

-- Name: attempt_member attempt_member_tenant_id_attempt_id_node_id_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.attempt_member
    ADD CONSTRAINT attempt_member_tenant_id_attempt_id_node_id_key UNIQUE (tenant_id, attempt_id, node_id);

-- Name: attempt attempt_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.attempt
    ADD CONSTRAINT attempt_pkey PRIMARY KEY (tenant_id, attempt_id);

-- Name: attempt attempt_tenant_id_job_id_fence_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.attempt
    ADD CONSTRAINT attempt_tenant_id_job_id_fence_key UNIQUE (tenant_id, job_id, fence);

-- Name: audit_anchor audit_anchor_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.audit_anchor
    ADD CONSTRAINT audit_anchor_pkey PRIMARY KEY (tenant_id, anchor_id);

-- Name: audit_backlog audit_backlog_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.audit_backlog
    ADD CONSTRAINT audit_backlog_pkey PRIMARY KEY (tenant_id, event_id);

-- Name: audit_cursor audit_cursor_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.audit_cursor
    ADD CONSTRAINT audit_cursor_pkey PRIMARY KEY (id);

-- Name: audit_event audit_event_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.audit_event
    ADD CONSTRAINT audit_event_pkey PRIMARY KEY (tenant_id, event_id);

-- Name: audit_export audit_export_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.audit_export
    ADD CONSTRAINT audit_export_pkey PRIMARY KEY (tenant_id, export_id);

-- Name: audit_gone audit_gone_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.audit_gone
    ADD CONSTRAINT audit_gone_pkey PRIMARY KEY (tenant_id, thing_id);

-- Name: audit_head audit_head_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.audit_head
    ADD CONSTRAINT audit_head_pkey PRIMARY KEY (tenant_id, size);

-- Name: audit_hold audit_hold_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.audit_hold
    ADD CONSTRAINT audit_hold_pkey PRIMARY KEY (tenant_id, hold_id);

-- Name: audit_log_state audit_log_state_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.audit_log_state
    ADD CONSTRAINT audit_log_state_pkey PRIMARY KEY (tenant_id);

-- Name: audit_page audit_page_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.audit_page
    ADD CONSTRAINT audit_page_pkey PRIMARY KEY (tenant_id, first_tseq);

-- Name: audit_retention audit_retention_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.audit_retention
    ADD CONSTRAINT audit_retention_pkey PRIMARY KEY (tenant_id, class, zone);

-- Name: audit_seq audit_seq_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.audit_seq
    ADD CONSTRAINT audit_seq_pkey PRIMARY KEY (tenant_id, tseq);

-- Name: audit_shadow audit_shadow_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.audit_shadow
    ADD CONSTRAINT audit_shadow_pkey PRIMARY KEY (tenant_id, shadow_id);

-- Name: audit_subject_key audit_subject_key_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.audit_subject_key
    ADD CONSTRAINT audit_subject_key_pkey PRIMARY KEY (tenant_id, subject_id);

-- Name: audit_subject_key audit_subject_key_tenant_id_key_id_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.audit_subject_key
    ADD CONSTRAINT audit_subject_key_tenant_id_key_id_key UNIQUE (tenant_id, key_id);

-- Name: audit_task audit_task_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.audit_task
    ADD CONSTRAINT audit_task_pkey PRIMARY KEY (name);

-- Name: auth_key auth_key_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.auth_key
    ADD CONSTRAINT auth_key_pkey PRIMARY KEY (zone);

-- Name: break_glass break_glass_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.break_glass
    ADD CONSTRAINT break_glass_pkey PRIMARY KEY (tenant_id, approval_id);

-- Name: budget budget_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.budget
    ADD CONSTRAINT budget_pkey PRIMARY KEY (tenant_id, budget_id);

-- Name: budget budget_tenant_id_name_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.budget
    ADD CONSTRAINT budget_tenant_id_name_key UNIQUE (tenant_id, name);

-- Name: change_swept change_swept_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.change_swept
    ADD CONSTRAINT change_swept_pkey PRIMARY KEY (id);

-- Name: checkpoint checkpoint_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.checkpoint
    ADD CONSTRAINT checkpoint_pkey PRIMARY KEY (tenant_id, job_id, object_id);

-- Name: database_epoch database_epoch_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.database_epoch
    ADD CONSTRAINT database_epoch_pkey PRIMARY KEY (id);

-- Name: dataset dataset_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.dataset
    ADD CONSTRAINT dataset_pkey PRIMARY KEY (tenant_id, dataset_id);

-- Name: dataset dataset_tenant_id_name_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.dataset
    ADD CONSTRAINT dataset_tenant_id_name_key UNIQUE (tenant_id, name);

-- Name: dataset_version dataset_version_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.dataset_version
    ADD CONSTRAINT dataset_version_pkey PRIMARY KEY (tenant_id, dataset_id, version);

-- Name: dek dek_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.dek
    ADD CONSTRAINT dek_pkey PRIMARY KEY (tenant_id, dek_id);

-- Name: dek dek_tenant_id_object_id_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.dek
    ADD CONSTRAINT dek_tenant_id_object_id_key UNIQUE (tenant_id, object_id);

-- Name: deployment_minute deployment_minute_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.deployment_minute
    ADD CONSTRAINT deployment_minute_pkey PRIMARY KEY (tenant_id, deployment_id, minute, writer_id);

-- Name: deployment deployment_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.deployment
    ADD CONSTRAINT deployment_pkey PRIMARY KEY (tenant_id, deployment_id);

-- Name: device_grant device_grant_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.device_grant
    ADD CONSTRAINT device_grant_pkey PRIMARY KEY (device_hash);

-- Name: device_grant device_grant_user_hash_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.device_grant
    ADD CONSTRAINT device_grant_user_hash_key UNIQUE (user_hash);

-- Name: engine engine_name_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.engine
    ADD CONSTRAINT engine_name_key UNIQUE (name);

-- Name: engine engine_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.engine
    ADD CONSTRAINT engine_pkey PRIMARY KEY (engine_id);

-- Name: engine_run engine_run_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.engine_run
    ADD CONSTRAINT engine_run_pkey PRIMARY KEY (run_id);

-- Name: engine engine_zone_pool_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.engine
    ADD CONSTRAINT engine_zone_pool_key UNIQUE (zone, pool);

-- Name: environment_key environment_key_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.environment_key
    ADD CONSTRAINT environment_key_pkey PRIMARY KEY (tenant_id, key_id);

-- Name: environment_key environment_key_tenant_id_name_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.environment_key
    ADD CONSTRAINT environment_key_tenant_id_name_key UNIQUE (tenant_id, name);

-- Name: environment_key environment_key_tenant_id_public_key_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.environment_key
    ADD CONSTRAINT environment_key_tenant_id_public_key_key UNIQUE (tenant_id, public_key);

-- Name: environment environment_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.environment
    ADD CONSTRAINT environment_pkey PRIMARY KEY (tenant_id, environment_id);

-- Name: environment_policy environment_policy_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.environment_policy
    ADD CONSTRAINT environment_policy_pkey PRIMARY KEY (tenant_id);

-- Name: environment_signature environment_signature_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.environment_signature
    ADD CONSTRAINT environment_signature_pkey PRIMARY KEY (tenant_id, digest);

-- Name: erasure_certificate erasure_certificate_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.erasure_certificate
    ADD CONSTRAINT erasure_certificate_pkey PRIMARY KEY (tenant_id, certificate_id);

-- Name: federated_role federated_role_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.federated_role
    ADD CONSTRAINT federated_role_pkey PRIMARY KEY (tenant_id, provider_id, binding_id);

-- Name: federated_user federated_user_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.federated_user
    ADD CONSTRAINT federated_user_pkey PRIMARY KEY (tenant_id, provider_id, subject);

-- Name: group_member group_member_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.group_member
    ADD CONSTRAINT group_member_pkey PRIMARY KEY (tenant_id, group_id, user_id);

-- Name: idempotency idempotency_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (tenant_id, principal_id, route, key);

-- Name: identity_provider identity_provider_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.identity_provider
    ADD CONSTRAINT identity_provider_pkey PRIMARY KEY (tenant_id, provider_id);

-- Name: identity_provider identity_provider_tenant_id_name_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.identity_provider
    ADD CONSTRAINT identity_provider_tenant_id_name_key UNIQUE (tenant_id, name);

-- Name: idle_policy idle_policy_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.idle_policy
    ADD CONSTRAINT idle_policy_pkey PRIMARY KEY (tenant_id);

-- Name: inside_policy inside_policy_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.inside_policy
    ADD CONSTRAINT inside_policy_pkey PRIMARY KEY (tenant_id);

-- Name: invitation invitation_hash_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.invitation
    ADD CONSTRAINT invitation_hash_key UNIQUE (hash);

-- Name: invitation invitation_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.invitation
    ADD CONSTRAINT invitation_pkey PRIMARY KEY (tenant_id, invitation_id);

-- Name: issuer issuer_issuer_audience_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.issuer
    ADD CONSTRAINT issuer_issuer_audience_key UNIQUE (issuer, audience);

-- Name: issuer issuer_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.issuer
    ADD CONSTRAINT issuer_pkey PRIMARY KEY (tenant_id, issuer_id);

-- Name: issuer_subject issuer_subject_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.issuer_subject
    ADD CONSTRAINT issuer_subject_pkey PRIMARY KEY (tenant_id, issuer_id, subject);

-- Name: issuer issuer_tenant_id_name_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.issuer
    ADD CONSTRAINT issuer_tenant_id_name_key UNIQUE (tenant_id, name);

-- Name: job_array job_array_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.job_array
    ADD CONSTRAINT job_array_pkey PRIMARY KEY (tenant_id, array_id);

-- Name: job_dependency job_dependency_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.job_dependency
    ADD CONSTRAINT job_dependency_pkey PRIMARY KEY (tenant_id, job_id, on_job_id, type);

-- Name: job_edge job_edge_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.job_edge
    ADD CONSTRAINT job_edge_pkey PRIMARY KEY (from_state, event, to_state);

-- Name: job_end job_end_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.job_end
    ADD CONSTRAINT job_end_pkey PRIMARY KEY (tenant_id);

-- Name: job_event job_event_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.job_event
    ADD CONSTRAINT job_event_pkey PRIMARY KEY (tenant_id, job_id, version);

-- Name: job_log job_log_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.job_log
    ADD CONSTRAINT job_log_pkey PRIMARY KEY (tenant_id, job_id, log_id);

-- Name: job_metric job_metric_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.job_metric
    ADD CONSTRAINT job_metric_pkey PRIMARY KEY (tenant_id, job_id, metric_id);

-- Name: job_object job_object_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.job_object
    ADD CONSTRAINT job_object_pkey PRIMARY KEY (tenant_id, job_id, direction, name, fence);

-- Name: job_page job_page_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.job_page
    ADD CONSTRAINT job_page_pkey PRIMARY KEY (tenant_id, last_id);

-- Name: job job_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (tenant_id, job_id);

-- Name: job_session job_session_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.job_session
    ADD CONSTRAINT job_session_pkey PRIMARY KEY (tenant_id, session_id);

-- Name: join_token join_token_hash_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.join_token
    ADD CONSTRAINT join_token_hash_key UNIQUE (hash);

-- Name: join_token join_token_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.join_token
    ADD CONSTRAINT join_token_pkey PRIMARY KEY (join_token_id);

-- Name: jwt_used jwt_used_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.jwt_used
    ADD CONSTRAINT jwt_used_pkey PRIMARY KEY (tenant_id, issuer_id, jti_hash);

-- Name: key_edge key_edge_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.key_edge
    ADD CONSTRAINT key_edge_pkey PRIMARY KEY (from_state, to_state);

-- Name: key_rewrap key_rewrap_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.key_rewrap
    ADD CONSTRAINT key_rewrap_pkey PRIMARY KEY (tenant_id, rewrap_id);

-- Name: ledger_entry ledger_entry_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.ledger_entry
    ADD CONSTRAINT ledger_entry_pkey PRIMARY KEY (tenant_id, transaction_id, line);

-- Name: legal_clock legal_clock_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.legal_clock
    ADD CONSTRAINT legal_clock_pkey PRIMARY KEY (tenant_id, clock_id);

-- Name: login_guard login_guard_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.login_guard
    ADD CONSTRAINT login_guard_pkey PRIMARY KEY (key);

-- Name: model model_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.model
    ADD CONSTRAINT model_pkey PRIMARY KEY (tenant_id, model_id);

-- Name: model model_tenant_id_name_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.model
    ADD CONSTRAINT model_tenant_id_name_key UNIQUE (tenant_id, name);

-- Name: model_version model_version_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.model_version
    ADD CONSTRAINT model_version_pkey PRIMARY KEY (tenant_id, model_id, version);

-- Name: node_cert node_cert_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.node_cert
    ADD CONSTRAINT node_cert_pkey PRIMARY KEY (fingerprint);

-- Name: node node_identity_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.node
    ADD CONSTRAINT node_identity_key UNIQUE (identity);

-- Name: node node_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.node
    ADD CONSTRAINT node_pkey PRIMARY KEY (node_id);

-- Name: notice_cursor notice_cursor_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.notice_cursor
    ADD CONSTRAINT notice_cursor_pkey PRIMARY KEY (tenant_id);

-- Name: notice_delivery notice_delivery_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.notice_delivery
    ADD CONSTRAINT notice_delivery_pkey PRIMARY KEY (tenant_id, delivery_id);

-- Name: notice_delivery notice_delivery_tenant_id_target_source_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.notice_delivery
    ADD CONSTRAINT notice_delivery_tenant_id_target_source_key UNIQUE (tenant_id, target, source);

-- Name: notice_person notice_person_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.notice_person
    ADD CONSTRAINT notice_person_pkey PRIMARY KEY (tenant_id, user_id);

-- Name: notice_rule notice_rule_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.notice_rule
    ADD CONSTRAINT notice_rule_pkey PRIMARY KEY (tenant_id, notification_id);

-- Name: notice_rule notice_rule_tenant_id_name_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.notice_rule
    ADD CONSTRAINT notice_rule_tenant_id_name_key UNIQUE (tenant_id, name);

-- Name: object object_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.object
    ADD CONSTRAINT object_pkey PRIMARY KEY (tenant_id, object_id);

-- Name: oidc_login oidc_login_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.oidc_login
    ADD CONSTRAINT oidc_login_pkey PRIMARY KEY (state_hash);

-- Name: password password_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.password
    ADD CONSTRAINT password_pkey PRIMARY KEY (tenant_id, user_id);

-- Name: person_origin person_origin_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.person_origin
    ADD CONSTRAINT person_origin_pkey PRIMARY KEY (tenant_id, user_id, maker, what);

-- Name: price price_flavor_valid_from_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.price
    ADD CONSTRAINT price_flavor_valid_from_key UNIQUE (flavor, valid_from);

-- Name: price price_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.price
    ADD CONSTRAINT price_pkey PRIMARY KEY (price_id);

-- Name: priority_class priority_class_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.priority_class
    ADD CONSTRAINT priority_class_pkey PRIMARY KEY (class);

-- Name: project project_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.project
    ADD CONSTRAINT project_pkey PRIMARY KEY (tenant_id, project_id);

-- Name: project project_tenant_id_name_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.project
    ADD CONSTRAINT project_tenant_id_name_key UNIQUE (tenant_id, name);

-- Name: queue queue_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.queue
    ADD CONSTRAINT queue_pkey PRIMARY KEY (tenant_id, queue_id);

-- Name: quota quota_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.quota
    ADD CONSTRAINT quota_pkey PRIMARY KEY (tenant_id, resource);

-- Name: quota_rule quota_rule_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.quota_rule
    ADD CONSTRAINT quota_rule_pkey PRIMARY KEY (tenant_id, rule_id);

-- Name: recovery_code recovery_code_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.recovery_code
    ADD CONSTRAINT recovery_code_pkey PRIMARY KEY (tenant_id, user_id, hash);

-- Name: registry_host registry_host_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.registry_host
    ADD CONSTRAINT registry_host_pkey PRIMARY KEY (registry_id);

-- Name: registry_host registry_host_zone_host_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.registry_host
    ADD CONSTRAINT registry_host_zone_host_key UNIQUE (zone, host);

-- Name: reservation_machine reservation_machine_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.reservation_machine
    ADD CONSTRAINT reservation_machine_pkey PRIMARY KEY (reservation_id, node_id);

-- Name: reservation reservation_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.reservation
    ADD CONSTRAINT reservation_pkey PRIMARY KEY (reservation_id);

-- Name: reservation_revision reservation_revision_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.reservation_revision
    ADD CONSTRAINT reservation_revision_pkey PRIMARY KEY (id);

-- Name: residency_revision residency_revision_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.residency_revision
    ADD CONSTRAINT residency_revision_pkey PRIMARY KEY (id);

-- Name: role_binding role_binding_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.role_binding
    ADD CONSTRAINT role_binding_pkey PRIMARY KEY (tenant_id, binding_id);

-- Name: root_key root_key_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.root_key
    ADD CONSTRAINT root_key_pkey PRIMARY KEY (zone, version);

-- Name: saved_view saved_view_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.saved_view
    ADD CONSTRAINT saved_view_pkey PRIMARY KEY (tenant_id, view_id);

-- Name: saved_view saved_view_tenant_id_owner_id_list_name_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.saved_view
    ADD CONSTRAINT saved_view_tenant_id_owner_id_list_name_key UNIQUE (tenant_id, owner_id, list, name);

-- Name: scheduler_round scheduler_round_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.scheduler_round
    ADD CONSTRAINT scheduler_round_pkey PRIMARY KEY (id);

-- Name: schema_function schema_function_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_migrate
ALTER TABLE ONLY public.schema_function
    ADD CONSTRAINT schema_function_pkey PRIMARY KEY (name);

-- Name: schema_migration schema_migration_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_migrate
ALTER TABLE ONLY public.schema_migration
    ADD CONSTRAINT schema_migration_pkey PRIMARY KEY (version);

-- Name: scim_user scim_user_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.scim_user
    ADD CONSTRAINT scim_user_pkey PRIMARY KEY (tenant_id, user_id);

-- Name: scim_user scim_user_tenant_id_external_id_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.scim_user
    ADD CONSTRAINT scim_user_tenant_id_external_id_key UNIQUE (tenant_id, external_id);

-- Name: secret secret_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.secret
    ADD CONSTRAINT secret_pkey PRIMARY KEY (tenant_id, secret_id);

-- Name: secret_version secret_version_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.secret_version
    ADD CONSTRAINT secret_version_pkey PRIMARY KEY (tenant_id, secret_id, version);

-- Name: secret_version secret_version_tenant_id_object_id_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.secret_version
    ADD CONSTRAINT secret_version_tenant_id_object_id_key UNIQUE (tenant_id, object_id);

-- Name: session session_hash_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_hash_key UNIQUE (hash);

-- Name: session session_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_pkey PRIMARY KEY (tenant_id, session_id);

-- Name: shared_environment shared_environment_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.shared_environment
    ADD CONSTRAINT shared_environment_pkey PRIMARY KEY (shared_id);

-- Name: shared_environment shared_environment_zone_digest_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.shared_environment
    ADD CONSTRAINT shared_environment_zone_digest_key UNIQUE (zone, digest);

-- Name: tenant_kept tenant_kept_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.tenant_kept
    ADD CONSTRAINT tenant_kept_pkey PRIMARY KEY (table_name);

-- Name: tenant_key tenant_key_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.tenant_key
    ADD CONSTRAINT tenant_key_pkey PRIMARY KEY (tenant_id, zone, version);

-- Name: tenant tenant_name_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.tenant
    ADD CONSTRAINT tenant_name_key UNIQUE (name);

-- Name: tenant tenant_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.tenant
    ADD CONSTRAINT tenant_pkey PRIMARY KEY (tenant_id);

-- Name: tenant_zone tenant_zone_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.tenant_zone
    ADD CONSTRAINT tenant_zone_pkey PRIMARY KEY (tenant_id, data_class, zone);

-- Name: totp totp_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.totp
    ADD CONSTRAINT totp_pkey PRIMARY KEY (tenant_id, user_id);

-- Name: transfer transfer_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.transfer
    ADD CONSTRAINT transfer_pkey PRIMARY KEY (tenant_id, transfer_id);

-- Name: transfer_policy transfer_policy_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.transfer_policy
    ADD CONSTRAINT transfer_policy_pkey PRIMARY KEY (tenant_id, policy_id);

-- Name: transfer transfer_tenant_id_dataset_id_version_to_zone_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.transfer
    ADD CONSTRAINT transfer_tenant_id_dataset_id_version_to_zone_key UNIQUE (tenant_id, dataset_id, version, to_zone);

-- Name: upload_part upload_part_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.upload_part
    ADD CONSTRAINT upload_part_pkey PRIMARY KEY (tenant_id, upload_id, start);

-- Name: upload upload_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.upload
    ADD CONSTRAINT upload_pkey PRIMARY KEY (tenant_id, upload_id);

-- Name: usage_fence usage_fence_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.usage_fence
    ADD CONSTRAINT usage_fence_pkey PRIMARY KEY (id);

-- Name: usage_record usage_record_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.usage_record
    ADD CONSTRAINT usage_record_pkey PRIMARY KEY (tenant_id, attempt_id);

-- Name: user_group user_group_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.user_group
    ADD CONSTRAINT user_group_pkey PRIMARY KEY (tenant_id, group_id);

-- Name: user_group user_group_tenant_id_external_id_key; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.user_group
    ADD CONSTRAINT user_group_tenant_id_external_id_key UNIQUE (tenant_id, external_id);

-- Name: zone_clock zone_clock_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.zone_clock
    ADD CONSTRAINT zone_clock_pkey PRIMARY KEY (zone, version, n);

-- Name: zone_law zone_law_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.zone_law
    ADD CONSTRAINT zone_law_pkey PRIMARY KEY (zone, version);

-- Name: zone zone_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.zone
    ADD CONSTRAINT zone_pkey PRIMARY KEY (code);

-- Name: zone_rule zone_rule_pkey; Type: CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.zone_rule
    ADD CONSTRAINT zone_rule_pkey PRIMARY KEY (zone, version, n);

-- Name: api_token_ends; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX api_token_ends ON public.api_token USING btree (tenant_id, expires_at, token_id);

-- Name: api_token_revoked; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX api_token_revoked ON public.api_token USING btree (tenant_id, token_id) WHERE (revoked_at IS NOT NULL);

-- Name: api_token_search; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX api_token_search ON public.api_token USING gin (tenant_id, name public.gin_trgm_ops);

-- Name: api_token_unrevoked; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX api_token_unrevoked ON public.api_token USING btree (tenant_id, token_id) WHERE (revoked_at IS NULL);

-- Name: api_token_user; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX api_token_user ON public.api_token USING btree (tenant_id, user_id);

-- Name: app_user_folded; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX app_user_folded ON public.app_user USING btree (tenant_id, lower(name));

-- Name: app_user_id; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX app_user_id ON public.app_user USING btree (user_id);

-- Name: app_user_kind; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX app_user_kind ON public.app_user USING btree (tenant_id, kind, user_id);

-- Name: app_user_kind_name; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX app_user_kind_name ON public.app_user USING btree (tenant_id, kind, name);

-- Name: app_user_search; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX app_user_search ON public.app_user USING gin (tenant_id, name public.gin_trgm_ops);

-- Name: app_user_state; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX app_user_state ON public.app_user USING btree (tenant_id, state, user_id);

-- Name: app_user_state_name; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX app_user_state_name ON public.app_user USING btree (tenant_id, state, name);

-- Name: approval_pending; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE UNIQUE INDEX approval_pending ON public.approval USING btree (tenant_id, kind, subject) WHERE (state = 'PENDING'::text);

-- Name: array_dependency_open; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX array_dependency_open ON public.array_dependency USING btree (tenant_id, array_id) WHERE open;

-- Name: array_task_again; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX array_task_again ON public.array_task USING btree (tenant_id, array_id, task_index) WHERE again;

-- Name: array_task_live; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX array_task_live ON public.array_task USING btree (tenant_id, array_id, job_id) WHERE live;

-- Name: array_task_newest; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE UNIQUE INDEX array_task_newest ON public.array_task USING btree (tenant_id, array_id, task_index) WHERE newest;

-- Name: attempt_evict; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX attempt_evict ON public.attempt USING btree (evict_until) WHERE (live AND (evict_until IS NOT NULL));

-- Name: attempt_live; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX attempt_live ON public.attempt USING btree (node_id, attempt_id) WHERE live;

-- Name: attempt_live_tenant; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX attempt_live_tenant ON public.attempt USING btree (tenant_id, attempt_id) WHERE live;

-- Name: attempt_member_live; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX attempt_member_live ON public.attempt_member USING btree (node_id, attempt_id) WHERE live;

-- Name: attempt_notice; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX attempt_notice ON public.attempt USING btree (node_id, attempt_id) WHERE (live AND (cancel_asked OR (evict_until IS NOT NULL)));

-- Name: audit_anchor_last; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX audit_anchor_last ON public.audit_anchor USING btree (tenant_id, kind, target, size);

-- Name: audit_backlog_order; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX audit_backlog_order ON public.audit_backlog USING btree (ord, event_id);

-- Name: audit_event_order; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX audit_event_order ON public.audit_event USING btree (xid, ord);

-- Name: audit_gone_name; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX audit_gone_name ON public.audit_gone USING btree (tenant_id, lower(name));

-- Name: audit_hold_active; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX audit_hold_active ON public.audit_hold USING btree (tenant_id) WHERE (state = 'ACTIVE'::text);

-- Name: audit_seq_age; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX audit_seq_age ON public.audit_seq USING brin (at);

-- Name: audit_seq_drops; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX audit_seq_drops ON public.audit_seq USING btree (tenant_id, tseq) WHERE (action = 'audit.retention'::text);

-- Name: audit_seq_event; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX audit_seq_event ON public.audit_seq USING btree (tenant_id, event_id);

-- Name: audit_seq_refused; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX audit_seq_refused ON public.audit_seq USING btree (tenant_id, tseq) WHERE ("right"(code, 1) <> 'S'::text);

-- Name: audit_seq_request; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX audit_seq_request ON public.audit_seq USING btree (tenant_id, request_id) WHERE (request_id IS NOT NULL);

-- Name: audit_shadow_new; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX audit_shadow_new ON public.audit_shadow USING btree (xid, shadow_id) WHERE (event_id IS NULL);

-- Name: audit_subject_key_version; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX audit_subject_key_version ON public.audit_subject_key USING btree (tenant_id, zone, key_version, key_id);

-- Name: dataset_class; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX dataset_class ON public.dataset USING btree (tenant_id, data_class, dataset_id);

-- Name: dataset_class_name; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX dataset_class_name ON public.dataset USING btree (tenant_id, data_class, name);

-- Name: dataset_creator; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX dataset_creator ON public.dataset USING btree (tenant_id, created_by, dataset_id);

-- Name: dataset_project; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX dataset_project ON public.dataset USING btree (tenant_id, project_id, dataset_id);

-- Name: dataset_search; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX dataset_search ON public.dataset USING gin (tenant_id, (((((name || ' '::text) || display_name) || ' '::text) || display_name_ar)) public.gin_trgm_ops);

-- Name: dataset_version_object; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX dataset_version_object ON public.dataset_version USING btree (tenant_id, object_id);

-- Name: dek_version; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX dek_version ON public.dek USING btree (tenant_id, zone, key_version, dek_id);

-- Name: deployment_creator; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX deployment_creator ON public.deployment USING btree (tenant_id, created_by, deployment_id) WHERE (state = 'ACTIVE'::text);

-- Name: deployment_job; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX deployment_job ON public.deployment USING btree (tenant_id, job_id) WHERE (state = 'ACTIVE'::text);

-- Name: deployment_minute_old; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX deployment_minute_old ON public.deployment_minute USING btree (minute);

-- Name: deployment_model; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX deployment_model ON public.deployment USING btree (tenant_id, model_id, deployment_id) WHERE (state = 'ACTIVE'::text);

-- Name: deployment_name; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE UNIQUE INDEX deployment_name ON public.deployment USING btree (tenant_id, name) WHERE (state = 'ACTIVE'::text);

-- Name: deployment_newest; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX deployment_newest ON public.deployment USING btree (tenant_id, deployment_id) WHERE (state = 'ACTIVE'::text);

-- Name: deployment_project; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX deployment_project ON public.deployment USING btree (tenant_id, project_id, deployment_id) WHERE (state = 'ACTIVE'::text);

-- Name: deployment_rolling; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX deployment_rolling ON public.deployment USING btree (tenant_id, deployment_id) WHERE ((state = 'ACTIVE'::text) AND ((next_job_id IS NOT NULL) OR (old_job_id IS NOT NULL)));

-- Name: deployment_search; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX deployment_search ON public.deployment USING gin (tenant_id, name public.gin_trgm_ops) WHERE (state = 'ACTIVE'::text);

-- Name: engine_run_ended; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX engine_run_ended ON public.engine_run USING btree (ended_at) WHERE (state = 'ENDED'::text);

-- Name: engine_run_job; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE UNIQUE INDEX engine_run_job ON public.engine_run USING btree (for_tenant, for_job) WHERE (state <> 'ENDED'::text);

-- Name: engine_run_last; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX engine_run_last ON public.engine_run USING btree (for_tenant, for_job, ended_at) WHERE (state = 'ENDED'::text);

-- Name: engine_run_left; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX engine_run_left ON public.engine_run USING btree (engine_id, ended_at) WHERE is_left;

-- Name: engine_run_open; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX engine_run_open ON public.engine_run USING btree (engine_id, run_id) WHERE (state <> 'ENDED'::text);

-- Name: environment_dataset; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX environment_dataset ON public.environment USING btree (tenant_id, dataset_id);

-- Name: environment_name; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX environment_name ON public.environment USING btree (tenant_id, name, environment_id DESC);

-- Name: environment_pulling; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX environment_pulling ON public.environment USING btree (tenant_id, job_id) WHERE (object_id IS NULL);

-- Name: federated_role_user; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX federated_role_user ON public.federated_role USING btree (tenant_id, provider_id, user_id);

-- Name: federated_user_user; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX federated_user_user ON public.federated_user USING btree (tenant_id, user_id);

-- Name: group_member_user; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX group_member_user ON public.group_member USING btree (tenant_id, user_id);

-- Name: idempotency_age; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX idempotency_age ON public.idempotency USING brin (created_at);

-- Name: job_array_open; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX job_array_open ON public.job_array USING btree (tenant_id) WHERE (ended_at IS NULL);

-- Name: job_array_turn; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX job_array_turn ON public.job_array USING btree (turn_at) WHERE ((ended_at IS NULL) AND (cancelled_at IS NULL) AND (paused = ''::text));

-- Name: job_came; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX job_came ON public.job USING btree (ready_xid) WHERE (queued AND (not_before IS NULL));

-- Name: job_change_at; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX job_change_at ON public.job_change USING btree (changed_xid);

-- Name: job_deadline; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX job_deadline ON public.job USING btree (deadline_at) WHERE ((deadline_at IS NOT NULL) AND (ended IS NULL));

-- Name: job_dependency_awaited; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX job_dependency_awaited ON public.job_dependency USING btree (tenant_id, on_job_id, type) WHERE open;

-- Name: job_due; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX job_due ON public.job USING btree (not_before) WHERE (queued AND (not_before IS NOT NULL));

-- Name: job_elastic; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX job_elastic ON public.job USING btree (tenant_id, job_id) WHERE ((ended IS NULL) AND (NOT queued) AND (nodes_max > nodes));

-- Name: job_ended_list; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX job_ended_list ON public.job USING btree (tenant_id, ended, job_id) INCLUDE (kind, created_by, pool, zone, project_id) WHERE (ended IS NOT NULL);

-- Name: job_live; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX job_live ON public.job USING btree (tenant_id, job_id) WHERE ((ended IS NULL) AND (NOT queued));

-- Name: job_page_open; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX job_page_open ON public.job_page USING btree (last_id) WHERE (NOT is_final);

-- Name: job_pool_wait; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX job_pool_wait ON public.job USING btree (pool, tenant_id, job_id) WHERE (queued AND (pool <> 'default'::text));

-- Name: job_queue; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX job_queue ON public.job USING btree (tenant_id, priority DESC, job_id) WHERE queued;

-- Name: job_ready; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX job_ready ON public.job USING btree (tenant_id, shape, priority DESC, job_id) WHERE (queued AND (not_before IS NULL));

-- Name: job_session_node; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX job_session_node ON public.job_session USING btree (node_id) WHERE (NOT joined);

-- Name: job_shared; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX job_shared ON public.job USING btree (((spec ->> 'environment'::text)), zone) WHERE ((spec ->> 'environment'::text) ~~ 'shared/%'::text);

-- Name: job_suspends; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX job_suspends ON public.job USING btree (tenant_id, job_id) WHERE (suspend_requested AND (ended IS NULL));

-- Name: jwt_used_until; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX jwt_used_until ON public.jwt_used USING btree (until);

-- Name: key_rewrap_one; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE UNIQUE INDEX key_rewrap_one ON public.key_rewrap USING btree (tenant_id, zone, kind) WHERE (state = 'RUNNING'::text);

-- Name: ledger_entry_at; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX ledger_entry_at ON public.ledger_entry USING btree (tenant_id, at) WHERE (line = 1);

-- Name: ledger_entry_ord; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX ledger_entry_ord ON public.ledger_entry USING btree (tenant_id, ord) WHERE (line = 1);

-- Name: legal_clock_due; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX legal_clock_due ON public.legal_clock USING btree (tenant_id, due_at, clock_id);

-- Name: legal_clock_open; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX legal_clock_open ON public.legal_clock USING btree (tenant_id, due_at, clock_id) WHERE (closed_at IS NULL);

-- Name: legal_clock_untold; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX legal_clock_untold ON public.legal_clock USING btree (tenant_id, due_at) WHERE ((closed_at IS NULL) AND (told < 2));

-- Name: login_guard_age; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX login_guard_age ON public.login_guard USING btree (seen_at);

-- Name: model_creator; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX model_creator ON public.model USING btree (tenant_id, created_by, model_id);

-- Name: model_project; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX model_project ON public.model USING btree (tenant_id, project_id, model_id);

-- Name: model_search; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX model_search ON public.model USING gin (tenant_id, (((((name || ' '::text) || display_name) || ' '::text) || display_name_ar)) public.gin_trgm_ops);

-- Name: model_version_object; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX model_version_object ON public.model_version USING btree (tenant_id, object_id);

-- Name: node_cert_identity; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX node_cert_identity ON public.node_cert USING btree (identity);

-- Name: node_changed; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX node_changed ON public.node USING btree (changed_xid);

-- Name: node_draining; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX node_draining ON public.node USING btree (node_id) WHERE (state = 'DRAINING'::text);

-- Name: node_pool; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX node_pool ON public.node USING btree (pool, node_id);

-- Name: node_search; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX node_search ON public.node USING gin (name public.gin_trgm_ops);

-- Name: node_zone; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX node_zone ON public.node USING btree (zone, node_id);

-- Name: notice_due; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX notice_due ON public.notice_delivery USING btree (tenant_id, kind, next_at) WHERE (state = 'WAITING'::text);

-- Name: notice_ended; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX notice_ended ON public.notice_delivery USING btree (ended_at) WHERE (state <> 'WAITING'::text);

-- Name: notice_of_rule; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX notice_of_rule ON public.notice_delivery USING btree (tenant_id, notification_id, delivery_id);

-- Name: object_place; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX object_place ON public.object USING btree (tenant_id, zone, kind, object_id) WHERE (kind = ANY (ARRAY['dataset'::text, 'model'::text]));

-- Name: oidc_login_age; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX oidc_login_age ON public.oidc_login USING btree (expires_at);

-- Name: plan_change_at; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX plan_change_at ON public.plan_change USING btree (changed_xid);

-- Name: project_search; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX project_search ON public.project USING gin (tenant_id, (((((name || ' '::text) || display_name) || ' '::text) || display_name_ar)) public.gin_trgm_ops);

-- Name: project_state; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX project_state ON public.project USING btree (tenant_id, state, project_id);

-- Name: queue_drains; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX queue_drains ON public.queue USING btree (tenant_id) WHERE (stop_policy = 'HoldAndDrain'::text);

-- Name: queue_once; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE UNIQUE INDEX queue_once ON public.queue USING btree (tenant_id, COALESCE(project_id, '00000000-0000-0000-0000-000000000000'::uuid), name);

-- Name: quota_rule_once; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE UNIQUE INDEX quota_rule_once ON public.quota_rule USING btree (tenant_id, place, COALESCE(project_id, '00000000-0000-0000-0000-000000000000'::uuid), queue, resource, flavor, zone);

-- Name: quota_rule_tenants; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX quota_rule_tenants ON public.quota_rule USING btree (resource, flavor, zone) WHERE (place = 'tenant'::text);

-- Name: reservation_for; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX reservation_for ON public.reservation USING btree (for_tenant, for_project) WHERE (for_tenant IS NOT NULL);

-- Name: reservation_from; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX reservation_from ON public.reservation USING btree (from_at, reservation_id);

-- Name: reservation_machine_node; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX reservation_machine_node ON public.reservation_machine USING btree (node_id);

-- Name: reservation_until; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX reservation_until ON public.reservation USING btree (until_at, reservation_id);

-- Name: role_binding_once; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE UNIQUE INDEX role_binding_once ON public.role_binding USING btree (tenant_id, user_id, role, place, COALESCE(zone, ''::text), COALESCE(project_id, '00000000-0000-0000-0000-000000000000'::uuid), source);

-- Name: role_binding_role; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX role_binding_role ON public.role_binding USING btree (tenant_id, role, user_id);

-- Name: role_binding_user; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX role_binding_user ON public.role_binding USING btree (tenant_id, user_id);

-- Name: saved_view_shared; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX saved_view_shared ON public.saved_view USING btree (tenant_id, list) WHERE shared;

-- Name: secret_once; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE UNIQUE INDEX secret_once ON public.secret USING btree (tenant_id, COALESCE(project_id, '00000000-0000-0000-0000-000000000000'::uuid), name);

-- Name: session_of_user; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX session_of_user ON public.session USING btree (tenant_id, user_id, session_id DESC);

-- Name: shared_environment_owner; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX shared_environment_owner ON public.shared_environment USING btree (owner_id, environment_id);

-- Name: tenant_ending; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX tenant_ending ON public.tenant USING btree (tenant_id) WHERE (state = ANY (ARRAY['SUSPENDED'::text, 'DELETING'::text]));

-- Name: tenant_key_due; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX tenant_key_due ON public.tenant_key USING btree (destroy_after) WHERE (state = 'DESTROY_SCHEDULED'::text);

-- Name: tenant_key_primary; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE UNIQUE INDEX tenant_key_primary ON public.tenant_key USING btree (tenant_id, zone) WHERE (state = 'PRIMARY'::text);

-- Name: tenant_key_root; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX tenant_key_root ON public.tenant_key USING btree (zone, root_version) WHERE (wrapped IS NOT NULL);

-- Name: tenant_search; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX tenant_search ON public.tenant USING gin ((((((name || ' '::text) || display_name) || ' '::text) || display_name_ar)) public.gin_trgm_ops);

-- Name: transfer_policy_active; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX transfer_policy_active ON public.transfer_policy USING btree (tenant_id, to_zone, data_class) WHERE (state = 'ACTIVE'::text);

-- Name: upload_due; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX upload_due ON public.upload USING btree (expires_at);

-- Name: usage_record_at; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX usage_record_at ON public.usage_record USING btree (tenant_id, ended_at) WHERE (queue IS NOT NULL);

-- Name: usage_record_ord; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE INDEX usage_record_ord ON public.usage_record USING btree (tenant_id, ord) WHERE (queue IS NOT NULL);

-- Name: user_group_name; Type: INDEX; Schema: public; Owner: falaj_owner
CREATE UNIQUE INDEX user_group_name ON public.user_group USING btree (tenant_id, lower(name));

-- Name: attempt attempt_members; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER attempt_members AFTER UPDATE ON public.attempt FOR EACH ROW WHEN (((new.nodes > 1) AND (new.state <> old.state))) EXECUTE FUNCTION public.attempt_members();

-- Name: attempt attempt_residency; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER attempt_residency AFTER INSERT ON public.attempt REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION public.attempt_residency();

-- Name: tenant audit_genesis; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_genesis AFTER INSERT ON public.tenant FOR EACH ROW EXECUTE FUNCTION public.audit_genesis();

-- Name: dataset audit_gone; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_gone AFTER DELETE ON public.dataset FOR EACH ROW EXECUTE FUNCTION public.audit_gone_note('dataset', 'dataset_id');

-- Name: model audit_gone; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_gone AFTER DELETE ON public.model FOR EACH ROW EXECUTE FUNCTION public.audit_gone_note('model', 'model_id');

-- Name: user_group audit_gone; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_gone AFTER DELETE ON public.user_group FOR EACH ROW EXECUTE FUNCTION public.audit_gone_note('group', 'group_id');

-- Name: audit_event audit_refuse; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_refuse BEFORE DELETE OR UPDATE ON public.audit_event FOR EACH ROW WHEN ((SESSION_USER = ANY ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_refuse_rewrite();
ALTER TABLE public.audit_event ENABLE ALWAYS TRIGGER audit_refuse;

-- Name: audit_head audit_refuse; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_refuse BEFORE DELETE OR UPDATE ON public.audit_head FOR EACH ROW WHEN ((SESSION_USER = ANY ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_refuse_rewrite();
ALTER TABLE public.audit_head ENABLE ALWAYS TRIGGER audit_refuse;

-- Name: audit_seq audit_refuse; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_refuse BEFORE DELETE OR UPDATE ON public.audit_seq FOR EACH ROW WHEN ((SESSION_USER = ANY ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_refuse_rewrite();
ALTER TABLE public.audit_seq ENABLE ALWAYS TRIGGER audit_refuse;

-- Name: api_token audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.api_token FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.api_token ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: app_user audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.app_user FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.app_user ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: approval audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.approval FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.approval ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: approval_decision audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.approval_decision FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.approval_decision ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: array_dependency audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.array_dependency FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.array_dependency ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: array_task audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.array_task FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.array_task ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: attempt audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.attempt FOR EACH ROW WHEN (((SESSION_USER)::text <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::text[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.attempt ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: attempt_idle audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.attempt_idle FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.attempt_idle ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: attempt_member audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.attempt_member FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.attempt_member ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: audit_anchor audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.audit_anchor FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_anchor ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: audit_backlog audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.audit_backlog FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_backlog ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: audit_event audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.audit_event FOR EACH ROW WHEN (((SESSION_USER)::text <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::text[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_event ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: audit_export audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.audit_export FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_export ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: audit_gone audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.audit_gone FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_gone ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: audit_head audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.audit_head FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_head ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: audit_hold audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.audit_hold FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_hold ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: audit_log_state audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.audit_log_state FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_log_state ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: audit_page audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.audit_page FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_page ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: audit_retention audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.audit_retention FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_retention ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: audit_seq audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.audit_seq FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_seq ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: audit_shadow audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER DELETE OR UPDATE ON public.audit_shadow FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_shadow ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: audit_subject_key audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.audit_subject_key FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_subject_key ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: auth_key audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.auth_key FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.auth_key ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: break_glass audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.break_glass FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.break_glass ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: budget audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.budget FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.budget ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: change_swept audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.change_swept FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.change_swept ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: checkpoint audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.checkpoint FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.checkpoint ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: database_epoch audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.database_epoch FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.database_epoch ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: dataset audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.dataset FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.dataset ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: dataset_version audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.dataset_version FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.dataset_version ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: dek audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.dek FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.dek ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: deployment audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.deployment FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.deployment ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: deployment_minute audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.deployment_minute FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.deployment_minute ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: device_grant audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.device_grant FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.device_grant ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: engine audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.engine FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.engine ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: engine_run audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.engine_run FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.engine_run ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: environment audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.environment FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.environment ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: environment_key audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.environment_key FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.environment_key ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: environment_policy audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.environment_policy FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.environment_policy ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: environment_signature audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.environment_signature FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.environment_signature ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: erasure_certificate audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.erasure_certificate FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.erasure_certificate ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: federated_role audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.federated_role FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.federated_role ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: federated_user audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.federated_user FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.federated_user ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: group_member audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.group_member FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.group_member ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: identity_provider audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.identity_provider FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.identity_provider ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: idle_policy audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.idle_policy FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.idle_policy ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: inside_policy audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.inside_policy FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.inside_policy ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: invitation audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.invitation FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.invitation ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: issuer audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.issuer FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.issuer ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: issuer_subject audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.issuer_subject FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.issuer_subject ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: job audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.job FOR EACH ROW WHEN (((SESSION_USER)::text <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::text[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.job ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: job_array audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.job_array FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.job_array ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: job_change audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.job_change FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.job_change ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: job_dependency audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.job_dependency FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.job_dependency ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: job_edge audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.job_edge FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.job_edge ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: job_end audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.job_end FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.job_end ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: job_event audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.job_event FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.job_event ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: job_object audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.job_object FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.job_object ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: job_page audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.job_page FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.job_page ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: job_session audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.job_session FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.job_session ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: join_token audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.join_token FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.join_token ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: jwt_used audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.jwt_used FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.jwt_used ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: key_edge audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.key_edge FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.key_edge ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: key_rewrap audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.key_rewrap FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.key_rewrap ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: ledger_entry audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.ledger_entry FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.ledger_entry ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: legal_clock audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.legal_clock FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.legal_clock ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: login_guard audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.login_guard FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.login_guard ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: model audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.model FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.model ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: model_version audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.model_version FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.model_version ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: node audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.node FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.node ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: node_cert audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.node_cert FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.node_cert ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: notice_cursor audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.notice_cursor FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.notice_cursor ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: notice_delivery audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.notice_delivery FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.notice_delivery ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: notice_person audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.notice_person FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.notice_person ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: notice_rule audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.notice_rule FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.notice_rule ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: object audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.object FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.object ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: oidc_login audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.oidc_login FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.oidc_login ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: password audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.password FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.password ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: person_origin audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.person_origin FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.person_origin ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: plan_change audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.plan_change FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.plan_change ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: price audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.price FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.price ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: priority_class audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.priority_class FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.priority_class ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: project audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.project FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.project ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: queue audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.queue FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.queue ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: quota audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.quota FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.quota ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: quota_rule audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.quota_rule FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.quota_rule ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: recovery_code audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.recovery_code FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.recovery_code ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: registry_host audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.registry_host FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.registry_host ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: reservation audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.reservation FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.reservation ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: reservation_machine audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.reservation_machine FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.reservation_machine ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: reservation_revision audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.reservation_revision FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.reservation_revision ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: residency_revision audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.residency_revision FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.residency_revision ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: role_binding audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.role_binding FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.role_binding ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: root_key audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.root_key FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.root_key ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: saved_view audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.saved_view FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.saved_view ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: scheduler_round audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.scheduler_round FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.scheduler_round ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: scim_user audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.scim_user FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.scim_user ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: secret audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.secret FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.secret ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: secret_version audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.secret_version FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.secret_version ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: session audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.session FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.session ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: shared_environment audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.shared_environment FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.shared_environment ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: tenant audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.tenant FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.tenant ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: tenant_kept audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.tenant_kept FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.tenant_kept ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: tenant_key audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.tenant_key FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.tenant_key ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: tenant_zone audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.tenant_zone FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.tenant_zone ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: totp audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.totp FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.totp ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: transfer audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.transfer FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.transfer ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: transfer_policy audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.transfer_policy FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.transfer_policy ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: upload audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.upload FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.upload ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: upload_part audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.upload_part FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.upload_part ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: usage_fence audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.usage_fence FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.usage_fence ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: usage_record audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.usage_record FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.usage_record ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: user_group audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.user_group FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.user_group ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: zone audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.zone FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.zone ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: zone_clock audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.zone_clock FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.zone_clock ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: zone_law audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.zone_law FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.zone_law ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: zone_rule audit_shadow; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow AFTER INSERT OR DELETE OR UPDATE ON public.zone_rule FOR EACH ROW WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.zone_rule ENABLE ALWAYS TRIGGER audit_shadow;

-- Name: api_token audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.api_token FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.api_token ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: app_user audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.app_user FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.app_user ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: approval audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.approval FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.approval ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: approval_decision audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.approval_decision FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.approval_decision ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: array_dependency audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.array_dependency FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.array_dependency ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: array_task audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.array_task FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.array_task ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: attempt audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.attempt FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.attempt ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: attempt_idle audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.attempt_idle FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.attempt_idle ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: attempt_member audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.attempt_member FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.attempt_member ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: audit_anchor audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.audit_anchor FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_anchor ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: audit_backlog audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.audit_backlog FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_backlog ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: audit_event audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.audit_event FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_event ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: audit_export audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.audit_export FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_export ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: audit_gone audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.audit_gone FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_gone ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: audit_head audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.audit_head FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_head ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: audit_hold audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.audit_hold FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_hold ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: audit_log_state audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.audit_log_state FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_log_state ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: audit_page audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.audit_page FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_page ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: audit_retention audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.audit_retention FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_retention ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: audit_seq audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.audit_seq FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_seq ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: audit_shadow audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.audit_shadow FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_shadow ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: audit_subject_key audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.audit_subject_key FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.audit_subject_key ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: auth_key audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.auth_key FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.auth_key ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: break_glass audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.break_glass FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.break_glass ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: budget audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.budget FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.budget ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: change_swept audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.change_swept FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.change_swept ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: checkpoint audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.checkpoint FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.checkpoint ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: database_epoch audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.database_epoch FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.database_epoch ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: dataset audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.dataset FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.dataset ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: dataset_version audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.dataset_version FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.dataset_version ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: dek audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.dek FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.dek ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: deployment audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.deployment FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.deployment ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: deployment_minute audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.deployment_minute FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.deployment_minute ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: device_grant audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.device_grant FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.device_grant ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: engine audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.engine FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.engine ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: engine_run audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.engine_run FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.engine_run ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: environment audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.environment FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.environment ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: environment_key audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.environment_key FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.environment_key ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: environment_policy audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.environment_policy FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.environment_policy ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: environment_signature audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.environment_signature FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.environment_signature ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: erasure_certificate audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.erasure_certificate FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.erasure_certificate ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: federated_role audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.federated_role FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.federated_role ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: federated_user audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.federated_user FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.federated_user ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: group_member audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.group_member FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.group_member ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: identity_provider audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.identity_provider FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.identity_provider ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: idle_policy audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.idle_policy FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.idle_policy ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: inside_policy audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.inside_policy FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.inside_policy ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: invitation audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.invitation FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.invitation ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: issuer audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.issuer FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.issuer ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: issuer_subject audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.issuer_subject FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.issuer_subject ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: job audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.job FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.job ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: job_array audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.job_array FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.job_array ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: job_change audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.job_change FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.job_change ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: job_dependency audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.job_dependency FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.job_dependency ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: job_edge audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.job_edge FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.job_edge ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: job_end audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.job_end FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.job_end ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: job_event audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.job_event FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.job_event ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: job_object audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.job_object FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.job_object ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: job_page audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.job_page FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.job_page ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: job_session audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.job_session FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.job_session ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: join_token audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.join_token FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.join_token ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: jwt_used audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.jwt_used FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.jwt_used ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: key_edge audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.key_edge FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.key_edge ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: key_rewrap audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.key_rewrap FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.key_rewrap ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: ledger_entry audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.ledger_entry FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.ledger_entry ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: legal_clock audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.legal_clock FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.legal_clock ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: login_guard audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.login_guard FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.login_guard ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: model audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.model FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.model ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: model_version audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.model_version FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.model_version ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: node audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.node FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.node ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: node_cert audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.node_cert FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.node_cert ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: notice_cursor audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.notice_cursor FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.notice_cursor ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: notice_delivery audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.notice_delivery FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.notice_delivery ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: notice_person audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.notice_person FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.notice_person ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: notice_rule audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.notice_rule FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.notice_rule ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: object audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.object FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.object ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: oidc_login audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.oidc_login FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.oidc_login ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: password audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.password FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.password ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: person_origin audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.person_origin FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.person_origin ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: plan_change audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.plan_change FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.plan_change ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: price audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.price FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.price ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: priority_class audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.priority_class FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.priority_class ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: project audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.project FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.project ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: queue audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.queue FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.queue ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: quota audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.quota FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.quota ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: quota_rule audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.quota_rule FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.quota_rule ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: recovery_code audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.recovery_code FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.recovery_code ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: registry_host audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.registry_host FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.registry_host ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: reservation audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.reservation FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.reservation ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: reservation_machine audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.reservation_machine FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.reservation_machine ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: reservation_revision audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.reservation_revision FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.reservation_revision ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: residency_revision audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.residency_revision FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.residency_revision ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: role_binding audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.role_binding FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.role_binding ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: root_key audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.root_key FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.root_key ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: saved_view audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.saved_view FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.saved_view ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: scheduler_round audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.scheduler_round FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.scheduler_round ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: scim_user audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.scim_user FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.scim_user ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: secret audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.secret FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.secret ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: secret_version audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.secret_version FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.secret_version ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: session audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.session FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.session ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: shared_environment audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.shared_environment FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.shared_environment ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: tenant audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.tenant FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.tenant ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: tenant_kept audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.tenant_kept FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.tenant_kept ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: tenant_key audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.tenant_key FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.tenant_key ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: tenant_zone audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.tenant_zone FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.tenant_zone ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: totp audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.totp FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.totp ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: transfer audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.transfer FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.transfer ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: transfer_policy audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.transfer_policy FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.transfer_policy ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: upload audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.upload FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.upload ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: upload_part audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.upload_part FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.upload_part ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: usage_fence audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.usage_fence FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.usage_fence ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: usage_record audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.usage_record FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.usage_record ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: user_group audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.user_group FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.user_group ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: zone audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.zone FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.zone ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: zone_clock audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.zone_clock FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.zone_clock ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: zone_law audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.zone_law FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.zone_law ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: zone_rule audit_shadow_truncate; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON public.zone_rule FOR EACH STATEMENT WHEN ((SESSION_USER <> ALL ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}'::name[]))) EXECUTE FUNCTION public.audit_shadow_note();
ALTER TABLE public.zone_rule ENABLE ALWAYS TRIGGER audit_shadow_truncate;

-- Name: budget budget_guard; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER budget_guard AFTER INSERT OR DELETE OR UPDATE OF stop_percent ON public.budget FOR EACH ROW EXECUTE FUNCTION public.quota_guard();

-- Name: job_change changes_swept; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER changes_swept AFTER DELETE ON public.job_change REFERENCING OLD TABLE AS swept FOR EACH STATEMENT EXECUTE FUNCTION public.changes_swept();

-- Name: plan_change changes_swept; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER changes_swept AFTER DELETE ON public.plan_change REFERENCING OLD TABLE AS swept FOR EACH STATEMENT EXECUTE FUNCTION public.changes_swept();

-- Name: engine engine_changed; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER engine_changed AFTER INSERT OR DELETE OR UPDATE OF name, zone, pool ON public.engine FOR EACH STATEMENT EXECUTE FUNCTION public.residency_changed();

-- Name: job job_cancel_told; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER job_cancel_told AFTER UPDATE OF cancel_requested ON public.job FOR EACH ROW WHEN ((new.cancel_requested <> old.cancel_requested)) EXECUTE FUNCTION public.job_cancel_told();

-- Name: job job_changed; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER job_changed AFTER UPDATE OF queued, priority, shape, not_before, cancel_requested, max_runtime_s ON public.job FOR EACH ROW WHEN (((old.queued OR new.queued) AND (NOT (old.queued AND (new.state = 'ADMITTED'::text))) AND (((((((old.queued IS DISTINCT FROM new.queued) OR (old.priority IS DISTINCT FROM new.priority)) OR (old.shape IS DISTINCT FROM new.shape)) OR (old.not_before IS DISTINCT FROM new.not_before)) OR (old.cancel_requested IS DISTINCT FROM new.cancel_requested)) OR (old.max_runtime_s IS DISTINCT FROM new.max_runtime_s)) OR (old.version IS DISTINCT FROM new.version)))) EXECUTE FUNCTION public.job_changed();

-- Name: job job_edge; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER job_edge AFTER UPDATE OF state ON public.job FOR EACH ROW WHEN ((concat(old.state, '>', new.state, (new.version - old.version), (new.fence - old.fence)) <> ALL ('{PENDING>ADMITTED11,ADMITTED>COMPLETED30}'::text[]))) EXECUTE FUNCTION public.job_edge_refuse();

-- Name: job job_fixed; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER job_fixed AFTER INSERT OR UPDATE OF name, kind, queue, slots, gpus, priority, max_attempts ON public.job FOR EACH ROW WHEN ((NOT (((length(new.name) >= 1) AND (length(new.name) <= 128)) AND ((new.slots >= 1) AND (new.slots <= 4096)) AND ((new.gpus >= 0) AND (new.gpus <= 64)) AND ((new.priority >= '-1000'::integer) AND (new.priority <= 1000)) AND ((new.max_attempts >= 1) AND (new.max_attempts <= 100)) AND public.job_kind_is_known(new.kind) AND ((new.queue = 'default'::text) OR (new.queue ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text))))) EXECUTE FUNCTION public.job_fixed_refuse();
ALTER TABLE public.job ENABLE ALWAYS TRIGGER job_fixed;

-- Name: job job_removed; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER job_removed AFTER DELETE ON public.job FOR EACH ROW WHEN (old.queued) EXECUTE FUNCTION public.job_changed();

-- Name: job job_reshape; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER job_reshape AFTER UPDATE OF project_id, queue, kind, data_class, zone, pool, slots, gpus, class, cpu_milli, memory_bytes, gpu_milli, gpu_models, nodes, nodes_max, engine ON public.job FOR EACH ROW EXECUTE FUNCTION public.job_shape_keep();
ALTER TABLE public.job ENABLE ALWAYS TRIGGER job_reshape;

-- Name: job job_shape; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER job_shape BEFORE INSERT ON public.job FOR EACH ROW WHEN ((new.shape = 0)) EXECUTE FUNCTION public.job_shape_keep();
ALTER TABLE public.job ENABLE ALWAYS TRIGGER job_shape;

-- Name: node node_changed; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER node_changed BEFORE UPDATE ON public.node FOR EACH ROW WHEN (((((((((((((((((old.zone IS DISTINCT FROM new.zone) OR (old.pool IS DISTINCT FROM new.pool)) OR (old.flavor IS DISTINCT FROM new.flavor)) OR (old.slots IS DISTINCT FROM new.slots)) OR (old.gpus IS DISTINCT FROM new.gpus)) OR (old.cpu_milli IS DISTINCT FROM new.cpu_milli)) OR (old.memory_bytes IS DISTINCT FROM new.memory_bytes)) OR (old.gpu_model IS DISTINCT FROM new.gpu_model)) OR (old.gpu_shared IS DISTINCT FROM new.gpu_shared)) OR (old.programs IS DISTINCT FROM new.programs)) OR (old.gangs IS DISTINCT FROM new.gangs)) OR (old.gang_programs IS DISTINCT FROM new.gang_programs)) OR (old.engines IS DISTINCT FROM new.engines)) OR (old.state IS DISTINCT FROM new.state)) OR (old.version IS DISTINCT FROM new.version)) OR (old.backend IS DISTINCT FROM new.backend))) EXECUTE FUNCTION public.node_changed();

-- Name: node node_removed; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER node_removed AFTER DELETE OR TRUNCATE ON public.node FOR EACH STATEMENT EXECUTE FUNCTION public.residency_changed();

-- Name: node node_spent; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER node_spent BEFORE UPDATE OF reason ON public.node FOR EACH ROW WHEN (((SESSION_USER = 'falaj_scheduler'::name) AND ((new.is_drained AND (new.reason = 'lent for one lease'::text)) OR ((new.state = 'LOST'::text) AND (NOT new.is_drained) AND (new.reason = ''::text))))) EXECUTE FUNCTION public.node_spent();

-- Name: api_token person_origin; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER person_origin AFTER INSERT ON public.api_token FOR EACH ROW EXECUTE FUNCTION public.person_origin_note();

-- Name: app_user person_origin; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER person_origin AFTER INSERT OR UPDATE OF created_by ON public.app_user FOR EACH ROW EXECUTE FUNCTION public.person_origin_note();

-- Name: federated_user person_origin; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER person_origin AFTER INSERT ON public.federated_user FOR EACH ROW EXECUTE FUNCTION public.person_origin_note();

-- Name: issuer_subject person_origin; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER person_origin AFTER INSERT ON public.issuer_subject FOR EACH ROW EXECUTE FUNCTION public.person_origin_note();

-- Name: role_binding person_origin; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER person_origin AFTER INSERT ON public.role_binding FOR EACH ROW EXECUTE FUNCTION public.person_origin_note();

-- Name: queue queue_guard; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER queue_guard AFTER INSERT OR DELETE ON public.queue FOR EACH ROW EXECUTE FUNCTION public.quota_guard();

-- Name: quota quota_changed; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER quota_changed AFTER INSERT OR DELETE OR UPDATE OF hard_limit, guarded ON public.quota FOR EACH STATEMENT EXECUTE FUNCTION public.residency_changed();

-- Name: quota quota_limit_guard; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER quota_limit_guard AFTER INSERT OR DELETE ON public.quota FOR EACH ROW EXECUTE FUNCTION public.quota_guard();

-- Name: quota_rule quota_rule_guard; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER quota_rule_guard AFTER INSERT OR DELETE ON public.quota_rule FOR EACH ROW EXECUTE FUNCTION public.quota_guard();

-- Name: reservation reservation_changed; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER reservation_changed AFTER INSERT OR DELETE OR UPDATE ON public.reservation FOR EACH STATEMENT EXECUTE FUNCTION public.reservation_changed();

-- Name: reservation_machine reservation_machine_changed; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER reservation_machine_changed AFTER INSERT OR DELETE OR UPDATE ON public.reservation_machine FOR EACH STATEMENT EXECUTE FUNCTION public.reservation_changed();

-- Name: tenant_key tenant_key_guard; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER tenant_key_guard BEFORE UPDATE OF state ON public.tenant_key FOR EACH ROW EXECUTE FUNCTION public.tenant_key_guard();

-- Name: tenant_zone tenant_zone_changed; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER tenant_zone_changed AFTER INSERT OR DELETE OR UPDATE ON public.tenant_zone FOR EACH STATEMENT EXECUTE FUNCTION public.residency_changed();

-- Name: tenant tenant_zones_changed; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER tenant_zones_changed AFTER UPDATE OF home_zone, allowed_zones, state ON public.tenant FOR EACH STATEMENT EXECUTE FUNCTION public.residency_changed();

-- Name: transfer_policy transfer_policy_changed; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER transfer_policy_changed AFTER INSERT OR DELETE OR UPDATE ON public.transfer_policy FOR EACH STATEMENT EXECUTE FUNCTION public.residency_changed();

-- Name: zone zone_changed; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER zone_changed AFTER INSERT OR DELETE OR UPDATE ON public.zone FOR EACH STATEMENT EXECUTE FUNCTION public.residency_changed();

-- Name: zone_clock zone_clock_platform_only; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER zone_clock_platform_only AFTER INSERT OR DELETE OR UPDATE ON public.zone_clock FOR EACH STATEMENT EXECUTE FUNCTION public.zone_law_guard();

-- Name: zone zone_first_law; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER zone_first_law AFTER INSERT ON public.zone REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION public.zone_first_law();

-- Name: zone_law zone_law_platform_only; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER zone_law_platform_only AFTER INSERT OR DELETE OR UPDATE ON public.zone_law FOR EACH STATEMENT EXECUTE FUNCTION public.zone_law_guard();

-- Name: zone zone_platform_only; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER zone_platform_only AFTER INSERT OR DELETE OR UPDATE ON public.zone FOR EACH STATEMENT EXECUTE FUNCTION public.zone_law_guard();

-- Name: zone_rule zone_rule_changed; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER zone_rule_changed AFTER INSERT OR DELETE OR UPDATE ON public.zone_rule FOR EACH STATEMENT EXECUTE FUNCTION public.residency_changed();

-- Name: zone_rule zone_rule_platform_only; Type: TRIGGER; Schema: public; Owner: falaj_owner
CREATE TRIGGER zone_rule_platform_only AFTER INSERT OR DELETE OR UPDATE ON public.zone_rule FOR EACH STATEMENT EXECUTE FUNCTION public.zone_law_guard();

-- Name: api_token api_token_tenant_id_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.api_token
    ADD CONSTRAINT api_token_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES public.app_user(tenant_id, user_id);

-- Name: app_user app_user_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.app_user
    ADD CONSTRAINT app_user_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: app_user app_user_tenant_id_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.app_user
    ADD CONSTRAINT app_user_tenant_id_owner_id_fkey FOREIGN KEY (tenant_id, owner_id) REFERENCES public.app_user(tenant_id, user_id);

-- Name: approval_decision approval_decision_tenant_id_approval_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.approval_decision
    ADD CONSTRAINT approval_decision_tenant_id_approval_id_fkey FOREIGN KEY (tenant_id, approval_id) REFERENCES public.approval(tenant_id, approval_id);

-- Name: approval approval_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.approval
    ADD CONSTRAINT approval_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: array_dependency array_dependency_tenant_id_array_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.array_dependency
    ADD CONSTRAINT array_dependency_tenant_id_array_id_fkey FOREIGN KEY (tenant_id, array_id) REFERENCES public.job_array(tenant_id, array_id);

-- Name: array_dependency array_dependency_tenant_id_job_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.array_dependency
    ADD CONSTRAINT array_dependency_tenant_id_job_id_fkey FOREIGN KEY (tenant_id, job_id) REFERENCES public.job(tenant_id, job_id);

-- Name: array_task array_task_tenant_id_array_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.array_task
    ADD CONSTRAINT array_task_tenant_id_array_id_fkey FOREIGN KEY (tenant_id, array_id) REFERENCES public.job_array(tenant_id, array_id);

-- Name: array_task array_task_tenant_id_job_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.array_task
    ADD CONSTRAINT array_task_tenant_id_job_id_fkey FOREIGN KEY (tenant_id, job_id) REFERENCES public.job(tenant_id, job_id);

-- Name: attempt_idle attempt_idle_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.attempt_idle
    ADD CONSTRAINT attempt_idle_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: attempt_member attempt_member_tenant_id_attempt_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.attempt_member
    ADD CONSTRAINT attempt_member_tenant_id_attempt_id_fkey FOREIGN KEY (tenant_id, attempt_id) REFERENCES public.attempt(tenant_id, attempt_id);

-- Name: audit_backlog audit_backlog_tenant_id_event_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.audit_backlog
    ADD CONSTRAINT audit_backlog_tenant_id_event_id_fkey FOREIGN KEY (tenant_id, event_id) REFERENCES public.audit_event(tenant_id, event_id);

-- Name: audit_export audit_export_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.audit_export
    ADD CONSTRAINT audit_export_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: audit_hold audit_hold_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.audit_hold
    ADD CONSTRAINT audit_hold_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: audit_retention audit_retention_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.audit_retention
    ADD CONSTRAINT audit_retention_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: audit_subject_key audit_subject_key_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.audit_subject_key
    ADD CONSTRAINT audit_subject_key_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: audit_subject_key audit_subject_key_tenant_id_zone_key_version_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.audit_subject_key
    ADD CONSTRAINT audit_subject_key_tenant_id_zone_key_version_fkey FOREIGN KEY (tenant_id, zone, key_version) REFERENCES public.tenant_key(tenant_id, zone, version);

-- Name: audit_subject_key audit_subject_key_zone_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.audit_subject_key
    ADD CONSTRAINT audit_subject_key_zone_fkey FOREIGN KEY (zone) REFERENCES public.zone(code);

-- Name: break_glass break_glass_tenant_id_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.break_glass
    ADD CONSTRAINT break_glass_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES public.app_user(tenant_id, user_id);

-- Name: break_glass break_glass_zone_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.break_glass
    ADD CONSTRAINT break_glass_zone_fkey FOREIGN KEY (zone) REFERENCES public.zone(code);

-- Name: budget budget_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.budget
    ADD CONSTRAINT budget_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: budget budget_tenant_id_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.budget
    ADD CONSTRAINT budget_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, project_id);

-- Name: checkpoint checkpoint_tenant_id_job_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.checkpoint
    ADD CONSTRAINT checkpoint_tenant_id_job_id_fkey FOREIGN KEY (tenant_id, job_id) REFERENCES public.job(tenant_id, job_id);

-- Name: checkpoint checkpoint_tenant_id_object_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.checkpoint
    ADD CONSTRAINT checkpoint_tenant_id_object_id_fkey FOREIGN KEY (tenant_id, object_id) REFERENCES public.object(tenant_id, object_id);

-- Name: dataset dataset_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.dataset
    ADD CONSTRAINT dataset_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: dataset dataset_tenant_id_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.dataset
    ADD CONSTRAINT dataset_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, project_id);

-- Name: dataset_version dataset_version_tenant_id_dataset_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.dataset_version
    ADD CONSTRAINT dataset_version_tenant_id_dataset_id_fkey FOREIGN KEY (tenant_id, dataset_id) REFERENCES public.dataset(tenant_id, dataset_id);

-- Name: dataset_version dataset_version_tenant_id_object_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.dataset_version
    ADD CONSTRAINT dataset_version_tenant_id_object_id_fkey FOREIGN KEY (tenant_id, object_id) REFERENCES public.object(tenant_id, object_id);

-- Name: dek dek_tenant_id_object_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.dek
    ADD CONSTRAINT dek_tenant_id_object_id_fkey FOREIGN KEY (tenant_id, object_id) REFERENCES public.object(tenant_id, object_id);

-- Name: dek dek_tenant_id_zone_key_version_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.dek
    ADD CONSTRAINT dek_tenant_id_zone_key_version_fkey FOREIGN KEY (tenant_id, zone, key_version) REFERENCES public.tenant_key(tenant_id, zone, version);

-- Name: deployment_minute deployment_minute_tenant_id_deployment_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.deployment_minute
    ADD CONSTRAINT deployment_minute_tenant_id_deployment_id_fkey FOREIGN KEY (tenant_id, deployment_id) REFERENCES public.deployment(tenant_id, deployment_id) ON DELETE CASCADE;

-- Name: deployment deployment_tenant_id_job_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.deployment
    ADD CONSTRAINT deployment_tenant_id_job_id_fkey FOREIGN KEY (tenant_id, job_id) REFERENCES public.job(tenant_id, job_id);

-- Name: deployment deployment_tenant_id_model_id_model_version_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.deployment
    ADD CONSTRAINT deployment_tenant_id_model_id_model_version_fkey FOREIGN KEY (tenant_id, model_id, model_version) REFERENCES public.model_version(tenant_id, model_id, version);

-- Name: deployment deployment_tenant_id_model_id_next_version_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.deployment
    ADD CONSTRAINT deployment_tenant_id_model_id_next_version_fkey FOREIGN KEY (tenant_id, model_id, next_version) REFERENCES public.model_version(tenant_id, model_id, version);

-- Name: deployment deployment_tenant_id_next_job_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.deployment
    ADD CONSTRAINT deployment_tenant_id_next_job_id_fkey FOREIGN KEY (tenant_id, next_job_id) REFERENCES public.job(tenant_id, job_id);

-- Name: deployment deployment_tenant_id_old_job_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.deployment
    ADD CONSTRAINT deployment_tenant_id_old_job_id_fkey FOREIGN KEY (tenant_id, old_job_id) REFERENCES public.job(tenant_id, job_id);

-- Name: deployment deployment_tenant_id_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.deployment
    ADD CONSTRAINT deployment_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, project_id);

-- Name: engine_run engine_run_engine_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.engine_run
    ADD CONSTRAINT engine_run_engine_id_fkey FOREIGN KEY (engine_id) REFERENCES public.engine(engine_id);

-- Name: engine engine_zone_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.engine
    ADD CONSTRAINT engine_zone_fkey FOREIGN KEY (zone) REFERENCES public.zone(code);

-- Name: environment_key environment_key_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.environment_key
    ADD CONSTRAINT environment_key_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: environment_policy environment_policy_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.environment_policy
    ADD CONSTRAINT environment_policy_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: environment_signature environment_signature_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.environment_signature
    ADD CONSTRAINT environment_signature_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: environment environment_tenant_id_dataset_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.environment
    ADD CONSTRAINT environment_tenant_id_dataset_id_fkey FOREIGN KEY (tenant_id, dataset_id) REFERENCES public.dataset(tenant_id, dataset_id) ON DELETE SET NULL (dataset_id);

-- Name: environment environment_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.environment
    ADD CONSTRAINT environment_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: environment environment_tenant_id_object_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.environment
    ADD CONSTRAINT environment_tenant_id_object_id_fkey FOREIGN KEY (tenant_id, object_id) REFERENCES public.object(tenant_id, object_id);

-- Name: environment environment_tenant_id_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.environment
    ADD CONSTRAINT environment_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, project_id);

-- Name: erasure_certificate erasure_certificate_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.erasure_certificate
    ADD CONSTRAINT erasure_certificate_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: erasure_certificate erasure_certificate_zone_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.erasure_certificate
    ADD CONSTRAINT erasure_certificate_zone_fkey FOREIGN KEY (zone) REFERENCES public.zone(code);

-- Name: federated_role federated_role_tenant_id_binding_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.federated_role
    ADD CONSTRAINT federated_role_tenant_id_binding_id_fkey FOREIGN KEY (tenant_id, binding_id) REFERENCES public.role_binding(tenant_id, binding_id) ON DELETE CASCADE;

-- Name: federated_role federated_role_tenant_id_provider_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.federated_role
    ADD CONSTRAINT federated_role_tenant_id_provider_id_fkey FOREIGN KEY (tenant_id, provider_id) REFERENCES public.identity_provider(tenant_id, provider_id) ON DELETE CASCADE;

-- Name: federated_user federated_user_tenant_id_provider_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.federated_user
    ADD CONSTRAINT federated_user_tenant_id_provider_id_fkey FOREIGN KEY (tenant_id, provider_id) REFERENCES public.identity_provider(tenant_id, provider_id) ON DELETE CASCADE;

-- Name: federated_user federated_user_tenant_id_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.federated_user
    ADD CONSTRAINT federated_user_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES public.app_user(tenant_id, user_id);

-- Name: group_member group_member_tenant_id_group_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.group_member
    ADD CONSTRAINT group_member_tenant_id_group_id_fkey FOREIGN KEY (tenant_id, group_id) REFERENCES public.user_group(tenant_id, group_id);

-- Name: group_member group_member_tenant_id_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.group_member
    ADD CONSTRAINT group_member_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES public.app_user(tenant_id, user_id);

-- Name: identity_provider identity_provider_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.identity_provider
    ADD CONSTRAINT identity_provider_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: identity_provider identity_provider_tenant_id_set_by_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.identity_provider
    ADD CONSTRAINT identity_provider_tenant_id_set_by_fkey FOREIGN KEY (tenant_id, set_by) REFERENCES public.app_user(tenant_id, user_id);

-- Name: idle_policy idle_policy_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.idle_policy
    ADD CONSTRAINT idle_policy_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: inside_policy inside_policy_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.inside_policy
    ADD CONSTRAINT inside_policy_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: invitation invitation_tenant_id_created_by_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.invitation
    ADD CONSTRAINT invitation_tenant_id_created_by_fkey FOREIGN KEY (tenant_id, created_by) REFERENCES public.app_user(tenant_id, user_id);

-- Name: invitation invitation_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.invitation
    ADD CONSTRAINT invitation_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: issuer_subject issuer_subject_tenant_id_issuer_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.issuer_subject
    ADD CONSTRAINT issuer_subject_tenant_id_issuer_id_fkey FOREIGN KEY (tenant_id, issuer_id) REFERENCES public.issuer(tenant_id, issuer_id) ON DELETE CASCADE;

-- Name: issuer_subject issuer_subject_tenant_id_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.issuer_subject
    ADD CONSTRAINT issuer_subject_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES public.app_user(tenant_id, user_id);

-- Name: issuer issuer_tenant_id_created_by_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.issuer
    ADD CONSTRAINT issuer_tenant_id_created_by_fkey FOREIGN KEY (tenant_id, created_by) REFERENCES public.app_user(tenant_id, user_id);

-- Name: issuer issuer_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.issuer
    ADD CONSTRAINT issuer_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: job_array job_array_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.job_array
    ADD CONSTRAINT job_array_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: job_array job_array_tenant_id_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.job_array
    ADD CONSTRAINT job_array_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, project_id);

-- Name: job_dependency job_dependency_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.job_dependency
    ADD CONSTRAINT job_dependency_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: job_dependency job_dependency_tenant_id_job_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.job_dependency
    ADD CONSTRAINT job_dependency_tenant_id_job_id_fkey FOREIGN KEY (tenant_id, job_id) REFERENCES public.job(tenant_id, job_id);

-- Name: job_dependency job_dependency_tenant_id_on_job_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.job_dependency
    ADD CONSTRAINT job_dependency_tenant_id_on_job_id_fkey FOREIGN KEY (tenant_id, on_job_id) REFERENCES public.job(tenant_id, job_id);

-- Name: job_object job_object_tenant_id_job_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.job_object
    ADD CONSTRAINT job_object_tenant_id_job_id_fkey FOREIGN KEY (tenant_id, job_id) REFERENCES public.job(tenant_id, job_id);

-- Name: job_object job_object_tenant_id_object_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.job_object
    ADD CONSTRAINT job_object_tenant_id_object_id_fkey FOREIGN KEY (tenant_id, object_id) REFERENCES public.object(tenant_id, object_id);

-- Name: job_page job_page_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.job_page
    ADD CONSTRAINT job_page_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: job_session job_session_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.job_session
    ADD CONSTRAINT job_session_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: join_token join_token_zone_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.join_token
    ADD CONSTRAINT join_token_zone_fkey FOREIGN KEY (zone) REFERENCES public.zone(code);

-- Name: jwt_used jwt_used_tenant_id_issuer_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.jwt_used
    ADD CONSTRAINT jwt_used_tenant_id_issuer_id_fkey FOREIGN KEY (tenant_id, issuer_id) REFERENCES public.issuer(tenant_id, issuer_id) ON DELETE CASCADE;

-- Name: key_rewrap key_rewrap_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.key_rewrap
    ADD CONSTRAINT key_rewrap_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: key_rewrap key_rewrap_zone_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.key_rewrap
    ADD CONSTRAINT key_rewrap_zone_fkey FOREIGN KEY (zone) REFERENCES public.zone(code);

-- Name: legal_clock legal_clock_zone_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.legal_clock
    ADD CONSTRAINT legal_clock_zone_fkey FOREIGN KEY (zone) REFERENCES public.zone(code);

-- Name: model model_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.model
    ADD CONSTRAINT model_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: model model_tenant_id_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.model
    ADD CONSTRAINT model_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, project_id);

-- Name: model_version model_version_tenant_id_model_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.model_version
    ADD CONSTRAINT model_version_tenant_id_model_id_fkey FOREIGN KEY (tenant_id, model_id) REFERENCES public.model(tenant_id, model_id);

-- Name: model_version model_version_tenant_id_object_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.model_version
    ADD CONSTRAINT model_version_tenant_id_object_id_fkey FOREIGN KEY (tenant_id, object_id) REFERENCES public.object(tenant_id, object_id);

-- Name: node node_zone_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.node
    ADD CONSTRAINT node_zone_fkey FOREIGN KEY (zone) REFERENCES public.zone(code);

-- Name: notice_person notice_person_tenant_id_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.notice_person
    ADD CONSTRAINT notice_person_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES public.app_user(tenant_id, user_id);

-- Name: notice_rule notice_rule_tenant_id_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.notice_rule
    ADD CONSTRAINT notice_rule_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, project_id);

-- Name: object object_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.object
    ADD CONSTRAINT object_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: object object_zone_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.object
    ADD CONSTRAINT object_zone_fkey FOREIGN KEY (zone) REFERENCES public.zone(code);

-- Name: password password_tenant_id_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.password
    ADD CONSTRAINT password_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES public.app_user(tenant_id, user_id);

-- Name: person_origin person_origin_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.person_origin
    ADD CONSTRAINT person_origin_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: person_origin person_origin_tenant_id_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.person_origin
    ADD CONSTRAINT person_origin_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES public.app_user(tenant_id, user_id);

-- Name: project project_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.project
    ADD CONSTRAINT project_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: queue queue_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.queue
    ADD CONSTRAINT queue_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: queue queue_tenant_id_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.queue
    ADD CONSTRAINT queue_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, project_id);

-- Name: quota_rule quota_rule_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.quota_rule
    ADD CONSTRAINT quota_rule_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: quota_rule quota_rule_tenant_id_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.quota_rule
    ADD CONSTRAINT quota_rule_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, project_id);

-- Name: quota quota_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.quota
    ADD CONSTRAINT quota_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: recovery_code recovery_code_tenant_id_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.recovery_code
    ADD CONSTRAINT recovery_code_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES public.app_user(tenant_id, user_id);

-- Name: registry_host registry_host_zone_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.registry_host
    ADD CONSTRAINT registry_host_zone_fkey FOREIGN KEY (zone) REFERENCES public.zone(code);

-- Name: reservation reservation_for_tenant_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.reservation
    ADD CONSTRAINT reservation_for_tenant_fkey FOREIGN KEY (for_tenant) REFERENCES public.tenant(tenant_id) ON DELETE CASCADE;

-- Name: reservation reservation_for_tenant_for_project_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.reservation
    ADD CONSTRAINT reservation_for_tenant_for_project_fkey FOREIGN KEY (for_tenant, for_project) REFERENCES public.project(tenant_id, project_id) ON DELETE CASCADE;

-- Name: reservation_machine reservation_machine_node_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.reservation_machine
    ADD CONSTRAINT reservation_machine_node_id_fkey FOREIGN KEY (node_id) REFERENCES public.node(node_id) ON DELETE CASCADE;

-- Name: reservation_machine reservation_machine_reservation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.reservation_machine
    ADD CONSTRAINT reservation_machine_reservation_id_fkey FOREIGN KEY (reservation_id) REFERENCES public.reservation(reservation_id) ON DELETE CASCADE;

-- Name: role_binding role_binding_tenant_id_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.role_binding
    ADD CONSTRAINT role_binding_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, project_id);

-- Name: role_binding role_binding_tenant_id_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.role_binding
    ADD CONSTRAINT role_binding_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES public.app_user(tenant_id, user_id);

-- Name: role_binding role_binding_zone_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.role_binding
    ADD CONSTRAINT role_binding_zone_fkey FOREIGN KEY (zone) REFERENCES public.zone(code);

-- Name: root_key root_key_zone_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.root_key
    ADD CONSTRAINT root_key_zone_fkey FOREIGN KEY (zone) REFERENCES public.zone(code);

-- Name: saved_view saved_view_tenant_id_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.saved_view
    ADD CONSTRAINT saved_view_tenant_id_owner_id_fkey FOREIGN KEY (tenant_id, owner_id) REFERENCES public.app_user(tenant_id, user_id);

-- Name: scim_user scim_user_tenant_id_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.scim_user
    ADD CONSTRAINT scim_user_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES public.app_user(tenant_id, user_id);

-- Name: secret secret_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.secret
    ADD CONSTRAINT secret_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: secret secret_tenant_id_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.secret
    ADD CONSTRAINT secret_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, project_id);

-- Name: secret_version secret_version_tenant_id_object_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.secret_version
    ADD CONSTRAINT secret_version_tenant_id_object_id_fkey FOREIGN KEY (tenant_id, object_id) REFERENCES public.object(tenant_id, object_id);

-- Name: secret_version secret_version_tenant_id_secret_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.secret_version
    ADD CONSTRAINT secret_version_tenant_id_secret_id_fkey FOREIGN KEY (tenant_id, secret_id) REFERENCES public.secret(tenant_id, secret_id);

-- Name: secret secret_zone_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.secret
    ADD CONSTRAINT secret_zone_fkey FOREIGN KEY (zone) REFERENCES public.zone(code);

-- Name: session session_tenant_id_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES public.app_user(tenant_id, user_id);

-- Name: shared_environment shared_environment_zone_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.shared_environment
    ADD CONSTRAINT shared_environment_zone_fkey FOREIGN KEY (zone) REFERENCES public.zone(code);

-- Name: tenant tenant_home_zone_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.tenant
    ADD CONSTRAINT tenant_home_zone_fkey FOREIGN KEY (home_zone) REFERENCES public.zone(code);

-- Name: tenant_key tenant_key_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.tenant_key
    ADD CONSTRAINT tenant_key_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: tenant_key tenant_key_zone_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.tenant_key
    ADD CONSTRAINT tenant_key_zone_fkey FOREIGN KEY (zone) REFERENCES public.zone(code);

-- Name: tenant_zone tenant_zone_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.tenant_zone
    ADD CONSTRAINT tenant_zone_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: tenant_zone tenant_zone_zone_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.tenant_zone
    ADD CONSTRAINT tenant_zone_zone_fkey FOREIGN KEY (zone) REFERENCES public.zone(code);

-- Name: totp totp_tenant_id_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.totp
    ADD CONSTRAINT totp_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES public.app_user(tenant_id, user_id);

-- Name: transfer transfer_from_zone_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.transfer
    ADD CONSTRAINT transfer_from_zone_fkey FOREIGN KEY (from_zone) REFERENCES public.zone(code);

-- Name: transfer_policy transfer_policy_from_zone_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.transfer_policy
    ADD CONSTRAINT transfer_policy_from_zone_fkey FOREIGN KEY (from_zone) REFERENCES public.zone(code);

-- Name: transfer_policy transfer_policy_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.transfer_policy
    ADD CONSTRAINT transfer_policy_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: transfer_policy transfer_policy_to_zone_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.transfer_policy
    ADD CONSTRAINT transfer_policy_to_zone_fkey FOREIGN KEY (to_zone) REFERENCES public.zone(code);

-- Name: transfer transfer_tenant_id_from_object_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.transfer
    ADD CONSTRAINT transfer_tenant_id_from_object_fkey FOREIGN KEY (tenant_id, from_object) REFERENCES public.object(tenant_id, object_id);

-- Name: transfer transfer_tenant_id_policy_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.transfer
    ADD CONSTRAINT transfer_tenant_id_policy_id_fkey FOREIGN KEY (tenant_id, policy_id) REFERENCES public.transfer_policy(tenant_id, policy_id);

-- Name: transfer transfer_tenant_id_to_object_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.transfer
    ADD CONSTRAINT transfer_tenant_id_to_object_fkey FOREIGN KEY (tenant_id, to_object) REFERENCES public.object(tenant_id, object_id);

-- Name: transfer transfer_to_zone_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.transfer
    ADD CONSTRAINT transfer_to_zone_fkey FOREIGN KEY (to_zone) REFERENCES public.zone(code);

-- Name: upload_part upload_part_tenant_id_object_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.upload_part
    ADD CONSTRAINT upload_part_tenant_id_object_id_fkey FOREIGN KEY (tenant_id, object_id) REFERENCES public.object(tenant_id, object_id);

-- Name: upload_part upload_part_tenant_id_upload_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.upload_part
    ADD CONSTRAINT upload_part_tenant_id_upload_id_fkey FOREIGN KEY (tenant_id, upload_id) REFERENCES public.upload(tenant_id, upload_id);

-- Name: upload upload_tenant_id_dataset_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.upload
    ADD CONSTRAINT upload_tenant_id_dataset_id_fkey FOREIGN KEY (tenant_id, dataset_id) REFERENCES public.dataset(tenant_id, dataset_id);

-- Name: upload upload_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.upload
    ADD CONSTRAINT upload_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: upload upload_zone_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.upload
    ADD CONSTRAINT upload_zone_fkey FOREIGN KEY (zone) REFERENCES public.zone(code);

-- Name: user_group user_group_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.user_group
    ADD CONSTRAINT user_group_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(tenant_id);

-- Name: user_group user_group_tenant_id_role_set_by_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.user_group
    ADD CONSTRAINT user_group_tenant_id_role_set_by_fkey FOREIGN KEY (tenant_id, role_set_by) REFERENCES public.app_user(tenant_id, user_id);

-- Name: zone_clock zone_clock_zone_version_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.zone_clock
    ADD CONSTRAINT zone_clock_zone_version_fkey FOREIGN KEY (zone, version) REFERENCES public.zone_law(zone, version);

-- Name: zone_law zone_law_zone_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.zone_law
    ADD CONSTRAINT zone_law_zone_fkey FOREIGN KEY (zone) REFERENCES public.zone(code);

-- Name: zone_rule zone_rule_zone_version_fkey; Type: FK CONSTRAINT; Schema: public; Owner: falaj_owner
ALTER TABLE ONLY public.zone_rule
    ADD CONSTRAINT zone_rule_zone_version_fkey FOREIGN KEY (zone, version) REFERENCES public.zone_law(zone, version);

-- Name: api_token; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.api_token ENABLE ROW LEVEL SECURITY;

-- Name: app_user; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.app_user ENABLE ROW LEVEL SECURITY;

-- Name: approval; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.approval ENABLE ROW LEVEL SECURITY;

-- Name: approval_decision; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.approval_decision ENABLE ROW LEVEL SECURITY;

-- Name: array_dependency; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.array_dependency ENABLE ROW LEVEL SECURITY;

-- Name: array_task; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.array_task ENABLE ROW LEVEL SECURITY;

-- Name: attempt; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.attempt ENABLE ROW LEVEL SECURITY;

-- Name: attempt_idle; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.attempt_idle ENABLE ROW LEVEL SECURITY;

-- Name: attempt_member; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.attempt_member ENABLE ROW LEVEL SECURITY;

-- Name: audit_anchor; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.audit_anchor ENABLE ROW LEVEL SECURITY;

-- Name: audit_backlog; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.audit_backlog ENABLE ROW LEVEL SECURITY;

-- Name: audit_event; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.audit_event ENABLE ROW LEVEL SECURITY;

-- Name: audit_export; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.audit_export ENABLE ROW LEVEL SECURITY;

-- Name: audit_gone; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.audit_gone ENABLE ROW LEVEL SECURITY;

-- Name: audit_head; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.audit_head ENABLE ROW LEVEL SECURITY;

-- Name: audit_hold; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.audit_hold ENABLE ROW LEVEL SECURITY;

-- Name: audit_log_state; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.audit_log_state ENABLE ROW LEVEL SECURITY;

-- Name: audit_page; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.audit_page ENABLE ROW LEVEL SECURITY;

-- Name: audit_retention; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.audit_retention ENABLE ROW LEVEL SECURITY;

-- Name: audit_seq; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.audit_seq ENABLE ROW LEVEL SECURITY;

-- Name: audit_shadow; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.audit_shadow ENABLE ROW LEVEL SECURITY;

-- Name: audit_subject_key; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.audit_subject_key ENABLE ROW LEVEL SECURITY;

-- Name: break_glass; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.break_glass ENABLE ROW LEVEL SECURITY;

-- Name: budget; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.budget ENABLE ROW LEVEL SECURITY;

-- Name: change_swept; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.change_swept ENABLE ROW LEVEL SECURITY;

-- Name: checkpoint; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.checkpoint ENABLE ROW LEVEL SECURITY;

-- Name: dataset; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.dataset ENABLE ROW LEVEL SECURITY;

-- Name: dataset_version; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.dataset_version ENABLE ROW LEVEL SECURITY;

-- Name: dek; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.dek ENABLE ROW LEVEL SECURITY;

-- Name: deployment; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.deployment ENABLE ROW LEVEL SECURITY;

-- Name: deployment_minute; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.deployment_minute ENABLE ROW LEVEL SECURITY;

-- Name: engine; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.engine ENABLE ROW LEVEL SECURITY;

-- Name: engine_run; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.engine_run ENABLE ROW LEVEL SECURITY;

-- Name: environment; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.environment ENABLE ROW LEVEL SECURITY;

-- Name: environment_key; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.environment_key ENABLE ROW LEVEL SECURITY;

-- Name: environment_policy; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.environment_policy ENABLE ROW LEVEL SECURITY;

-- Name: environment_signature; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.environment_signature ENABLE ROW LEVEL SECURITY;

-- Name: erasure_certificate; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.erasure_certificate ENABLE ROW LEVEL SECURITY;

-- Name: registry_host everybody; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY everybody ON public.registry_host FOR SELECT TO falaj_app USING (true);

-- Name: shared_environment everybody; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY everybody ON public.shared_environment FOR SELECT TO falaj_app USING (true);

-- Name: federated_role; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.federated_role ENABLE ROW LEVEL SECURITY;

-- Name: federated_user; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.federated_user ENABLE ROW LEVEL SECURITY;

-- Name: group_member; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.group_member ENABLE ROW LEVEL SECURITY;

-- Name: idempotency; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.idempotency ENABLE ROW LEVEL SECURITY;

-- Name: identity_provider; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.identity_provider ENABLE ROW LEVEL SECURITY;

-- Name: idle_policy; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.idle_policy ENABLE ROW LEVEL SECURITY;

-- Name: array_dependency in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.array_dependency AS RESTRICTIVE TO falaj_app USING ((public.projects_all() OR (EXISTS ( SELECT
   FROM public.job j
  WHERE ((j.tenant_id = array_dependency.tenant_id) AND (j.job_id = array_dependency.job_id))))));

-- Name: array_task in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.array_task AS RESTRICTIVE TO falaj_app USING ((public.projects_all() OR (EXISTS ( SELECT
   FROM public.job_array a
  WHERE ((a.tenant_id = array_task.tenant_id) AND (a.array_id = array_task.array_id))))));

-- Name: attempt in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.attempt AS RESTRICTIVE TO falaj_app USING ((public.projects_all() OR (EXISTS ( SELECT
   FROM public.job
  WHERE ((job.tenant_id = attempt.tenant_id) AND (job.job_id = attempt.job_id))))));

-- Name: budget in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.budget AS RESTRICTIVE TO falaj_app USING (public.project_visible(project_id));

-- Name: checkpoint in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.checkpoint AS RESTRICTIVE TO falaj_app USING ((public.projects_all() OR (EXISTS ( SELECT
   FROM public.job j
  WHERE ((j.tenant_id = checkpoint.tenant_id) AND (j.job_id = checkpoint.job_id))))));

-- Name: dataset in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.dataset AS RESTRICTIVE TO falaj_app USING (public.project_visible(project_id));

-- Name: dataset_version in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.dataset_version AS RESTRICTIVE TO falaj_app USING ((public.projects_all() OR (EXISTS ( SELECT
   FROM public.dataset d
  WHERE ((d.tenant_id = dataset_version.tenant_id) AND (d.dataset_id = dataset_version.dataset_id))))));

-- Name: deployment in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.deployment AS RESTRICTIVE TO falaj_app USING (public.project_visible(project_id));

-- Name: environment in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.environment AS RESTRICTIVE TO falaj_app USING (public.project_visible(project_id));

-- Name: job in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.job AS RESTRICTIVE TO falaj_app USING (public.project_visible(project_id));

-- Name: job_array in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.job_array AS RESTRICTIVE TO falaj_app USING (public.project_visible(project_id));

-- Name: job_event in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.job_event AS RESTRICTIVE TO falaj_app USING ((public.projects_all() OR (EXISTS ( SELECT
   FROM public.job
  WHERE ((job.tenant_id = job_event.tenant_id) AND (job.job_id = job_event.job_id))))));

-- Name: job_log in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.job_log AS RESTRICTIVE TO falaj_app USING ((public.projects_all() OR (EXISTS ( SELECT
   FROM public.job
  WHERE ((job.tenant_id = job_log.tenant_id) AND (job.job_id = job_log.job_id))))));

-- Name: job_metric in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.job_metric AS RESTRICTIVE TO falaj_app USING ((public.projects_all() OR (EXISTS ( SELECT
   FROM public.job
  WHERE ((job.tenant_id = job_metric.tenant_id) AND (job.job_id = job_metric.job_id))))));

-- Name: job_object in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.job_object AS RESTRICTIVE TO falaj_app USING ((public.projects_all() OR (EXISTS ( SELECT
   FROM public.job
  WHERE ((job.tenant_id = job_object.tenant_id) AND (job.job_id = job_object.job_id))))));

-- Name: ledger_entry in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.ledger_entry AS RESTRICTIVE TO falaj_app USING (public.project_visible(project_id));

-- Name: model in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.model AS RESTRICTIVE TO falaj_app USING (public.project_visible(project_id));

-- Name: model_version in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.model_version AS RESTRICTIVE TO falaj_app USING ((public.projects_all() OR (EXISTS ( SELECT
   FROM public.model m
  WHERE ((m.tenant_id = model_version.tenant_id) AND (m.model_id = model_version.model_id))))));

-- Name: notice_delivery in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.notice_delivery AS RESTRICTIVE TO falaj_app USING (public.project_visible(project_id));

-- Name: notice_rule in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.notice_rule AS RESTRICTIVE TO falaj_app USING (public.project_visible(project_id));

-- Name: project in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.project AS RESTRICTIVE TO falaj_app USING (public.project_visible(project_id));

-- Name: queue in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.queue AS RESTRICTIVE TO falaj_app USING (public.project_visible(project_id));

-- Name: quota_rule in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.quota_rule AS RESTRICTIVE TO falaj_app USING (public.project_visible(project_id));

-- Name: role_binding in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.role_binding AS RESTRICTIVE TO falaj_app USING (public.project_visible(project_id));

-- Name: secret in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.secret AS RESTRICTIVE TO falaj_app USING (public.project_visible(project_id));

-- Name: secret_version in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.secret_version AS RESTRICTIVE TO falaj_app USING ((public.projects_all() OR (EXISTS ( SELECT
   FROM public.secret s
  WHERE ((s.tenant_id = secret_version.tenant_id) AND (s.secret_id = secret_version.secret_id))))));

-- Name: upload in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.upload AS RESTRICTIVE TO falaj_app USING ((public.projects_all() OR (EXISTS ( SELECT
   FROM public.dataset d
  WHERE ((d.tenant_id = upload.tenant_id) AND (d.dataset_id = upload.dataset_id))))));

-- Name: upload_part in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.upload_part AS RESTRICTIVE TO falaj_app USING ((public.projects_all() OR (EXISTS ( SELECT
   FROM public.upload u
  WHERE ((u.tenant_id = upload_part.tenant_id) AND (u.upload_id = upload_part.upload_id))))));

-- Name: usage_record in_projects; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY in_projects ON public.usage_record AS RESTRICTIVE TO falaj_app USING (
CASE
    WHEN (queue IS NOT NULL) THEN public.project_visible(project_id)
    ELSE (public.projects_all() OR (EXISTS ( SELECT
       FROM public.job
      WHERE ((job.tenant_id = usage_record.tenant_id) AND (job.job_id = usage_record.job_id)))))
END);

-- Name: inside_policy; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.inside_policy ENABLE ROW LEVEL SECURITY;

-- Name: invitation; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.invitation ENABLE ROW LEVEL SECURITY;

-- Name: issuer; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.issuer ENABLE ROW LEVEL SECURITY;

-- Name: issuer_subject; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.issuer_subject ENABLE ROW LEVEL SECURITY;

-- Name: job; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.job ENABLE ROW LEVEL SECURITY;

-- Name: job_array; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.job_array ENABLE ROW LEVEL SECURITY;

-- Name: job_change; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.job_change ENABLE ROW LEVEL SECURITY;

-- Name: job_dependency; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.job_dependency ENABLE ROW LEVEL SECURITY;

-- Name: job_end; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.job_end ENABLE ROW LEVEL SECURITY;

-- Name: job_event; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.job_event ENABLE ROW LEVEL SECURITY;

-- Name: job_log; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.job_log ENABLE ROW LEVEL SECURITY;

-- Name: job_metric; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.job_metric ENABLE ROW LEVEL SECURITY;

-- Name: job_object; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.job_object ENABLE ROW LEVEL SECURITY;

-- Name: job_page; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.job_page ENABLE ROW LEVEL SECURITY;

-- Name: job_session; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.job_session ENABLE ROW LEVEL SECURITY;

-- Name: join_token; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.join_token ENABLE ROW LEVEL SECURITY;

-- Name: jwt_used; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.jwt_used ENABLE ROW LEVEL SECURITY;

-- Name: key_rewrap; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.key_rewrap ENABLE ROW LEVEL SECURITY;

-- Name: ledger_entry; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.ledger_entry ENABLE ROW LEVEL SECURITY;

-- Name: legal_clock; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.legal_clock ENABLE ROW LEVEL SECURITY;

-- Name: model; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.model ENABLE ROW LEVEL SECURITY;

-- Name: model_version; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.model_version ENABLE ROW LEVEL SECURITY;

-- Name: node_cert; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.node_cert ENABLE ROW LEVEL SECURITY;

-- Name: notice_cursor; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.notice_cursor ENABLE ROW LEVEL SECURITY;

-- Name: notice_delivery; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.notice_delivery ENABLE ROW LEVEL SECURITY;

-- Name: notice_person; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.notice_person ENABLE ROW LEVEL SECURITY;

-- Name: notice_rule; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.notice_rule ENABLE ROW LEVEL SECURITY;

-- Name: object; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.object ENABLE ROW LEVEL SECURITY;

-- Name: shared_environment own; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own ON public.shared_environment FOR INSERT TO falaj_app WITH CHECK ((owner_id = (current_setting('app.tenant'::text))::uuid));

-- Name: api_token own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.api_token TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: app_user own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.app_user TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: approval own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.approval TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: approval_decision own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.approval_decision TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: array_dependency own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.array_dependency TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: array_task own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.array_task TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: attempt own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.attempt TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: attempt_idle own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.attempt_idle TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: attempt_member own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.attempt_member TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: audit_anchor own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.audit_anchor TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: audit_backlog own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.audit_backlog TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: audit_event own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.audit_event TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: audit_export own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.audit_export TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: audit_gone own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.audit_gone TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: audit_head own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.audit_head TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: audit_hold own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.audit_hold TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: audit_log_state own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.audit_log_state TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: audit_page own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.audit_page TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: audit_retention own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.audit_retention TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: audit_seq own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.audit_seq TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: audit_shadow own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.audit_shadow TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: audit_subject_key own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.audit_subject_key TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: break_glass own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.break_glass TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: budget own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.budget TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: checkpoint own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.checkpoint TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: dataset own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.dataset TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: dataset_version own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.dataset_version TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: dek own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.dek TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: deployment own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.deployment TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: deployment_minute own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.deployment_minute TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: environment own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.environment TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: environment_key own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.environment_key TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: environment_policy own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.environment_policy TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: environment_signature own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.environment_signature TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: erasure_certificate own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.erasure_certificate TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: federated_role own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.federated_role TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: federated_user own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.federated_user TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: group_member own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.group_member TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: idempotency own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.idempotency TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: identity_provider own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.identity_provider TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: idle_policy own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.idle_policy TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: inside_policy own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.inside_policy TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: invitation own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.invitation TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: issuer own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.issuer TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: issuer_subject own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.issuer_subject TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: job own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.job TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: job_array own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.job_array TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: job_dependency own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.job_dependency TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: job_end own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.job_end TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: job_event own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.job_event TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: job_log own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.job_log TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: job_metric own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.job_metric TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: job_object own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.job_object TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: job_page own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.job_page TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: job_session own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.job_session TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: jwt_used own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.jwt_used TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: key_rewrap own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.key_rewrap TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: ledger_entry own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.ledger_entry TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: legal_clock own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.legal_clock TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: model own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.model TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: model_version own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.model_version TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: notice_cursor own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.notice_cursor TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: notice_delivery own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.notice_delivery TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: notice_person own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.notice_person TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: notice_rule own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.notice_rule TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: object own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.object TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: password own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.password TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: person_origin own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.person_origin TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: project own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.project TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: queue own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.queue TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: quota own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.quota TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: quota_rule own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.quota_rule TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: recovery_code own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.recovery_code TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: role_binding own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.role_binding TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: saved_view own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.saved_view TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: scim_user own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.scim_user TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: secret own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.secret TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: secret_version own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.secret_version TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: session own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.session TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: tenant own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.tenant TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: tenant_key own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.tenant_key TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: tenant_zone own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.tenant_zone TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: totp own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.totp TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: transfer own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.transfer TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: transfer_policy own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.transfer_policy TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: upload own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.upload TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: upload_part own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.upload_part TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: usage_record own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.usage_record TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: user_group own_tenant; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY own_tenant ON public.user_group TO falaj_app USING ((tenant_id = (current_setting('app.tenant'::text))::uuid));

-- Name: password; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.password ENABLE ROW LEVEL SECURITY;

-- Name: person_origin; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.person_origin ENABLE ROW LEVEL SECURITY;

-- Name: plan_change; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.plan_change ENABLE ROW LEVEL SECURITY;

-- Name: change_swept platform; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY platform ON public.change_swept TO falaj_app USING (((current_setting('app.tenant'::text))::uuid = '00000000-0000-0000-0000-000000000000'::uuid));

-- Name: engine platform; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY platform ON public.engine TO falaj_app USING (((current_setting('app.tenant'::text))::uuid = '00000000-0000-0000-0000-000000000000'::uuid));

-- Name: engine_run platform; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY platform ON public.engine_run TO falaj_app USING (((current_setting('app.tenant'::text))::uuid = '00000000-0000-0000-0000-000000000000'::uuid));

-- Name: job_change platform; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY platform ON public.job_change TO falaj_app USING (((current_setting('app.tenant'::text))::uuid = '00000000-0000-0000-0000-000000000000'::uuid));

-- Name: join_token platform; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY platform ON public.join_token TO falaj_app USING (((current_setting('app.tenant'::text))::uuid = '00000000-0000-0000-0000-000000000000'::uuid));

-- Name: node_cert platform; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY platform ON public.node_cert TO falaj_app USING (((current_setting('app.tenant'::text))::uuid = '00000000-0000-0000-0000-000000000000'::uuid));

-- Name: plan_change platform; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY platform ON public.plan_change TO falaj_app USING (((current_setting('app.tenant'::text))::uuid = '00000000-0000-0000-0000-000000000000'::uuid));

-- Name: reservation platform; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY platform ON public.reservation TO falaj_app USING (((current_setting('app.tenant'::text))::uuid = '00000000-0000-0000-0000-000000000000'::uuid));

-- Name: reservation_machine platform; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY platform ON public.reservation_machine TO falaj_app USING (((current_setting('app.tenant'::text))::uuid = '00000000-0000-0000-0000-000000000000'::uuid));

-- Name: tenant platform_directory; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY platform_directory ON public.tenant FOR SELECT TO falaj_app USING (((current_setting('app.tenant'::text))::uuid = '00000000-0000-0000-0000-000000000000'::uuid));

-- Name: audit_event platform_log; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY platform_log ON public.audit_event FOR INSERT TO falaj_app WITH CHECK ((tenant_id = '00000000-0000-0000-0000-000000000000'::uuid));

-- Name: project; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.project ENABLE ROW LEVEL SECURITY;

-- Name: queue; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.queue ENABLE ROW LEVEL SECURITY;

-- Name: quota; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.quota ENABLE ROW LEVEL SECURITY;

-- Name: quota_rule; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.quota_rule ENABLE ROW LEVEL SECURITY;

-- Name: recovery_code; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.recovery_code ENABLE ROW LEVEL SECURITY;

-- Name: registry_host; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.registry_host ENABLE ROW LEVEL SECURITY;

-- Name: reservation; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.reservation ENABLE ROW LEVEL SECURITY;

-- Name: reservation_machine; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.reservation_machine ENABLE ROW LEVEL SECURITY;

-- Name: role_binding; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.role_binding ENABLE ROW LEVEL SECURITY;

-- Name: saved_view; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.saved_view ENABLE ROW LEVEL SECURITY;

-- Name: scim_user; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.scim_user ENABLE ROW LEVEL SECURITY;

-- Name: secret; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.secret ENABLE ROW LEVEL SECURITY;

-- Name: secret_version; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.secret_version ENABLE ROW LEVEL SECURITY;

-- Name: session; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.session ENABLE ROW LEVEL SECURITY;

-- Name: shared_environment; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.shared_environment ENABLE ROW LEVEL SECURITY;

-- Name: registry_host staff; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY staff ON public.registry_host TO falaj_app USING (((current_setting('app.tenant'::text))::uuid = '00000000-0000-0000-0000-000000000000'::uuid));

-- Name: shared_environment staff_change; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY staff_change ON public.shared_environment FOR UPDATE TO falaj_app USING (((current_setting('app.tenant'::text))::uuid = '00000000-0000-0000-0000-000000000000'::uuid));

-- Name: shared_environment staff_delete; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY staff_delete ON public.shared_environment FOR DELETE TO falaj_app USING (((current_setting('app.tenant'::text))::uuid = '00000000-0000-0000-0000-000000000000'::uuid));

-- Name: api_token system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.api_token TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: app_user system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.app_user TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: approval system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.approval TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: approval_decision system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.approval_decision TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: array_dependency system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.array_dependency TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: array_task system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.array_task TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: attempt system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.attempt TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: attempt_idle system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.attempt_idle TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: attempt_member system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.attempt_member TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: audit_anchor system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.audit_anchor TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: audit_backlog system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.audit_backlog TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: audit_event system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.audit_event TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: audit_export system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.audit_export TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: audit_gone system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.audit_gone TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: audit_head system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.audit_head TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: audit_hold system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.audit_hold TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: audit_log_state system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.audit_log_state TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: audit_page system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.audit_page TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: audit_retention system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.audit_retention TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: audit_seq system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.audit_seq TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: audit_shadow system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.audit_shadow TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: audit_subject_key system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.audit_subject_key TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: break_glass system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.break_glass TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: budget system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.budget TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: change_swept system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.change_swept TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: checkpoint system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.checkpoint TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: dataset system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.dataset TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: dataset_version system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.dataset_version TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: dek system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.dek TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: deployment system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.deployment TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: deployment_minute system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.deployment_minute TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: engine system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.engine TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: engine_run system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.engine_run TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: environment system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.environment TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: environment_key system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.environment_key TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: environment_policy system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.environment_policy TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: environment_signature system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.environment_signature TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: erasure_certificate system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.erasure_certificate TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: federated_role system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.federated_role TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: federated_user system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.federated_user TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: group_member system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.group_member TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: idempotency system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.idempotency TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: identity_provider system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.identity_provider TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: idle_policy system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.idle_policy TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: inside_policy system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.inside_policy TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: invitation system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.invitation TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: issuer system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.issuer TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: issuer_subject system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.issuer_subject TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: job system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.job TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: job_array system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.job_array TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: job_change system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.job_change TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: job_dependency system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.job_dependency TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: job_end system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.job_end TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: job_event system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.job_event TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: job_log system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.job_log TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: job_metric system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.job_metric TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: job_object system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.job_object TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: job_page system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.job_page TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: job_session system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.job_session TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: join_token system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.join_token TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: jwt_used system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.jwt_used TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: key_rewrap system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.key_rewrap TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: ledger_entry system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.ledger_entry TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: legal_clock system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.legal_clock TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: model system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.model TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: model_version system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.model_version TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: node_cert system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.node_cert TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: notice_cursor system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.notice_cursor TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: notice_delivery system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.notice_delivery TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: notice_person system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.notice_person TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: notice_rule system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.notice_rule TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: object system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.object TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: password system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.password TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: person_origin system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.person_origin TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: plan_change system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.plan_change TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: project system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.project TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: queue system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.queue TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: quota system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.quota TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: quota_rule system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.quota_rule TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: recovery_code system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.recovery_code TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: registry_host system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.registry_host TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: reservation system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.reservation TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: reservation_machine system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.reservation_machine TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: role_binding system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.role_binding TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: saved_view system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.saved_view TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: scim_user system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.scim_user TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: secret system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.secret TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: secret_version system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.secret_version TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: session system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.session TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: shared_environment system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.shared_environment TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: tenant system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.tenant TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: tenant_key system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.tenant_key TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: tenant_zone system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.tenant_zone TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: totp system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.totp TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: transfer system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.transfer TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: transfer_policy system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.transfer_policy TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: upload system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.upload TO falaj_owner, falaj_system, falaj_worker_api USING (true);

-- Name: upload_part system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.upload_part TO falaj_owner, falaj_system, falaj_worker_api USING (true);

-- Name: usage_record system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.usage_record TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: user_group system; Type: POLICY; Schema: public; Owner: falaj_owner
CREATE POLICY system ON public.user_group TO falaj_owner, falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer USING (true);

-- Name: tenant; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.tenant ENABLE ROW LEVEL SECURITY;

-- Name: tenant_key; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.tenant_key ENABLE ROW LEVEL SECURITY;

-- Name: tenant_zone; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.tenant_zone ENABLE ROW LEVEL SECURITY;

-- Name: totp; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.totp ENABLE ROW LEVEL SECURITY;

-- Name: transfer; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.transfer ENABLE ROW LEVEL SECURITY;

-- Name: transfer_policy; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.transfer_policy ENABLE ROW LEVEL SECURITY;

-- Name: upload; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.upload ENABLE ROW LEVEL SECURITY;

-- Name: upload_part; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.upload_part ENABLE ROW LEVEL SECURITY;

-- Name: usage_record; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.usage_record ENABLE ROW LEVEL SECURITY;

-- Name: user_group; Type: ROW SECURITY; Schema: public; Owner: falaj_owner
ALTER TABLE public.user_group ENABLE ROW LEVEL SECURITY;

-- Name: SCHEMA public; Type: ACL; Schema: -; Owner: pg_database_owner
GRANT USAGE ON SCHEMA public TO falaj_system;
GRANT USAGE ON SCHEMA public TO falaj_app;
GRANT USAGE ON SCHEMA public TO falaj_worker_api;
GRANT USAGE ON SCHEMA public TO falaj_scheduler;
GRANT USAGE ON SCHEMA public TO falaj_sequencer;
GRANT USAGE ON SCHEMA public TO falaj_retention;

-- Name: FUNCTION array_wait_put(tenants uuid[], jobs uuid[], arrays uuid[], types text[]); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.array_wait_put(tenants uuid[], jobs uuid[], arrays uuid[], types text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.array_wait_put(tenants uuid[], jobs uuid[], arrays uuid[], types text[]) TO falaj_app;
GRANT ALL ON FUNCTION public.array_wait_put(tenants uuid[], jobs uuid[], arrays uuid[], types text[]) TO falaj_scheduler;

-- Name: FUNCTION attempt_further(t uuid, j uuid, f bigint, s bigint); Type: ACL; Schema: public; Owner: falaj_owner
GRANT ALL ON FUNCTION public.attempt_further(t uuid, j uuid, f bigint, s bigint) TO falaj_worker_api;

-- Name: FUNCTION audit_cluster(); Type: ACL; Schema: public; Owner: falaj_owner
REVOKE ALL ON FUNCTION public.audit_cluster() FROM PUBLIC;
GRANT ALL ON FUNCTION public.audit_cluster() TO falaj_system;

-- Name: FUNCTION audit_count_unnumbered(); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.audit_count_unnumbered() FROM PUBLIC;
GRANT ALL ON FUNCTION public.audit_count_unnumbered() TO falaj_sequencer;

-- Name: FUNCTION audit_epoch_begin(seen text); Type: ACL; Schema: public; Owner: falaj_owner
REVOKE ALL ON FUNCTION public.audit_epoch_begin(seen text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.audit_epoch_begin(seen text) TO falaj_system;

-- Name: FUNCTION audit_epoch_list(); Type: ACL; Schema: public; Owner: falaj_owner
REVOKE ALL ON FUNCTION public.audit_epoch_list() FROM PUBLIC;
GRANT ALL ON FUNCTION public.audit_epoch_list() TO falaj_system;

-- Name: FUNCTION audit_epoch_take(); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.audit_epoch_take() FROM PUBLIC;
GRANT ALL ON FUNCTION public.audit_epoch_take() TO falaj_sequencer;

-- Name: FUNCTION audit_epoch_tell(kind text, came_from text, came_to text, epoch bigint); Type: ACL; Schema: public; Owner: falaj_owner
REVOKE ALL ON FUNCTION public.audit_epoch_tell(kind text, came_from text, came_to text, epoch bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.audit_epoch_tell(kind text, came_from text, came_to text, epoch bigint) TO falaj_system;

-- Name: FUNCTION audit_genesis(); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.audit_genesis() FROM PUBLIC;

-- Name: FUNCTION audit_gone_note(); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.audit_gone_note() FROM PUBLIC;
GRANT ALL ON FUNCTION public.audit_gone_note() TO falaj_owner;

-- Name: FUNCTION audit_guard_tables(); Type: ACL; Schema: public; Owner: falaj_owner
REVOKE ALL ON FUNCTION public.audit_guard_tables() FROM PUBLIC;

-- Name: FUNCTION audit_keep_days(t uuid, of_class text); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.audit_keep_days(t uuid, of_class text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.audit_keep_days(t uuid, of_class text) TO falaj_app;
GRANT ALL ON FUNCTION public.audit_keep_days(t uuid, of_class text) TO falaj_scheduler;

-- Name: FUNCTION audit_retention_drop(most bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.audit_retention_drop(most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.audit_retention_drop(most bigint) TO falaj_retention;

-- Name: FUNCTION audit_shadow_note(); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.audit_shadow_note() FROM PUBLIC;
GRANT ALL ON FUNCTION public.audit_shadow_note() TO falaj_owner;

-- Name: FUNCTION audit_system_event(t uuid, in_zone text, code text, action text, details text); Type: ACL; Schema: public; Owner: falaj_owner
REVOKE ALL ON FUNCTION public.audit_system_event(t uuid, in_zone text, code text, action text, details text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.audit_system_event(t uuid, in_zone text, code text, action text, details text) TO falaj_system;

-- Name: FUNCTION audit_unnumbered(); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.audit_unnumbered() FROM PUBLIC;
GRANT ALL ON FUNCTION public.audit_unnumbered() TO falaj_sequencer;

-- Name: FUNCTION authn_principal(t uuid, u uuid); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.authn_principal(t uuid, u uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.authn_principal(t uuid, u uuid) TO falaj_app;

-- Name: FUNCTION authn_token(token_hash bytea); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.authn_token(token_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.authn_token(token_hash bytea) TO falaj_app;

-- Name: FUNCTION authn_token_used(tenants uuid[], tokens uuid[], addresses text[]); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.authn_token_used(tenants uuid[], tokens uuid[], addresses text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.authn_token_used(tenants uuid[], tokens uuid[], addresses text[]) TO falaj_app;

-- Name: TABLE role_binding; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,DELETE ON TABLE public.role_binding TO falaj_app;
GRANT SELECT,INSERT,DELETE ON TABLE public.role_binding TO falaj_system;

-- Name: COLUMN role_binding.tenant_id; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT(tenant_id) ON TABLE public.role_binding TO falaj_scheduler;

-- Name: COLUMN role_binding.user_id; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT(user_id) ON TABLE public.role_binding TO falaj_scheduler;

-- Name: COLUMN role_binding.role; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT(role) ON TABLE public.role_binding TO falaj_scheduler;

-- Name: COLUMN role_binding.place; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT(place) ON TABLE public.role_binding TO falaj_scheduler;

-- Name: COLUMN role_binding.valid_from; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT(valid_from) ON TABLE public.role_binding TO falaj_scheduler;

-- Name: COLUMN role_binding.valid_until; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT(valid_until) ON TABLE public.role_binding TO falaj_scheduler;

-- Name: FUNCTION changes_swept(); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.changes_swept() FROM PUBLIC;
GRANT ALL ON FUNCTION public.changes_swept() TO falaj_app;

-- Name: FUNCTION checkpoint_book(t uuid, bytes bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.checkpoint_book(t uuid, bytes bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.checkpoint_book(t uuid, bytes bigint) TO falaj_worker_api;

-- Name: FUNCTION checkpoint_drop(t uuid, j uuid, keep bigint, writing bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.checkpoint_drop(t uuid, j uuid, keep bigint, writing bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.checkpoint_drop(t uuid, j uuid, keep bigint, writing bigint) TO falaj_worker_api;

-- Name: FUNCTION checkpoint_inputs(t uuid, j uuid); Type: ACL; Schema: public; Owner: falaj_owner
GRANT ALL ON FUNCTION public.checkpoint_inputs(t uuid, j uuid) TO falaj_worker_api;

-- Name: FUNCTION checkpoint_kept_at(t uuid, j uuid); Type: ACL; Schema: public; Owner: falaj_owner
GRANT ALL ON FUNCTION public.checkpoint_kept_at(t uuid, j uuid) TO falaj_scheduler;

-- Name: FUNCTION checkpoint_sweep(most bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.checkpoint_sweep(most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.checkpoint_sweep(most bigint) TO falaj_worker_api;

-- Name: FUNCTION content_delete(t uuid, what text, thing uuid); Type: ACL; Schema: public; Owner: falaj_owner
GRANT ALL ON FUNCTION public.content_delete(t uuid, what text, thing uuid) TO falaj_app;

-- Name: FUNCTION deployment_minutes_put(rows jsonb, oldest bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.deployment_minutes_put(rows jsonb, oldest bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.deployment_minutes_put(rows jsonb, oldest bigint) TO falaj_app;

-- Name: FUNCTION deployment_roll(t uuid, id uuid, drain_ms bigint); Type: ACL; Schema: public; Owner: falaj_owner
GRANT ALL ON FUNCTION public.deployment_roll(t uuid, id uuid, drain_ms bigint) TO falaj_app;

-- Name: FUNCTION deployments_due(drain_ms bigint, limit_to bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.deployments_due(drain_ms bigint, limit_to bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.deployments_due(drain_ms bigint, limit_to bigint) TO falaj_app;

-- Name: FUNCTION engine_shapes(); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.engine_shapes() FROM PUBLIC;
GRANT ALL ON FUNCTION public.engine_shapes() TO falaj_app;
GRANT ALL ON FUNCTION public.engine_shapes() TO falaj_scheduler;

-- Name: FUNCTION environment_objects(t uuid, environment uuid); Type: ACL; Schema: public; Owner: falaj_owner
GRANT ALL ON FUNCTION public.environment_objects(t uuid, environment uuid) TO falaj_app;

-- Name: FUNCTION environment_place(t uuid, archive uuid); Type: ACL; Schema: public; Owner: falaj_owner
GRANT ALL ON FUNCTION public.environment_place(t uuid, archive uuid) TO falaj_app;

-- Name: FUNCTION erasures_after(after_tenant uuid, after_user uuid, most bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.erasures_after(after_tenant uuid, after_user uuid, most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.erasures_after(after_tenant uuid, after_user uuid, most bigint) TO falaj_app;

-- Name: FUNCTION erasures_undone(tenants uuid[], users uuid[]); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.erasures_undone(tenants uuid[], users uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.erasures_undone(tenants uuid[], users uuid[]) TO falaj_app;

-- Name: FUNCTION evidence_zone_stored(zone_code text); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.evidence_zone_stored(zone_code text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.evidence_zone_stored(zone_code text) TO falaj_app;

-- Name: FUNCTION evidence_zone_transfers(zone_code text, since timestamp with time zone, until timestamp with time zone); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.evidence_zone_transfers(zone_code text, since timestamp with time zone, until timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.evidence_zone_transfers(zone_code text, since timestamp with time zone, until timestamp with time zone) TO falaj_app;

-- Name: FUNCTION federation_sweep(); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.federation_sweep() FROM PUBLIC;
GRANT ALL ON FUNCTION public.federation_sweep() TO falaj_app;

-- Name: FUNCTION invariants_check(); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.invariants_check() FROM PUBLIC;
GRANT ALL ON FUNCTION public.invariants_check() TO falaj_app;

-- Name: FUNCTION invariants_quota(); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.invariants_quota() FROM PUBLIC;
GRANT ALL ON FUNCTION public.invariants_quota() TO falaj_app;

-- Name: FUNCTION invitation_find(token_hash bytea); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.invitation_find(token_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.invitation_find(token_hash bytea) TO falaj_app;

-- Name: FUNCTION issuer_find(token_issuer text, audiences text[]); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.issuer_find(token_issuer text, audiences text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.issuer_find(token_issuer text, audiences text[]) TO falaj_app;

-- Name: FUNCTION job_ahead(t uuid, id uuid, in_priority bigint, most bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.job_ahead(t uuid, id uuid, in_priority bigint, most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.job_ahead(t uuid, id uuid, in_priority bigint, most bigint) TO falaj_app;

-- Name: FUNCTION job_ahead(t uuid, id uuid, in_class text, in_priority bigint, most bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.job_ahead(t uuid, id uuid, in_class text, in_priority bigint, most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.job_ahead(t uuid, id uuid, in_class text, in_priority bigint, most bigint) TO falaj_app;

-- Name: FUNCTION job_array_ids(tenants uuid[], jobs uuid[]); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.job_array_ids(tenants uuid[], jobs uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.job_array_ids(tenants uuid[], jobs uuid[]) TO falaj_app;

-- Name: FUNCTION job_bounds_put(tenants uuid[], jobs uuid[], nodess bigint[], mosts bigint[]); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.job_bounds_put(tenants uuid[], jobs uuid[], nodess bigint[], mosts bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.job_bounds_put(tenants uuid[], jobs uuid[], nodess bigint[], mosts bigint[]) TO falaj_app;
GRANT ALL ON FUNCTION public.job_bounds_put(tenants uuid[], jobs uuid[], nodess bigint[], mosts bigint[]) TO falaj_scheduler;

-- Name: FUNCTION job_cancel_told(); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.job_cancel_told() FROM PUBLIC;
GRANT ALL ON FUNCTION public.job_cancel_told() TO falaj_owner;

-- Name: FUNCTION job_changed(); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.job_changed() FROM PUBLIC;
GRANT ALL ON FUNCTION public.job_changed() TO falaj_app;

-- Name: FUNCTION job_counts(t uuid, below uuid, floor uuid, kind text, project uuid, creator uuid, zone text, pool text, q text, after timestamp with time zone, before timestamp with time zone, last_states text[], cap bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.job_counts(t uuid, below uuid, floor uuid, kind text, project uuid, creator uuid, zone text, pool text, q text, after timestamp with time zone, before timestamp with time zone, last_states text[], cap bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.job_counts(t uuid, below uuid, floor uuid, kind text, project uuid, creator uuid, zone text, pool text, q text, after timestamp with time zone, before timestamp with time zone, last_states text[], cap bigint) TO falaj_app;

-- Name: FUNCTION job_engine_put(tenants uuid[], jobs uuid[], engines text[]); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.job_engine_put(tenants uuid[], jobs uuid[], engines text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.job_engine_put(tenants uuid[], jobs uuid[], engines text[]) TO falaj_app;
GRANT ALL ON FUNCTION public.job_engine_put(tenants uuid[], jobs uuid[], engines text[]) TO falaj_scheduler;

-- Name: FUNCTION job_find(t uuid, below uuid, floor uuid, is_queued boolean, live text[], ended text[], kind text, project uuid, creator uuid, zone text, pool text, q text, after timestamp with time zone, before timestamp with time zone, most bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.job_find(t uuid, below uuid, floor uuid, is_queued boolean, live text[], ended text[], kind text, project uuid, creator uuid, zone text, pool text, q text, after timestamp with time zone, before timestamp with time zone, most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.job_find(t uuid, below uuid, floor uuid, is_queued boolean, live text[], ended text[], kind text, project uuid, creator uuid, zone text, pool text, q text, after timestamp with time zone, before timestamp with time zone, most bigint) TO falaj_app;

-- Name: FUNCTION job_names_unknown(tenants uuid[], queues text[], classes text[], owners uuid[], projects uuid[]); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.job_names_unknown(tenants uuid[], queues text[], classes text[], owners uuid[], projects uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.job_names_unknown(tenants uuid[], queues text[], classes text[], owners uuid[], projects uuid[]) TO falaj_app;

-- Name: FUNCTION job_nodes_put(tenants uuid[], jobs uuid[], nodess bigint[]); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.job_nodes_put(tenants uuid[], jobs uuid[], nodess bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.job_nodes_put(tenants uuid[], jobs uuid[], nodess bigint[]) TO falaj_app;
GRANT ALL ON FUNCTION public.job_nodes_put(tenants uuid[], jobs uuid[], nodess bigint[]) TO falaj_scheduler;

-- Name: FUNCTION job_read_many(tenants uuid[], jobs uuid[]); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.job_read_many(tenants uuid[], jobs uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.job_read_many(tenants uuid[], jobs uuid[]) TO falaj_app;

-- Name: FUNCTION job_retry_put(tenants uuid[], jobs uuid[], retries text[]); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.job_retry_put(tenants uuid[], jobs uuid[], retries text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.job_retry_put(tenants uuid[], jobs uuid[], retries text[]) TO falaj_app;
GRANT ALL ON FUNCTION public.job_retry_put(tenants uuid[], jobs uuid[], retries text[]) TO falaj_scheduler;

-- Name: TABLE job; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,UPDATE ON TABLE public.job TO falaj_app;
GRANT SELECT,UPDATE ON TABLE public.job TO falaj_worker_api;
GRANT SELECT,UPDATE ON TABLE public.job TO falaj_scheduler;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.job TO falaj_system;

-- Name: FUNCTION job_rows(tenants uuid[], jobs uuid[]); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.job_rows(tenants uuid[], jobs uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.job_rows(tenants uuid[], jobs uuid[]) TO falaj_app;

-- Name: FUNCTION job_submit_many(tenants uuid[], jobs uuid[], names text[], kinds text[], specs text[], zones text[], pools text[], classes text[], slotss bigint[], gpuss bigint[], priorities bigint[], attempts bigint[], runtimes bigint[], users uuid[], routes text[], keys text[], shas bytea[], event_ids uuid[], events bytea[], input_ords bigint[], input_names text[], input_objects uuid[], projects uuid[], queues text[]); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.job_submit_many(tenants uuid[], jobs uuid[], names text[], kinds text[], specs text[], zones text[], pools text[], classes text[], slotss bigint[], gpuss bigint[], priorities bigint[], attempts bigint[], runtimes bigint[], users uuid[], routes text[], keys text[], shas bytea[], event_ids uuid[], events bytea[], input_ords bigint[], input_names text[], input_objects uuid[], projects uuid[], queues text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.job_submit_many(tenants uuid[], jobs uuid[], names text[], kinds text[], specs text[], zones text[], pools text[], classes text[], slotss bigint[], gpuss bigint[], priorities bigint[], attempts bigint[], runtimes bigint[], users uuid[], routes text[], keys text[], shas bytea[], event_ids uuid[], events bytea[], input_ords bigint[], input_names text[], input_objects uuid[], projects uuid[], queues text[]) TO falaj_app;
GRANT ALL ON FUNCTION public.job_submit_many(tenants uuid[], jobs uuid[], names text[], kinds text[], specs text[], zones text[], pools text[], classes text[], slotss bigint[], gpuss bigint[], priorities bigint[], attempts bigint[], runtimes bigint[], users uuid[], routes text[], keys text[], shas bytea[], event_ids uuid[], events bytea[], input_ords bigint[], input_names text[], input_objects uuid[], projects uuid[], queues text[]) TO falaj_scheduler;

-- Name: FUNCTION job_submit_many(tenants uuid[], jobs uuid[], names text[], kinds text[], specs text[], zones text[], pools text[], classes text[], slotss bigint[], gpuss bigint[], priorities bigint[], attempts bigint[], runtimes bigint[], users uuid[], routes text[], keys text[], shas bytea[], event_ids uuid[], events bytea[], input_ords bigint[], input_names text[], input_objects uuid[], projects uuid[], queues text[], cpus bigint[], memories bigint[], millis bigint[], modelss text[], class_names text[], begins bigint[], deadlines bigint[], dep_ords bigint[], dep_types text[], dep_jobs uuid[]); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.job_submit_many(tenants uuid[], jobs uuid[], names text[], kinds text[], specs text[], zones text[], pools text[], classes text[], slotss bigint[], gpuss bigint[], priorities bigint[], attempts bigint[], runtimes bigint[], users uuid[], routes text[], keys text[], shas bytea[], event_ids uuid[], events bytea[], input_ords bigint[], input_names text[], input_objects uuid[], projects uuid[], queues text[], cpus bigint[], memories bigint[], millis bigint[], modelss text[], class_names text[], begins bigint[], deadlines bigint[], dep_ords bigint[], dep_types text[], dep_jobs uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.job_submit_many(tenants uuid[], jobs uuid[], names text[], kinds text[], specs text[], zones text[], pools text[], classes text[], slotss bigint[], gpuss bigint[], priorities bigint[], attempts bigint[], runtimes bigint[], users uuid[], routes text[], keys text[], shas bytea[], event_ids uuid[], events bytea[], input_ords bigint[], input_names text[], input_objects uuid[], projects uuid[], queues text[], cpus bigint[], memories bigint[], millis bigint[], modelss text[], class_names text[], begins bigint[], deadlines bigint[], dep_ords bigint[], dep_types text[], dep_jobs uuid[]) TO falaj_app;
GRANT ALL ON FUNCTION public.job_submit_many(tenants uuid[], jobs uuid[], names text[], kinds text[], specs text[], zones text[], pools text[], classes text[], slotss bigint[], gpuss bigint[], priorities bigint[], attempts bigint[], runtimes bigint[], users uuid[], routes text[], keys text[], shas bytea[], event_ids uuid[], events bytea[], input_ords bigint[], input_names text[], input_objects uuid[], projects uuid[], queues text[], cpus bigint[], memories bigint[], millis bigint[], modelss text[], class_names text[], begins bigint[], deadlines bigint[], dep_ords bigint[], dep_types text[], dep_jobs uuid[]) TO falaj_scheduler;

-- Name: FUNCTION key_hangs(t uuid, of_zone text, of_version bigint, most bigint); Type: ACL; Schema: public; Owner: falaj_owner
GRANT ALL ON FUNCTION public.key_hangs(t uuid, of_zone text, of_version bigint, most bigint) TO falaj_app;

-- Name: FUNCTION key_shreds_after(after_tenant uuid, after_zone text, most bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.key_shreds_after(after_tenant uuid, after_zone text, most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.key_shreds_after(after_tenant uuid, after_zone text, most bigint) TO falaj_app;

-- Name: FUNCTION key_shreds_undone(tenants uuid[], zones text[], versions bigint[], ordered timestamp with time zone[]); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.key_shreds_undone(tenants uuid[], zones text[], versions bigint[], ordered timestamp with time zone[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.key_shreds_undone(tenants uuid[], zones text[], versions bigint[], ordered timestamp with time zone[]) TO falaj_app;

-- Name: FUNCTION lease_pull(spec jsonb, of_zone text); Type: ACL; Schema: public; Owner: falaj_owner
GRANT ALL ON FUNCTION public.lease_pull(spec jsonb, of_zone text) TO falaj_worker_api;
GRANT ALL ON FUNCTION public.lease_pull(spec jsonb, of_zone text) TO falaj_system;

-- Name: FUNCTION list_find(list text, t uuid, last uuid, sort text, q text, filters text[], vals text[], most bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.list_find(list text, t uuid, last uuid, sort text, q text, filters text[], vals text[], most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.list_find(list text, t uuid, last uuid, sort text, q text, filters text[], vals text[], most bigint) TO falaj_app;

-- Name: FUNCTION login_find(tenant_name text, user_name text); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.login_find(tenant_name text, user_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.login_find(tenant_name text, user_name text) TO falaj_app;

-- Name: FUNCTION machine_kinds(in_pool text, most bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.machine_kinds(in_pool text, most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.machine_kinds(in_pool text, most bigint) TO falaj_app;

-- Name: FUNCTION machine_room(in_pool text, most bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.machine_room(in_pool text, most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.machine_room(in_pool text, most bigint) TO falaj_app;

-- Name: FUNCTION machine_room_by(in_zones text[], in_pool text, in_models text, in_slots bigint, in_gpus bigint, in_cpu_milli bigint, in_memory_bytes bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.machine_room_by(in_zones text[], in_pool text, in_models text, in_slots bigint, in_gpus bigint, in_cpu_milli bigint, in_memory_bytes bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.machine_room_by(in_zones text[], in_pool text, in_models text, in_slots bigint, in_gpus bigint, in_cpu_milli bigint, in_memory_bytes bigint) TO falaj_app;

-- Name: FUNCTION mirror_epoch(); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.mirror_epoch() FROM PUBLIC;
GRANT ALL ON FUNCTION public.mirror_epoch() TO falaj_scheduler;

-- Name: FUNCTION model_engine(t uuid, model uuid, number bigint); Type: ACL; Schema: public; Owner: falaj_owner
GRANT ALL ON FUNCTION public.model_engine(t uuid, model uuid, number bigint) TO falaj_app;

-- Name: FUNCTION node_flavor_set(node uuid, new_flavor text); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.node_flavor_set(node uuid, new_flavor text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.node_flavor_set(node uuid, new_flavor text) TO falaj_app;

-- Name: FUNCTION node_jobs(node uuid, most bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.node_jobs(node uuid, most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.node_jobs(node uuid, most bigint) TO falaj_app;

-- Name: FUNCTION node_load(node uuid); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.node_load(node uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.node_load(node uuid) TO falaj_app;

-- Name: FUNCTION node_move(node uuid, wanted text, froms text[], why text); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.node_move(node uuid, wanted text, froms text[], why text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.node_move(node uuid, wanted text, froms text[], why text) TO falaj_app;

-- Name: FUNCTION node_work(node uuid, behind uuid, most bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.node_work(node uuid, behind uuid, most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.node_work(node uuid, behind uuid, most bigint) TO falaj_app;

-- Name: FUNCTION passport_crossings(t uuid, set_id uuid, most bigint); Type: ACL; Schema: public; Owner: falaj_owner
GRANT ALL ON FUNCTION public.passport_crossings(t uuid, set_id uuid, most bigint) TO falaj_app;

-- Name: FUNCTION passport_jobs(t uuid, set_id uuid, most bigint); Type: ACL; Schema: public; Owner: falaj_owner
GRANT ALL ON FUNCTION public.passport_jobs(t uuid, set_id uuid, most bigint) TO falaj_app;

-- Name: FUNCTION passport_laws(t uuid, set_id uuid, class text, most bigint); Type: ACL; Schema: public; Owner: falaj_owner
GRANT ALL ON FUNCTION public.passport_laws(t uuid, set_id uuid, class text, most bigint) TO falaj_app;

-- Name: FUNCTION passport_models(t uuid, set_id uuid, most bigint); Type: ACL; Schema: public; Owner: falaj_owner
GRANT ALL ON FUNCTION public.passport_models(t uuid, set_id uuid, most bigint) TO falaj_app;

-- Name: FUNCTION passport_places(t uuid, set_id uuid, most bigint); Type: ACL; Schema: public; Owner: falaj_owner
GRANT ALL ON FUNCTION public.passport_places(t uuid, set_id uuid, most bigint) TO falaj_app;

-- Name: FUNCTION person_origin_note(); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.person_origin_note() FROM PUBLIC;
GRANT ALL ON FUNCTION public.person_origin_note() TO falaj_owner;

-- Name: FUNCTION person_origins(u uuid); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.person_origins(u uuid) FROM PUBLIC;

-- Name: FUNCTION project_goes(t uuid, project uuid); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.project_goes(t uuid, project uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.project_goes(t uuid, project uuid) TO falaj_scheduler;

-- Name: FUNCTION provider_find(tenant_name text, provider_name text); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.provider_find(tenant_name text, provider_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.provider_find(tenant_name text, provider_name text) TO falaj_app;

-- Name: FUNCTION provider_names(tenant_name text); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.provider_names(tenant_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.provider_names(tenant_name text) TO falaj_app;

-- Name: FUNCTION queue_declared(most bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.queue_declared(most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.queue_declared(most bigint) TO falaj_app;

-- Name: FUNCTION queue_jobs(most bigint, until interval); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.queue_jobs(most bigint, until interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.queue_jobs(most bigint, until interval) TO falaj_app;

-- Name: FUNCTION queue_known(in_name text); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.queue_known(in_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.queue_known(in_name text) TO falaj_app;

-- Name: FUNCTION queue_machines(most bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.queue_machines(most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.queue_machines(most bigint) TO falaj_app;

-- Name: FUNCTION queue_reserved(most bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.queue_reserved(most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.queue_reserved(most bigint) TO falaj_app;

-- Name: FUNCTION queue_rules(most bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.queue_rules(most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.queue_rules(most bigint) TO falaj_app;

-- Name: FUNCTION queue_tenants(most bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.queue_tenants(most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.queue_tenants(most bigint) TO falaj_app;

-- Name: FUNCTION quota_api_rates(); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.quota_api_rates() FROM PUBLIC;
GRANT ALL ON FUNCTION public.quota_api_rates() TO falaj_app;

-- Name: FUNCTION quota_cohort(in_resource text, in_flavor text, in_zone text, but uuid, OUT lendable bigint, OUT lent bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.quota_cohort(in_resource text, in_flavor text, in_zone text, but uuid, OUT lendable bigint, OUT lent bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.quota_cohort(in_resource text, in_flavor text, in_zone text, but uuid, OUT lendable bigint, OUT lent bigint) TO falaj_app;

-- Name: FUNCTION quota_counted(in_tenant uuid, in_resource text); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.quota_counted(in_tenant uuid, in_resource text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.quota_counted(in_tenant uuid, in_resource text) TO falaj_app;

-- Name: FUNCTION reservation_changed(); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.reservation_changed() FROM PUBLIC;
GRANT ALL ON FUNCTION public.reservation_changed() TO falaj_app;

-- Name: FUNCTION reservation_for(t uuid, project uuid, zones text[]); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.reservation_for(t uuid, project uuid, zones text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.reservation_for(t uuid, project uuid, zones text[]) TO falaj_app;

-- Name: FUNCTION residency_changed(); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.residency_changed() FROM PUBLIC;
GRANT ALL ON FUNCTION public.residency_changed() TO falaj_app;

-- Name: FUNCTION residency_clauses(of_class text, most bigint); Type: ACL; Schema: public; Owner: falaj_owner
GRANT ALL ON FUNCTION public.residency_clauses(of_class text, most bigint) TO falaj_app;

-- Name: FUNCTION residency_things(t uuid, set_id uuid, of_class text, most bigint); Type: ACL; Schema: public; Owner: falaj_owner
GRANT ALL ON FUNCTION public.residency_things(t uuid, set_id uuid, of_class text, most bigint) TO falaj_app;

-- Name: FUNCTION root_key_users(in_zone text); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.root_key_users(in_zone text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.root_key_users(in_zone text) TO falaj_app;
GRANT ALL ON FUNCTION public.root_key_users(in_zone text) TO falaj_scheduler;

-- Name: FUNCTION second_person_facts(t uuid, other uuid, u uuid, roles text[]); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.second_person_facts(t uuid, other uuid, u uuid, roles text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.second_person_facts(t uuid, other uuid, u uuid, roles text[]) TO falaj_app;

-- Name: FUNCTION secret_forget(t uuid, which uuid, keep bigint); Type: ACL; Schema: public; Owner: falaj_owner
GRANT ALL ON FUNCTION public.secret_forget(t uuid, which uuid, keep bigint) TO falaj_app;

-- Name: FUNCTION session_find(cookie_hash bytea); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.session_find(cookie_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.session_find(cookie_hash bytea) TO falaj_app;

-- Name: FUNCTION session_seen(tenants uuid[], sessions uuid[]); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.session_seen(tenants uuid[], sessions uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.session_seen(tenants uuid[], sessions uuid[]) TO falaj_app;

-- Name: FUNCTION shared_environment_jobs(image text, of_zone text); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.shared_environment_jobs(image text, of_zone text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.shared_environment_jobs(image text, of_zone text) TO falaj_app;

-- Name: FUNCTION shared_environment_of(t uuid, job uuid); Type: ACL; Schema: public; Owner: falaj_owner
GRANT ALL ON FUNCTION public.shared_environment_of(t uuid, job uuid) TO falaj_app;
GRANT ALL ON FUNCTION public.shared_environment_of(t uuid, job uuid) TO falaj_worker_api;
GRANT ALL ON FUNCTION public.shared_environment_of(t uuid, job uuid) TO falaj_system;

-- Name: FUNCTION subject_has_hold(t uuid, subject uuid); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.subject_has_hold(t uuid, subject uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.subject_has_hold(t uuid, subject uuid) TO falaj_app;
GRANT ALL ON FUNCTION public.subject_has_hold(t uuid, subject uuid) TO falaj_scheduler;

-- Name: FUNCTION submit_guard(tenants uuid[], projects uuid[], slotss bigint[], gpuss bigint[], runtimes bigint[], users uuid[], routes text[], keys text[]); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.submit_guard(tenants uuid[], projects uuid[], slotss bigint[], gpuss bigint[], runtimes bigint[], users uuid[], routes text[], keys text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.submit_guard(tenants uuid[], projects uuid[], slotss bigint[], gpuss bigint[], runtimes bigint[], users uuid[], routes text[], keys text[]) TO falaj_app;

-- Name: FUNCTION submit_guard_gangs(tenants uuid[], projects uuid[], slotss bigint[], gpuss bigint[], runtimes bigint[], users uuid[], routes text[], keys text[]); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.submit_guard_gangs(tenants uuid[], projects uuid[], slotss bigint[], gpuss bigint[], runtimes bigint[], users uuid[], routes text[], keys text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.submit_guard_gangs(tenants uuid[], projects uuid[], slotss bigint[], gpuss bigint[], runtimes bigint[], users uuid[], routes text[], keys text[]) TO falaj_app;
GRANT ALL ON FUNCTION public.submit_guard_gangs(tenants uuid[], projects uuid[], slotss bigint[], gpuss bigint[], runtimes bigint[], users uuid[], routes text[], keys text[]) TO falaj_scheduler;

-- Name: FUNCTION system_facts(); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.system_facts() FROM PUBLIC;
GRANT ALL ON FUNCTION public.system_facts() TO falaj_app;
GRANT ALL ON FUNCTION public.system_facts() TO falaj_scheduler;

-- Name: FUNCTION tenant_create(t uuid, tenant_name text, shown_name text, home text, zones text[], admin_id uuid, admin_name text, binding uuid, role_name text, by_user uuid, token uuid, token_hash bytea, token_hint text, token_until timestamp with time zone, key_wrapped bytea, key_root bigint, key_provider text, event uuid, event_body bytea, shown_name_ar text); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.tenant_create(t uuid, tenant_name text, shown_name text, home text, zones text[], admin_id uuid, admin_name text, binding uuid, role_name text, by_user uuid, token uuid, token_hash bytea, token_hint text, token_until timestamp with time zone, key_wrapped bytea, key_root bigint, key_provider text, event uuid, event_body bytea, shown_name_ar text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.tenant_create(t uuid, tenant_name text, shown_name text, home text, zones text[], admin_id uuid, admin_name text, binding uuid, role_name text, by_user uuid, token uuid, token_hash bytea, token_hint text, token_until timestamp with time zone, key_wrapped bytea, key_root bigint, key_provider text, event uuid, event_body bytea, shown_name_ar text) TO falaj_app;

-- Name: FUNCTION tenant_delete_schedule(t uuid, after timestamp with time zone, why text, event uuid, event_body bytea); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.tenant_delete_schedule(t uuid, after timestamp with time zone, why text, event uuid, event_body bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.tenant_delete_schedule(t uuid, after timestamp with time zone, why text, event uuid, event_body bytea) TO falaj_app;

-- Name: FUNCTION tenant_goes(t uuid); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.tenant_goes(t uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.tenant_goes(t uuid) TO falaj_scheduler;

-- Name: FUNCTION tenant_has_hold(t uuid); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.tenant_has_hold(t uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.tenant_has_hold(t uuid) TO falaj_app;
GRANT ALL ON FUNCTION public.tenant_has_hold(t uuid) TO falaj_scheduler;

-- Name: FUNCTION tenant_officer(t uuid, u uuid, binding uuid, role_name text, by_user uuid, approved_by uuid, event uuid, event_body bytea); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.tenant_officer(t uuid, u uuid, binding uuid, role_name text, by_user uuid, approved_by uuid, event uuid, event_body bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.tenant_officer(t uuid, u uuid, binding uuid, role_name text, by_user uuid, approved_by uuid, event uuid, event_body bytea) TO falaj_app;

-- Name: FUNCTION tenant_wipe(t uuid, most bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.tenant_wipe(t uuid, most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.tenant_wipe(t uuid, most bigint) TO falaj_scheduler;

-- Name: FUNCTION tenant_wiped(t uuid, events uuid[], bodies bytea[]); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.tenant_wiped(t uuid, events uuid[], bodies bytea[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.tenant_wiped(t uuid, events uuid[], bodies bytea[]) TO falaj_scheduler;

-- Name: FUNCTION tenants_due(most bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.tenants_due(most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.tenants_due(most bigint) TO falaj_scheduler;

-- Name: FUNCTION uploads_open(in_tenant uuid, in_user uuid, OUT of_tenant bigint, OUT of_user bigint); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.uploads_open(in_tenant uuid, in_user uuid, OUT of_tenant bigint, OUT of_user bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.uploads_open(in_tenant uuid, in_user uuid, OUT of_tenant bigint, OUT of_user bigint) TO falaj_app;

-- Name: FUNCTION zone_first_law(); Type: ACL; Schema: public; Owner: falaj_system
REVOKE ALL ON FUNCTION public.zone_first_law() FROM PUBLIC;
GRANT ALL ON FUNCTION public.zone_first_law() TO falaj_app;

-- Name: TABLE api_token; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,UPDATE ON TABLE public.api_token TO falaj_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.api_token TO falaj_system;

-- Name: COLUMN api_token.last_used_at; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(last_used_at) ON TABLE public.api_token TO falaj_system;

-- Name: COLUMN api_token.last_used_ip; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(last_used_ip) ON TABLE public.api_token TO falaj_system;

-- Name: TABLE app_user; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,UPDATE ON TABLE public.app_user TO falaj_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.app_user TO falaj_system;

-- Name: COLUMN app_user.tenant_id; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT(tenant_id) ON TABLE public.app_user TO falaj_scheduler;

-- Name: COLUMN app_user.user_id; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT(user_id) ON TABLE public.app_user TO falaj_scheduler;

-- Name: COLUMN app_user.state; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT(state) ON TABLE public.app_user TO falaj_scheduler;

-- Name: TABLE approval; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,UPDATE ON TABLE public.approval TO falaj_app;
GRANT SELECT,UPDATE ON TABLE public.approval TO falaj_scheduler;

-- Name: TABLE approval_decision; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT ON TABLE public.approval_decision TO falaj_app;

-- Name: TABLE array_dependency; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,DELETE ON TABLE public.array_dependency TO falaj_system;
GRANT SELECT,DELETE ON TABLE public.array_dependency TO falaj_app;
GRANT SELECT,UPDATE ON TABLE public.array_dependency TO falaj_scheduler;

-- Name: TABLE array_task; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.array_task TO falaj_system;
GRANT SELECT,UPDATE ON TABLE public.array_task TO falaj_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.array_task TO falaj_scheduler;

-- Name: TABLE attempt; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT ON TABLE public.attempt TO falaj_app;
GRANT SELECT,UPDATE ON TABLE public.attempt TO falaj_worker_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.attempt TO falaj_scheduler;
GRANT SELECT,DELETE ON TABLE public.attempt TO falaj_system;

-- Name: COLUMN attempt.cancel_asked; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(cancel_asked) ON TABLE public.attempt TO falaj_system;

-- Name: TABLE attempt_idle; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.attempt_idle TO falaj_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.attempt_idle TO falaj_worker_api;
GRANT SELECT,DELETE,UPDATE ON TABLE public.attempt_idle TO falaj_scheduler;
GRANT SELECT ON TABLE public.attempt_idle TO falaj_app;

-- Name: TABLE attempt_member; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.attempt_member TO falaj_system;
GRANT SELECT ON TABLE public.attempt_member TO falaj_app;
GRANT SELECT,UPDATE ON TABLE public.attempt_member TO falaj_worker_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.attempt_member TO falaj_scheduler;

-- Name: TABLE audit_anchor; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.audit_anchor TO falaj_system;
GRANT SELECT ON TABLE public.audit_anchor TO falaj_app;
GRANT SELECT,INSERT ON TABLE public.audit_anchor TO falaj_sequencer;

-- Name: TABLE audit_backlog; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,DELETE ON TABLE public.audit_backlog TO falaj_system;
GRANT SELECT,DELETE ON TABLE public.audit_backlog TO falaj_sequencer;

-- Name: TABLE audit_cursor; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,UPDATE ON TABLE public.audit_cursor TO falaj_sequencer;
GRANT SELECT,UPDATE ON TABLE public.audit_cursor TO falaj_system;

-- Name: TABLE audit_event; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT ON TABLE public.audit_event TO falaj_app;
GRANT SELECT,INSERT ON TABLE public.audit_event TO falaj_worker_api;
GRANT SELECT,INSERT ON TABLE public.audit_event TO falaj_scheduler;
GRANT SELECT,INSERT ON TABLE public.audit_event TO falaj_sequencer;
GRANT SELECT,INSERT,DELETE ON TABLE public.audit_event TO falaj_system;

-- Name: SEQUENCE audit_event_ord_seq; Type: ACL; Schema: public; Owner: falaj_owner
GRANT ALL ON SEQUENCE public.audit_event_ord_seq TO falaj_system;

-- Name: TABLE audit_export; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.audit_export TO falaj_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.audit_export TO falaj_app;

-- Name: TABLE audit_gone; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,DELETE ON TABLE public.audit_gone TO falaj_system;
GRANT SELECT ON TABLE public.audit_gone TO falaj_app;

-- Name: TABLE audit_head; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT ON TABLE public.audit_head TO falaj_app;
GRANT SELECT,INSERT ON TABLE public.audit_head TO falaj_sequencer;
GRANT SELECT ON TABLE public.audit_head TO falaj_scheduler;
GRANT SELECT ON TABLE public.audit_head TO falaj_system;

-- Name: TABLE audit_hold; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.audit_hold TO falaj_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.audit_hold TO falaj_app;

-- Name: TABLE audit_log_state; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT ON TABLE public.audit_log_state TO falaj_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.audit_log_state TO falaj_sequencer;
GRANT SELECT ON TABLE public.audit_log_state TO falaj_scheduler;
GRANT SELECT ON TABLE public.audit_log_state TO falaj_system;

-- Name: TABLE audit_page; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE,UPDATE ON TABLE public.audit_page TO falaj_system;
GRANT SELECT ON TABLE public.audit_page TO falaj_app;
GRANT SELECT ON TABLE public.audit_page TO falaj_scheduler;
GRANT SELECT,INSERT ON TABLE public.audit_page TO falaj_sequencer;

-- Name: TABLE audit_retention; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.audit_retention TO falaj_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.audit_retention TO falaj_app;

-- Name: TABLE audit_seq; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT ON TABLE public.audit_seq TO falaj_app;
GRANT SELECT,INSERT ON TABLE public.audit_seq TO falaj_sequencer;
GRANT SELECT ON TABLE public.audit_seq TO falaj_scheduler;
GRANT SELECT,UPDATE ON TABLE public.audit_seq TO falaj_system;

-- Name: TABLE audit_shadow; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,DELETE ON TABLE public.audit_shadow TO falaj_system;
GRANT SELECT ON TABLE public.audit_shadow TO falaj_sequencer;

-- Name: COLUMN audit_shadow.event_id; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(event_id) ON TABLE public.audit_shadow TO falaj_sequencer;

-- Name: TABLE audit_subject_key; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.audit_subject_key TO falaj_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.audit_subject_key TO falaj_app;
GRANT SELECT,UPDATE ON TABLE public.audit_subject_key TO falaj_scheduler;

-- Name: TABLE audit_task; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE,UPDATE ON TABLE public.audit_task TO falaj_system;
GRANT SELECT,UPDATE ON TABLE public.audit_task TO falaj_sequencer;

-- Name: TABLE dataset; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.dataset TO falaj_app;
GRANT SELECT,DELETE ON TABLE public.dataset TO falaj_system;

-- Name: TABLE deployment; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.deployment TO falaj_app;
GRANT SELECT,DELETE ON TABLE public.deployment TO falaj_system;

-- Name: TABLE model; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.model TO falaj_app;
GRANT SELECT,DELETE ON TABLE public.model TO falaj_system;

-- Name: TABLE node; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT ON TABLE public.node TO falaj_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.node TO falaj_worker_api;
GRANT SELECT,UPDATE ON TABLE public.node TO falaj_scheduler;
GRANT SELECT,UPDATE ON TABLE public.node TO falaj_system;

-- Name: COLUMN node.flavor; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(flavor) ON TABLE public.node TO falaj_system;

-- Name: TABLE project; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,UPDATE ON TABLE public.project TO falaj_app;
GRANT SELECT,DELETE ON TABLE public.project TO falaj_system;
GRANT SELECT ON TABLE public.project TO falaj_scheduler;
GRANT SELECT ON TABLE public.project TO falaj_worker_api;

-- Name: TABLE tenant; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,UPDATE ON TABLE public.tenant TO falaj_app;
GRANT SELECT ON TABLE public.tenant TO falaj_worker_api;
GRANT SELECT ON TABLE public.tenant TO falaj_scheduler;
GRANT SELECT ON TABLE public.tenant TO falaj_sequencer;
GRANT SELECT,INSERT,UPDATE ON TABLE public.tenant TO falaj_system;

-- Name: TABLE user_group; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.user_group TO falaj_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.user_group TO falaj_app;

-- Name: TABLE zone; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT ON TABLE public.zone TO falaj_app;
GRANT SELECT ON TABLE public.zone TO falaj_worker_api;
GRANT SELECT ON TABLE public.zone TO falaj_scheduler;
GRANT SELECT ON TABLE public.zone TO falaj_system;

-- Name: COLUMN zone.legal_regimes; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(legal_regimes) ON TABLE public.zone TO falaj_app;

-- Name: COLUMN zone.regulator; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(regulator) ON TABLE public.zone TO falaj_app;

-- Name: COLUMN zone.provider; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(provider) ON TABLE public.zone TO falaj_app;

-- Name: COLUMN zone.data_classes; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(data_classes) ON TABLE public.zone TO falaj_app;

-- Name: COLUMN zone.worker_cidrs; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(worker_cidrs) ON TABLE public.zone TO falaj_app;

-- Name: COLUMN zone.law_version; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(law_version) ON TABLE public.zone TO falaj_app;

-- Name: TABLE audit_thing; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.audit_thing TO falaj_system;
GRANT SELECT ON TABLE public.audit_thing TO falaj_app;

-- Name: TABLE auth_key; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.auth_key TO falaj_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.auth_key TO falaj_app;
GRANT SELECT,UPDATE ON TABLE public.auth_key TO falaj_scheduler;

-- Name: TABLE break_glass; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.break_glass TO falaj_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.break_glass TO falaj_app;

-- Name: TABLE budget; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.budget TO falaj_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.budget TO falaj_app;
GRANT SELECT,UPDATE ON TABLE public.budget TO falaj_scheduler;

-- Name: TABLE change_swept; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE,UPDATE ON TABLE public.change_swept TO falaj_system;
GRANT SELECT ON TABLE public.change_swept TO falaj_scheduler;

-- Name: TABLE checkpoint; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.checkpoint TO falaj_system;
GRANT SELECT ON TABLE public.checkpoint TO falaj_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.checkpoint TO falaj_worker_api;
GRANT SELECT ON TABLE public.checkpoint TO falaj_scheduler;

-- Name: TABLE database_epoch; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE,UPDATE ON TABLE public.database_epoch TO falaj_system;
GRANT SELECT ON TABLE public.database_epoch TO falaj_app;
GRANT SELECT ON TABLE public.database_epoch TO falaj_worker_api;
GRANT SELECT ON TABLE public.database_epoch TO falaj_scheduler;
GRANT SELECT ON TABLE public.database_epoch TO falaj_sequencer;

-- Name: TABLE dataset_version; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,DELETE ON TABLE public.dataset_version TO falaj_app;
GRANT SELECT ON TABLE public.dataset_version TO falaj_worker_api;
GRANT SELECT,DELETE ON TABLE public.dataset_version TO falaj_system;

-- Name: TABLE dek; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,UPDATE ON TABLE public.dek TO falaj_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.dek TO falaj_worker_api;
GRANT SELECT,DELETE ON TABLE public.dek TO falaj_system;
GRANT SELECT,UPDATE ON TABLE public.dek TO falaj_scheduler;

-- Name: TABLE deployment_minute; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.deployment_minute TO falaj_system;
GRANT SELECT ON TABLE public.deployment_minute TO falaj_app;

-- Name: TABLE device_grant; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE,UPDATE ON TABLE public.device_grant TO falaj_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.device_grant TO falaj_app;

-- Name: TABLE engine; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.engine TO falaj_system;
GRANT SELECT,INSERT,DELETE ON TABLE public.engine TO falaj_app;
GRANT SELECT ON TABLE public.engine TO falaj_scheduler;

-- Name: COLUMN engine.enabled; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(enabled) ON TABLE public.engine TO falaj_app;

-- Name: COLUMN engine.health; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(health) ON TABLE public.engine TO falaj_scheduler;

-- Name: COLUMN engine.health_says; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(health_says) ON TABLE public.engine TO falaj_scheduler;

-- Name: COLUMN engine.heard_at; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(heard_at) ON TABLE public.engine TO falaj_scheduler;

-- Name: COLUMN engine.told_tenants; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(told_tenants) ON TABLE public.engine TO falaj_scheduler;

-- Name: COLUMN engine.told_jobs; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(told_jobs) ON TABLE public.engine TO falaj_scheduler;

-- Name: TABLE engine_run; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.engine_run TO falaj_system;
GRANT SELECT,DELETE ON TABLE public.engine_run TO falaj_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.engine_run TO falaj_scheduler;

-- Name: TABLE environment; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.environment TO falaj_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.environment TO falaj_app;
GRANT SELECT ON TABLE public.environment TO falaj_worker_api;

-- Name: TABLE environment_key; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.environment_key TO falaj_system;
GRANT SELECT,INSERT,DELETE ON TABLE public.environment_key TO falaj_app;
GRANT SELECT ON TABLE public.environment_key TO falaj_worker_api;

-- Name: TABLE environment_policy; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.environment_policy TO falaj_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.environment_policy TO falaj_app;
GRANT SELECT ON TABLE public.environment_policy TO falaj_worker_api;

-- Name: TABLE environment_signature; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.environment_signature TO falaj_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.environment_signature TO falaj_app;
GRANT SELECT ON TABLE public.environment_signature TO falaj_worker_api;

-- Name: TABLE erasure_certificate; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.erasure_certificate TO falaj_system;
GRANT SELECT ON TABLE public.erasure_certificate TO falaj_app;
GRANT SELECT,INSERT ON TABLE public.erasure_certificate TO falaj_scheduler;

-- Name: TABLE federated_role; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.federated_role TO falaj_system;
GRANT SELECT,INSERT,DELETE ON TABLE public.federated_role TO falaj_app;

-- Name: TABLE federated_user; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.federated_user TO falaj_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.federated_user TO falaj_app;

-- Name: TABLE group_member; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.group_member TO falaj_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.group_member TO falaj_app;

-- Name: TABLE idempotency; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.idempotency TO falaj_app;
GRANT SELECT,DELETE ON TABLE public.idempotency TO falaj_scheduler;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.idempotency TO falaj_system;

-- Name: TABLE identity_provider; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.identity_provider TO falaj_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.identity_provider TO falaj_app;

-- Name: TABLE idle_policy; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.idle_policy TO falaj_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.idle_policy TO falaj_app;
GRANT SELECT ON TABLE public.idle_policy TO falaj_scheduler;

-- Name: TABLE inside_policy; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.inside_policy TO falaj_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.inside_policy TO falaj_app;
GRANT SELECT ON TABLE public.inside_policy TO falaj_worker_api;

-- Name: TABLE invitation; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE,UPDATE ON TABLE public.invitation TO falaj_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.invitation TO falaj_app;

-- Name: TABLE issuer; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.issuer TO falaj_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.issuer TO falaj_app;

-- Name: TABLE issuer_subject; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.issuer_subject TO falaj_system;
GRANT SELECT,INSERT,DELETE ON TABLE public.issuer_subject TO falaj_app;

-- Name: TABLE job_array; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.job_array TO falaj_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.job_array TO falaj_app;
GRANT SELECT,UPDATE ON TABLE public.job_array TO falaj_scheduler;

-- Name: TABLE job_change; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,DELETE ON TABLE public.job_change TO falaj_system;
GRANT SELECT,DELETE ON TABLE public.job_change TO falaj_scheduler;

-- Name: TABLE job_dependency; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,DELETE ON TABLE public.job_dependency TO falaj_system;
GRANT SELECT,INSERT,DELETE ON TABLE public.job_dependency TO falaj_app;
GRANT SELECT,UPDATE ON TABLE public.job_dependency TO falaj_scheduler;

-- Name: TABLE job_edge; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT ON TABLE public.job_edge TO falaj_app;
GRANT SELECT ON TABLE public.job_edge TO falaj_worker_api;
GRANT SELECT ON TABLE public.job_edge TO falaj_scheduler;
GRANT SELECT ON TABLE public.job_edge TO falaj_system;

-- Name: TABLE job_end; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.job_end TO falaj_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.job_end TO falaj_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.job_end TO falaj_worker_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.job_end TO falaj_scheduler;

-- Name: TABLE job_event; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT ON TABLE public.job_event TO falaj_app;
GRANT SELECT,INSERT ON TABLE public.job_event TO falaj_worker_api;
GRANT SELECT,INSERT ON TABLE public.job_event TO falaj_scheduler;
GRANT SELECT,INSERT,DELETE ON TABLE public.job_event TO falaj_system;

-- Name: TABLE job_log; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT ON TABLE public.job_log TO falaj_app;
GRANT SELECT,INSERT ON TABLE public.job_log TO falaj_worker_api;
GRANT SELECT,INSERT ON TABLE public.job_log TO falaj_scheduler;
GRANT SELECT,DELETE ON TABLE public.job_log TO falaj_system;

-- Name: TABLE job_metric; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT ON TABLE public.job_metric TO falaj_app;
GRANT SELECT,INSERT ON TABLE public.job_metric TO falaj_worker_api;
GRANT SELECT,DELETE ON TABLE public.job_metric TO falaj_system;

-- Name: TABLE job_object; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT ON TABLE public.job_object TO falaj_app;
GRANT SELECT,INSERT ON TABLE public.job_object TO falaj_worker_api;
GRANT SELECT ON TABLE public.job_object TO falaj_scheduler;
GRANT SELECT,INSERT,DELETE ON TABLE public.job_object TO falaj_system;

-- Name: TABLE job_page; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.job_page TO falaj_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.job_page TO falaj_scheduler;

-- Name: TABLE job_session; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.job_session TO falaj_system;
GRANT SELECT,INSERT,DELETE ON TABLE public.job_session TO falaj_app;
GRANT SELECT ON TABLE public.job_session TO falaj_worker_api;

-- Name: COLUMN job_session.tenant_id; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT(tenant_id) ON TABLE public.job_session TO falaj_scheduler;

-- Name: COLUMN job_session.attempt_id; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT(attempt_id) ON TABLE public.job_session TO falaj_scheduler;

-- Name: COLUMN job_session.kind; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT(kind) ON TABLE public.job_session TO falaj_scheduler;

-- Name: COLUMN job_session.heard_at; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(heard_at) ON TABLE public.job_session TO falaj_app;

-- Name: COLUMN job_session.noticed_at; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(noticed_at) ON TABLE public.job_session TO falaj_worker_api;

-- Name: COLUMN job_session.joined; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(joined) ON TABLE public.job_session TO falaj_worker_api;

-- Name: COLUMN job_session.entered_at; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(entered_at) ON TABLE public.job_session TO falaj_app;

-- Name: TABLE job_step; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.job_step TO falaj_system;
GRANT SELECT ON TABLE public.job_step TO falaj_app;
GRANT SELECT ON TABLE public.job_step TO falaj_scheduler;
GRANT SELECT ON TABLE public.job_step TO falaj_worker_api;

-- Name: SEQUENCE usage_ord; Type: ACL; Schema: public; Owner: falaj_owner
GRANT USAGE ON SEQUENCE public.usage_ord TO falaj_worker_api;
GRANT USAGE ON SEQUENCE public.usage_ord TO falaj_scheduler;
GRANT ALL ON SEQUENCE public.usage_ord TO falaj_system;

-- Name: TABLE usage_record; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT ON TABLE public.usage_record TO falaj_app;
GRANT SELECT,INSERT ON TABLE public.usage_record TO falaj_worker_api;
GRANT SELECT,INSERT ON TABLE public.usage_record TO falaj_scheduler;
GRANT SELECT ON TABLE public.usage_record TO falaj_system;

-- Name: TABLE job_step_xid; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.job_step_xid TO falaj_system;

-- Name: TABLE join_token; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.join_token TO falaj_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.join_token TO falaj_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.join_token TO falaj_scheduler;

-- Name: TABLE jwt_used; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.jwt_used TO falaj_system;
GRANT SELECT,INSERT,DELETE ON TABLE public.jwt_used TO falaj_app;

-- Name: TABLE key_edge; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.key_edge TO falaj_system;
GRANT SELECT ON TABLE public.key_edge TO falaj_app;
GRANT SELECT ON TABLE public.key_edge TO falaj_worker_api;
GRANT SELECT ON TABLE public.key_edge TO falaj_scheduler;

-- Name: TABLE key_rewrap; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.key_rewrap TO falaj_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.key_rewrap TO falaj_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.key_rewrap TO falaj_scheduler;

-- Name: TABLE ledger_entry; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.ledger_entry TO falaj_system;
GRANT SELECT ON TABLE public.ledger_entry TO falaj_app;
GRANT SELECT,INSERT ON TABLE public.ledger_entry TO falaj_scheduler;
GRANT INSERT ON TABLE public.ledger_entry TO falaj_worker_api;

-- Name: TABLE legal_clock; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.legal_clock TO falaj_system;
GRANT SELECT,INSERT ON TABLE public.legal_clock TO falaj_app;
GRANT SELECT ON TABLE public.legal_clock TO falaj_scheduler;

-- Name: COLUMN legal_clock.due_at; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(due_at) ON TABLE public.legal_clock TO falaj_app;

-- Name: COLUMN legal_clock.extended_at; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(extended_at) ON TABLE public.legal_clock TO falaj_app;

-- Name: COLUMN legal_clock.extension_reason; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(extension_reason) ON TABLE public.legal_clock TO falaj_app;

-- Name: COLUMN legal_clock.closed_at; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(closed_at) ON TABLE public.legal_clock TO falaj_app;

-- Name: COLUMN legal_clock.closed_by; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(closed_by) ON TABLE public.legal_clock TO falaj_app;

-- Name: COLUMN legal_clock.note; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(note) ON TABLE public.legal_clock TO falaj_app;

-- Name: COLUMN legal_clock.told; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(told) ON TABLE public.legal_clock TO falaj_app;
GRANT UPDATE(told) ON TABLE public.legal_clock TO falaj_scheduler;

-- Name: TABLE login_guard; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.login_guard TO falaj_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.login_guard TO falaj_app;

-- Name: TABLE machine_hold; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.machine_hold TO falaj_system;
GRANT SELECT ON TABLE public.machine_hold TO falaj_app;
GRANT SELECT ON TABLE public.machine_hold TO falaj_scheduler;
GRANT SELECT ON TABLE public.machine_hold TO falaj_worker_api;

-- Name: TABLE model_version; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,DELETE ON TABLE public.model_version TO falaj_app;
GRANT SELECT ON TABLE public.model_version TO falaj_worker_api;
GRANT SELECT,DELETE ON TABLE public.model_version TO falaj_system;

-- Name: TABLE node_cert; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.node_cert TO falaj_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.node_cert TO falaj_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.node_cert TO falaj_worker_api;
GRANT SELECT,DELETE ON TABLE public.node_cert TO falaj_scheduler;

-- Name: TABLE notice_cursor; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.notice_cursor TO falaj_system;
GRANT SELECT,INSERT ON TABLE public.notice_cursor TO falaj_app;
GRANT SELECT,UPDATE ON TABLE public.notice_cursor TO falaj_scheduler;

-- Name: TABLE notice_delivery; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.notice_delivery TO falaj_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.notice_delivery TO falaj_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.notice_delivery TO falaj_scheduler;

-- Name: TABLE notice_person; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.notice_person TO falaj_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.notice_person TO falaj_app;
GRANT SELECT ON TABLE public.notice_person TO falaj_scheduler;

-- Name: TABLE notice_rule; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.notice_rule TO falaj_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.notice_rule TO falaj_app;
GRANT SELECT ON TABLE public.notice_rule TO falaj_scheduler;

-- Name: TABLE object; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,UPDATE ON TABLE public.object TO falaj_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.object TO falaj_worker_api;
GRANT SELECT ON TABLE public.object TO falaj_scheduler;
GRANT SELECT,DELETE ON TABLE public.object TO falaj_system;

-- Name: COLUMN object.object_id; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(object_id) ON TABLE public.object TO falaj_system;

-- Name: TABLE oidc_login; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.oidc_login TO falaj_system;
GRANT SELECT,INSERT,DELETE ON TABLE public.oidc_login TO falaj_app;

-- Name: TABLE password; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.password TO falaj_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.password TO falaj_app;

-- Name: TABLE person_origin; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.person_origin TO falaj_system;
GRANT SELECT ON TABLE public.person_origin TO falaj_app;

-- Name: TABLE plan_change; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.plan_change TO falaj_system;
GRANT SELECT,INSERT,DELETE ON TABLE public.plan_change TO falaj_scheduler;

-- Name: TABLE price; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.price TO falaj_system;
GRANT SELECT,INSERT ON TABLE public.price TO falaj_app;
GRANT SELECT ON TABLE public.price TO falaj_scheduler;
GRANT SELECT ON TABLE public.price TO falaj_worker_api;

-- Name: TABLE priority_class; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.priority_class TO falaj_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.priority_class TO falaj_app;
GRANT SELECT ON TABLE public.priority_class TO falaj_scheduler;
GRANT SELECT ON TABLE public.priority_class TO falaj_worker_api;

-- Name: TABLE queue; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.queue TO falaj_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.queue TO falaj_app;
GRANT SELECT ON TABLE public.queue TO falaj_scheduler;

-- Name: COLUMN queue.slot_usage; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(slot_usage) ON TABLE public.queue TO falaj_scheduler;

-- Name: COLUMN queue.gpu_usage; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(gpu_usage) ON TABLE public.queue TO falaj_scheduler;

-- Name: COLUMN queue.usage_at; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(usage_at) ON TABLE public.queue TO falaj_scheduler;

-- Name: TABLE quota; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.quota TO falaj_app;
GRANT SELECT,UPDATE ON TABLE public.quota TO falaj_worker_api;
GRANT SELECT,UPDATE ON TABLE public.quota TO falaj_scheduler;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.quota TO falaj_system;

-- Name: TABLE quota_rule; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.quota_rule TO falaj_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.quota_rule TO falaj_app;
GRANT SELECT ON TABLE public.quota_rule TO falaj_scheduler;

-- Name: TABLE recovery_code; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.recovery_code TO falaj_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.recovery_code TO falaj_app;

-- Name: TABLE registry_host; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.registry_host TO falaj_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.registry_host TO falaj_app;
GRANT SELECT ON TABLE public.registry_host TO falaj_worker_api;

-- Name: TABLE reservation; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.reservation TO falaj_system;
GRANT SELECT,INSERT,DELETE ON TABLE public.reservation TO falaj_app;
GRANT SELECT,DELETE ON TABLE public.reservation TO falaj_scheduler;

-- Name: TABLE reservation_machine; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.reservation_machine TO falaj_system;
GRANT SELECT,INSERT,DELETE ON TABLE public.reservation_machine TO falaj_app;
GRANT SELECT,INSERT,DELETE ON TABLE public.reservation_machine TO falaj_scheduler;

-- Name: TABLE reservation_revision; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE,UPDATE ON TABLE public.reservation_revision TO falaj_system;
GRANT SELECT ON TABLE public.reservation_revision TO falaj_app;
GRANT SELECT ON TABLE public.reservation_revision TO falaj_scheduler;

-- Name: TABLE residency_revision; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE,UPDATE ON TABLE public.residency_revision TO falaj_system;
GRANT SELECT ON TABLE public.residency_revision TO falaj_app;
GRANT SELECT ON TABLE public.residency_revision TO falaj_worker_api;
GRANT SELECT ON TABLE public.residency_revision TO falaj_scheduler;

-- Name: TABLE root_key; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.root_key TO falaj_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.root_key TO falaj_app;
GRANT SELECT ON TABLE public.root_key TO falaj_scheduler;
GRANT SELECT ON TABLE public.root_key TO falaj_worker_api;

-- Name: TABLE saved_view; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.saved_view TO falaj_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.saved_view TO falaj_app;

-- Name: TABLE scheduler_round; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.scheduler_round TO falaj_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.scheduler_round TO falaj_scheduler;

-- Name: TABLE scim_user; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.scim_user TO falaj_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.scim_user TO falaj_app;

-- Name: TABLE secret; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.secret TO falaj_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.secret TO falaj_app;
GRANT SELECT ON TABLE public.secret TO falaj_worker_api;

-- Name: COLUMN secret.last_used_at; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(last_used_at) ON TABLE public.secret TO falaj_worker_api;

-- Name: TABLE secret_version; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.secret_version TO falaj_system;
GRANT SELECT,INSERT,DELETE ON TABLE public.secret_version TO falaj_app;
GRANT SELECT ON TABLE public.secret_version TO falaj_worker_api;

-- Name: TABLE session; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE,UPDATE ON TABLE public.session TO falaj_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.session TO falaj_app;

-- Name: COLUMN session.last_seen; Type: ACL; Schema: public; Owner: falaj_owner
GRANT UPDATE(last_seen) ON TABLE public.session TO falaj_system;

-- Name: TABLE shared_environment; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.shared_environment TO falaj_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.shared_environment TO falaj_app;
GRANT SELECT ON TABLE public.shared_environment TO falaj_worker_api;

-- Name: TABLE tenant_kept; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT ON TABLE public.tenant_kept TO falaj_system;

-- Name: TABLE tenant_key; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,UPDATE ON TABLE public.tenant_key TO falaj_app;
GRANT SELECT,UPDATE ON TABLE public.tenant_key TO falaj_worker_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.tenant_key TO falaj_system;
GRANT SELECT,UPDATE ON TABLE public.tenant_key TO falaj_scheduler;

-- Name: TABLE tenant_zone; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.tenant_zone TO falaj_system;
GRANT SELECT,INSERT,DELETE ON TABLE public.tenant_zone TO falaj_app;
GRANT SELECT ON TABLE public.tenant_zone TO falaj_worker_api;
GRANT SELECT ON TABLE public.tenant_zone TO falaj_scheduler;

-- Name: TABLE totp; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.totp TO falaj_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.totp TO falaj_app;

-- Name: TABLE transfer; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.transfer TO falaj_system;
GRANT SELECT,INSERT ON TABLE public.transfer TO falaj_app;

-- Name: TABLE transfer_policy; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.transfer_policy TO falaj_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.transfer_policy TO falaj_app;
GRANT SELECT ON TABLE public.transfer_policy TO falaj_worker_api;
GRANT SELECT ON TABLE public.transfer_policy TO falaj_scheduler;

-- Name: TABLE upload; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.upload TO falaj_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.upload TO falaj_app;
GRANT SELECT ON TABLE public.upload TO falaj_worker_api;

-- Name: TABLE upload_part; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.upload_part TO falaj_system;
GRANT SELECT,INSERT,DELETE ON TABLE public.upload_part TO falaj_app;

-- Name: TABLE usage_debit; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.usage_debit TO falaj_system;
GRANT SELECT ON TABLE public.usage_debit TO falaj_app;
GRANT SELECT ON TABLE public.usage_debit TO falaj_scheduler;

-- Name: TABLE usage_fence; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.usage_fence TO falaj_system;
GRANT SELECT ON TABLE public.usage_fence TO falaj_app;
GRANT SELECT,UPDATE ON TABLE public.usage_fence TO falaj_scheduler;

-- Name: TABLE usage_open; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.usage_open TO falaj_system;
GRANT SELECT ON TABLE public.usage_open TO falaj_app;
GRANT SELECT ON TABLE public.usage_open TO falaj_scheduler;

-- Name: TABLE wrapped_data_key; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.wrapped_data_key TO falaj_system;
GRANT SELECT ON TABLE public.wrapped_data_key TO falaj_app;
GRANT SELECT ON TABLE public.wrapped_data_key TO falaj_scheduler;

-- Name: TABLE zone_clock; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.zone_clock TO falaj_system;
GRANT SELECT,INSERT ON TABLE public.zone_clock TO falaj_app;
GRANT SELECT ON TABLE public.zone_clock TO falaj_worker_api;
GRANT SELECT ON TABLE public.zone_clock TO falaj_scheduler;

-- Name: TABLE zone_law; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,INSERT,DELETE ON TABLE public.zone_law TO falaj_system;
GRANT SELECT,INSERT ON TABLE public.zone_law TO falaj_app;
GRANT SELECT ON TABLE public.zone_law TO falaj_worker_api;
GRANT SELECT ON TABLE public.zone_law TO falaj_scheduler;

-- Name: TABLE zone_rule; Type: ACL; Schema: public; Owner: falaj_owner
GRANT SELECT,DELETE ON TABLE public.zone_rule TO falaj_system;
GRANT SELECT,INSERT ON TABLE public.zone_rule TO falaj_app;
GRANT SELECT ON TABLE public.zone_rule TO falaj_worker_api;
GRANT SELECT ON TABLE public.zone_rule TO falaj_scheduler;

-- Name: DEFAULT PRIVILEGES FOR TABLES; Type: DEFAULT ACL; Schema: public; Owner: falaj_owner
ALTER DEFAULT PRIVILEGES FOR ROLE falaj_owner IN SCHEMA public GRANT SELECT,DELETE ON TABLES  TO falaj_system;
