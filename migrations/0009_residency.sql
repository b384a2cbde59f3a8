-- SPDX-License-Identifier: Apache-2.0
-- 0009 - residency: the law of a zone as dated rows, where a tenant's classes of data may be, transfer policies and the register of
-- transfers, and the database's own judgement at the moment a lease is written. N-1: additive; the older program leases what the
-- trigger lets through.
SET LOCAL ROLE falaj_owner;

CREATE FUNCTION data_classes() RETURNS text[] LANGUAGE sql IMMUTABLE AS
$$ SELECT '{public,internal,personal,sensitive,health,banking,gov}'::text[] $$;

-- Regulated classes (health, banking, gov) are permitted where a zone's law says so, never by default.
ALTER TABLE zone
  ADD COLUMN regulator    text NOT NULL DEFAULT '',
  ADD COLUMN provider     text NOT NULL DEFAULT '',                 -- who runs the machines
  ADD COLUMN data_classes text[] NOT NULL DEFAULT '{public,internal,personal,sensitive}' CHECK (data_classes <@ data_classes()),
  ADD COLUMN worker_cidrs cidr[] NOT NULL DEFAULT '{}',             -- none: any address; the certificate alone decides
  ADD COLUMN law_version  bigint NOT NULL DEFAULT 1;

-- Each change of a zone's law is a version that stays; zone.law_version names the one in force.
CREATE TABLE zone_law (
  zone          text NOT NULL REFERENCES zone,
  version       bigint NOT NULL CHECK (version > 0),
  law           jsonb NOT NULL,                       -- as it was asked for
  approval_id   uuid,                                 -- NULL: the law a zone was created with
  approved_by   uuid[] NOT NULL DEFAULT '{}',
  set_by        uuid NOT NULL,
  at            timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (zone, version)
);

-- What a law says about data leaving: outside `countries` (none: the zone's own) a class may never go without a named exception, may go
-- on a legal basis, or may go freely.
CREATE TABLE zone_rule (
  zone          text NOT NULL,
  version       bigint NOT NULL,
  n             bigint NOT NULL,
  regime        text NOT NULL CHECK (regime ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  data_class    text NOT NULL CHECK (data_class = ANY (data_classes())),
  may_leave     text NOT NULL CHECK (may_leave IN ('never', 'with_basis', 'free')),
  countries     text[] NOT NULL DEFAULT '{}',
  source_text   text NOT NULL,
  valid_from    timestamptz NOT NULL,
  valid_to      timestamptz CHECK (valid_to > valid_from),
  PRIMARY KEY (zone, version, n),
  FOREIGN KEY (zone, version) REFERENCES zone_law
);

CREATE TABLE zone_clock (
  zone          text NOT NULL,
  version       bigint NOT NULL,
  n             bigint NOT NULL,
  regime        text NOT NULL,
  name          text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),   -- breach-notify, dsar, retention
  hours         bigint CHECK (hours > 0),             -- NULL: the law names no number ("immediately")
  source_text   text NOT NULL,
  valid_from    timestamptz NOT NULL,
  valid_to      timestamptz CHECK (valid_to > valid_from),
  PRIMARY KEY (zone, version, n),
  FOREIGN KEY (zone, version) REFERENCES zone_law
);

-- Where one class of a tenant's data may be; a class without rows may be where tenant.allowed_zones says.
CREATE TABLE tenant_zone (
  tenant_id     uuid NOT NULL REFERENCES tenant,
  data_class    text NOT NULL CHECK (data_class = ANY (data_classes())),
  zone          text NOT NULL REFERENCES zone,
  PRIMARY KEY (tenant_id, data_class, zone)
);

CREATE TABLE transfer_policy (
  tenant_id     uuid NOT NULL REFERENCES tenant,
  policy_id     uuid NOT NULL,
  from_zone     text NOT NULL REFERENCES zone,
  to_zone       text NOT NULL REFERENCES zone,
  data_class    text NOT NULL CHECK (data_class = ANY (data_classes())),
  purpose       text NOT NULL CHECK (purpose ~ '^[a-z0-9][a-z0-9-]{0,62}$'),    -- "any": all of them
  legal_basis   text NOT NULL CHECK (legal_basis IN ('adequacy', 'scc', 'bcr', 'explicit-consent', 'contract', 'legal-claim', 'public-interest',
                                                     'regulator-approval')),
  document_sha256 bytea NOT NULL CHECK (length(document_sha256) = 32),
  assessment_ref text NOT NULL CHECK (length(assessment_ref) BETWEEN 1 AND 256),
  exception_ref text NOT NULL DEFAULT '' CHECK (length(exception_ref) <= 256),
  recipients    text[] NOT NULL DEFAULT '{}',
  state         text NOT NULL DEFAULT 'PROPOSED' CHECK (state IN ('PROPOSED', 'ACTIVE', 'REVOKED')),
  valid_from    timestamptz,
  valid_until   timestamptz NOT NULL,
  approval_id   uuid NOT NULL,
  proposed_by   uuid NOT NULL,
  revoked_by    uuid,
  revoked_at    timestamptz,
  version       bigint NOT NULL DEFAULT 1,
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, policy_id),
  CHECK (from_zone <> to_zone),
  CHECK (valid_until <= created_at + interval '366 days'),
  CHECK (data_class NOT IN ('health', 'banking', 'gov') OR exception_ref <> ''),
  CHECK (state <> 'ACTIVE' OR valid_from IS NOT NULL),
  CHECK ((state = 'REVOKED') = (revoked_at IS NOT NULL))
);
CREATE INDEX transfer_policy_active ON transfer_policy (tenant_id, to_zone, data_class) WHERE state = 'ACTIVE';

-- The register: what crossed, from where to where, on which basis, by whom. Rows are never changed.
CREATE TABLE transfer (
  tenant_id     uuid NOT NULL,
  transfer_id   uuid NOT NULL,
  policy_id     uuid,                                 -- NULL: the law and the tenant's zones allow it without one
  rule          text NOT NULL,                        -- the judge's
  from_zone     text NOT NULL REFERENCES zone,
  to_zone       text NOT NULL REFERENCES zone,
  data_class    text NOT NULL,
  purpose       text NOT NULL,
  dataset_id    uuid NOT NULL,
  version       bigint NOT NULL,
  from_object   uuid NOT NULL,
  to_object     uuid NOT NULL,
  bytes         bigint NOT NULL CHECK (bytes >= 0),
  by_user       uuid NOT NULL,
  at            timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, transfer_id),
  UNIQUE (tenant_id, dataset_id, version, to_zone),
  FOREIGN KEY (tenant_id, policy_id) REFERENCES transfer_policy,
  FOREIGN KEY (tenant_id, dataset_id, version) REFERENCES dataset_version,
  FOREIGN KEY (tenant_id, from_object) REFERENCES object,
  FOREIGN KEY (tenant_id, to_object) REFERENCES object
);

-- One number that grows with every change of what the judge knows: who remembers facts asks for it.
CREATE TABLE residency_revision (
  id            int PRIMARY KEY CHECK (id = 1),
  revision      bigint NOT NULL
);
INSERT INTO residency_revision VALUES (1, 1);
INSERT INTO zone_law (zone, version, law, set_by) SELECT code, 1, '{}', '00000000-0000-0000-0000-000000000000' FROM zone;

-- ------------------------------------------------------------------------------------------------------------ who may touch it
DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['tenant_zone', 'transfer_policy', 'transfer'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_tenant ON %I TO falaj_app USING (tenant_id = current_setting(''app.tenant'')::uuid)', t);
    EXECUTE format('CREATE POLICY system ON %I TO falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer, falaj_owner USING (true)', t);
  END LOOP;
END $$;
GRANT UPDATE (legal_regimes, regulator, provider, data_classes, worker_cidrs, law_version) ON zone TO falaj_app;
GRANT SELECT, INSERT ON zone_law, zone_rule, zone_clock TO falaj_app;
GRANT SELECT, INSERT, DELETE ON tenant_zone TO falaj_app;
GRANT SELECT, INSERT, UPDATE ON transfer_policy TO falaj_app;
GRANT SELECT, INSERT ON transfer TO falaj_app;
GRANT SELECT ON residency_revision TO falaj_app, falaj_worker_api, falaj_scheduler, falaj_system;
GRANT SELECT ON zone_law, zone_rule, zone_clock, tenant_zone, transfer_policy TO falaj_worker_api, falaj_scheduler, falaj_system;
GRANT SELECT ON transfer, object, tenant_key, dek TO falaj_system;

-- A zone's law is the platform's: written in the platform's scope only (zone itself carries no tenant and so no row-level security).
CREATE FUNCTION zone_law_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF current_user = 'falaj_app' AND current_setting('app.tenant')::uuid <> '00000000-0000-0000-0000-000000000000' THEN
    RAISE EXCEPTION 'the law of a zone is set in the scope of the platform' USING ERRCODE = '42501';
  END IF;
  RETURN NULL;
END $$;
CREATE FUNCTION residency_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE residency_revision SET revision = revision + 1 WHERE id = 1;
  RETURN NULL;
END $$;
-- Zones that are made without saying so have a first law too, with nothing in it.
CREATE FUNCTION zone_first_law() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  INSERT INTO zone_law (zone, version, law, set_by)
    SELECT code, 1, '{}', '00000000-0000-0000-0000-000000000000' FROM fresh WHERE law_version = 1 ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
GRANT CREATE ON SCHEMA public TO falaj_system;
GRANT SELECT, UPDATE ON residency_revision TO falaj_system;
GRANT SELECT, INSERT ON zone_law TO falaj_system;
DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['zone', 'zone_law', 'zone_rule', 'zone_clock'] LOOP
    EXECUTE format('CREATE TRIGGER %I_platform_only AFTER INSERT OR UPDATE OR DELETE ON %I FOR EACH STATEMENT EXECUTE FUNCTION zone_law_guard()', t, t);
  END LOOP;
  FOREACH t IN ARRAY ARRAY['zone', 'zone_rule', 'tenant_zone', 'transfer_policy'] LOOP
    EXECUTE format('CREATE TRIGGER %I_changed AFTER INSERT OR UPDATE OR DELETE ON %I FOR EACH STATEMENT EXECUTE FUNCTION residency_changed()', t, t);
  END LOOP;
END $$;
CREATE TRIGGER tenant_zones_changed AFTER UPDATE OF home_zone, allowed_zones ON tenant FOR EACH STATEMENT EXECUTE FUNCTION residency_changed();
CREATE TRIGGER zone_first_law AFTER INSERT ON zone REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION zone_first_law();

-- ------------------------------------------------------------------------------------------------------- the database's judge
-- May a tenant's data of a class be in a zone now? The same question as tenants/residency.c asks, answered apart from it, from the
-- rows as they are at this moment: the last word on a lease. Unknown tenant, zone or class: no.
--   need 0: home or allowed, and no law of the home zone objects; 1: a policy in force; 2: a policy that names its exception.
CREATE FUNCTION residency_zone_ok(t uuid, class text, target text, purpose_ text DEFAULT NULL) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  -- PL/pgSQL keeps the plan of this query; an SQL function that pins its path would make it anew at each call.
  RETURN coalesce((
    SELECT class = ANY (z.data_classes) AND (need.level = 0 OR EXISTS (
             SELECT FROM transfer_policy p
              WHERE p.tenant_id = t AND p.to_zone = target AND p.from_zone = n.home_zone AND p.data_class = class AND p.state = 'ACTIVE'
                AND p.valid_from <= clock_timestamp() AND clock_timestamp() < p.valid_until AND p.purpose IN ('any', coalesce(purpose_, 'any'))
                AND (need.level < 2 OR p.exception_ref <> '')))
      FROM tenant n JOIN zone h ON h.code = n.home_zone JOIN zone z ON z.code = target
           CROSS JOIN LATERAL (
             SELECT greatest(
               CASE WHEN EXISTS (SELECT FROM tenant_zone a WHERE a.tenant_id = t AND a.data_class = class)
                    THEN NOT EXISTS (SELECT FROM tenant_zone a WHERE a.tenant_id = t AND a.data_class = class AND a.zone = target)
                    ELSE NOT (target = ANY (n.allowed_zones)) END::int,
               CASE WHEN h.code = z.code THEN 0
                    ELSE coalesce((SELECT max(CASE WHEN z.country = ANY (r.countries) OR (r.countries = '{}' AND z.country = h.country) THEN 0
                                                   WHEN r.may_leave = 'never' THEN 2 WHEN r.may_leave = 'with_basis' THEN 1 ELSE 0 END)
                                     FROM zone_rule r
                                    WHERE r.zone = h.code AND r.version = h.law_version AND r.data_class = class
                                      AND r.valid_from <= clock_timestamp() AND (r.valid_to IS NULL OR clock_timestamp() < r.valid_to)),
                                  CASE WHEN z.country = h.country OR class IN ('public', 'internal') THEN 0
                                       WHEN class IN ('health', 'banking', 'gov') THEN 2 ELSE 1 END) END) AS level) need
     WHERE n.tenant_id = t), false);
END $$;

-- What a job's data is used for, in the words of policies.
CREATE FUNCTION job_purpose(kind text) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE kind WHEN 'train' THEN 'training' WHEN 'serve' THEN 'serving' ELSE 'compute' END $$;

-- Whatever writes an attempt: its machine must stand where its tenant's data may be.
CREATE FUNCTION attempt_residency() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM (SELECT DISTINCT a.tenant_id, j.data_class, j.kind, n.zone FROM fresh a
                            JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id JOIN node n ON n.node_id = a.node_id) x
              WHERE NOT residency_zone_ok(x.tenant_id, x.data_class, x.zone, job_purpose(x.kind))) THEN
    RAISE EXCEPTION 'the data may not be in that zone' USING ERRCODE = '42501';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER attempt_residency AFTER INSERT ON attempt REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION attempt_residency();

-- -------------------------------------------------------------------------------------------------- totals for the platform
-- What lies in a zone, over all tenants, without saying whose: for the platform's evidence report.
CREATE FUNCTION evidence_zone_stored(zone_code text)
RETURNS TABLE (data_class text, tenants bigint, objects bigint, bytes bigint, key_versions text, providers text)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT o.data_class, count(DISTINCT o.tenant_id), count(*), coalesce(sum(o.stored_bytes), 0)::bigint,
         coalesce(string_agg(DISTINCT 'v' || d.key_version, ' '), ''), coalesce(string_agg(DISTINCT k.provider, ' '), '')
    FROM object o LEFT JOIN dek d ON d.tenant_id = o.tenant_id AND d.object_id = o.object_id
         LEFT JOIN tenant_key k ON k.tenant_id = d.tenant_id AND k.zone = d.zone AND k.version = d.key_version
   WHERE o.zone = zone_code AND o.state = 'COMMITTED' GROUP BY o.data_class;
END $$;
CREATE FUNCTION evidence_zone_transfers(zone_code text, since timestamptz, until timestamptz)
RETURNS TABLE (from_zone text, to_zone text, data_class text, legal_basis text, transfers bigint, bytes bigint)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT x.from_zone, x.to_zone, x.data_class, coalesce(p.legal_basis, x.rule), count(*), coalesce(sum(x.bytes), 0)::bigint
    FROM transfer x LEFT JOIN transfer_policy p ON p.tenant_id = x.tenant_id AND p.policy_id = x.policy_id
   WHERE zone_code IN (x.from_zone, x.to_zone) AND x.at >= since AND x.at < until GROUP BY 1, 2, 3, 4;
END $$;

DO $$
DECLARE f regprocedure;
BEGIN
  FOREACH f IN ARRAY ARRAY['residency_changed()', 'zone_first_law()', 'evidence_zone_stored(text)',
                           'evidence_zone_transfers(text, timestamptz, timestamptz)']::regprocedure[] LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
    EXECUTE format('ALTER FUNCTION %s OWNER TO falaj_system', f);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM falaj_owner', f);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO falaj_app', f);
  END LOOP;
END $$;
REVOKE CREATE ON SCHEMA public FROM falaj_system;
