-- SPDX-License-Identifier: Apache-2.0
-- 0012 - the audit log's other half: what is searched, held, kept, erased, anchored, exported, compared, and who changed rows past us.
-- N-1: additive; an older sequencer leaves the new columns of audit_seq NULL, which no proof needs.
SET LOCAL ROLE falaj_owner;

-- ------------------------------------------------------------------------------------------------------------------ search
-- Taken out of the body by the sequencer. They serve queries and retention; the body alone is evidence.
ALTER TABLE audit_seq
  ADD COLUMN at            timestamptz,
  ADD COLUMN code          text COLLATE "C",
  ADD COLUMN action        text COLLATE "C",
  ADD COLUMN actor         text,
  ADD COLUMN actor_id      uuid,
  ADD COLUMN resource_kind text,
  ADD COLUMN resource_id   text,
  ADD COLUMN outcome       text,
  ADD COLUMN request_id    text,
  ADD COLUMN source        text,                      -- src_ip as it stands in the body: sealed for people
  ADD COLUMN dropped_at    timestamptz;               -- retention took the body
CREATE INDEX audit_seq_event ON audit_seq (tenant_id, event_id);
CREATE INDEX audit_seq_at ON audit_seq (tenant_id, at);
CREATE INDEX audit_seq_action ON audit_seq (tenant_id, action, tseq);
CREATE INDEX audit_seq_actor ON audit_seq (tenant_id, actor_id, tseq) WHERE actor_id IS NOT NULL;
CREATE INDEX audit_seq_resource ON audit_seq (tenant_id, resource_id, tseq) WHERE resource_id IS NOT NULL;
CREATE INDEX audit_seq_request ON audit_seq (tenant_id, request_id) WHERE request_id IS NOT NULL;
CREATE INDEX audit_seq_refused ON audit_seq (tenant_id, tseq) WHERE right(code, 1) <> 'S';

-- ---------------------------------------------------------------------------------------------------- holds and retention
CREATE TABLE audit_hold (
  tenant_id     uuid NOT NULL REFERENCES tenant,
  hold_id       uuid NOT NULL,
  about_tenant  uuid,                                 -- a hold of the platform on a tenant; NULL: on the own one
  subject_id    uuid,                                 -- only what this user did; NULL: everything
  from_at       timestamptz,                          -- only events of that time; NULL: open
  until_at      timestamptz,
  reason        text NOT NULL CHECK (length(reason) BETWEEN 1 AND 1024),
  state         text NOT NULL DEFAULT 'ACTIVE' CHECK (state IN ('ACTIVE', 'LIFTED')),
  placed_by     uuid NOT NULL,
  lifted_at     timestamptz,
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, hold_id),
  CHECK (about_tenant IS NULL OR tenant_id = '00000000-0000-0000-0000-000000000000'),
  CHECK ((state = 'LIFTED') = (lifted_at IS NOT NULL))
);
CREATE INDEX audit_hold_active ON audit_hold (tenant_id) WHERE state = 'ACTIVE';

-- How long bodies are kept. class: the middle of the event's code ('JOB'), or '*'. A row of the platform with a zone is a least term for
-- the tenants at home there; what a tenant sets may be longer, never shorter.
CREATE TABLE audit_retention (
  tenant_id     uuid NOT NULL REFERENCES tenant,
  class         text NOT NULL CHECK (class ~ '^([A-Z]{3}|\*)$'),
  zone          text NOT NULL DEFAULT '',
  keep_days     bigint NOT NULL CHECK (keep_days BETWEEN 1 AND 36525),
  set_by        uuid,
  set_at        timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, class, zone),
  CHECK (zone = '' OR tenant_id = '00000000-0000-0000-0000-000000000000')
);
INSERT INTO audit_retention (tenant_id, class, keep_days) VALUES ('00000000-0000-0000-0000-000000000000', '*', 2557);

-- --------------------------------------------------------------------------------------------------------- personal fields
-- The key of one person's fields, wrapped by the tenant's key of that zone. wrapped NULL: erased, for good.
CREATE TABLE audit_subject_key (
  tenant_id     uuid NOT NULL REFERENCES tenant,
  subject_id    uuid NOT NULL,                        -- app_user; the tenant's own id: callers that nobody knows
  key_id        uuid NOT NULL,
  zone          text NOT NULL REFERENCES zone,
  key_version   bigint NOT NULL,                      -- of tenant_key
  wrapped       bytea,
  created_at    timestamptz NOT NULL DEFAULT now(),
  erased_at     timestamptz,
  erased_by     uuid,
  PRIMARY KEY (tenant_id, subject_id),
  UNIQUE (tenant_id, key_id),
  FOREIGN KEY (tenant_id, zone, key_version) REFERENCES tenant_key,
  CHECK ((wrapped IS NULL) = (erased_at IS NOT NULL))
);

-- ------------------------------------------------------------------------------------------------------- exports, anchors
-- What an export is, not its bytes: they are made anew, the same, for each download.
CREATE TABLE audit_export (
  tenant_id     uuid NOT NULL REFERENCES tenant,
  export_id     uuid NOT NULL,
  format        text NOT NULL CHECK (format IN ('jsonl', 'ocsf', 'cef', 'syslog', 'csv', 'summary', 'summary-html')),
  filter        text,                                 -- canonical (audit/filter.h); NULL: everything
  from_tseq     bigint NOT NULL,
  to_tseq       bigint NOT NULL,
  prev_size     bigint NOT NULL DEFAULT 0,
  head_size     bigint NOT NULL,
  since_export  uuid,
  key_id        text,
  public_key    bytea,
  created_us    bigint NOT NULL,
  created_by    uuid NOT NULL,
  size_bytes    bigint,                               -- known after the first whole pass
  sha256        bytea,
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, export_id)
);

CREATE TABLE audit_anchor (
  tenant_id     uuid NOT NULL,                        -- the platform: the zone's head covers all tenants
  anchor_id     uuid NOT NULL,
  kind          text NOT NULL CHECK (kind IN ('file', 'webhook', 'zone')),
  target        text NOT NULL,
  size          bigint NOT NULL,
  head_sha      bytea NOT NULL CHECK (length(head_sha) = 32),
  proof         bytea,                                -- the other zone's signature; the line's hash
  key_id        text,
  outcome       text NOT NULL,
  at            timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant_id, anchor_id)
);
CREATE INDEX audit_anchor_last ON audit_anchor (tenant_id, kind, target, size);

-- When the regular work of the log was last done: whoever moves the time does it.
CREATE TABLE audit_task (
  name          text PRIMARY KEY,
  done_at       timestamptz NOT NULL DEFAULT '-infinity',
  state         text NOT NULL DEFAULT ''
);
INSERT INTO audit_task (name) VALUES ('retention'), ('anchor'), ('reconcile');

-- ------------------------------------------------------------------------------------------------------------- the shadow
-- Rows that somebody changed without Falaj's programs. The sequencer makes events of them in the platform's log.
CREATE TABLE audit_shadow (
  tenant_id     uuid NOT NULL,                        -- of the row that was changed; nil: of no tenant
  shadow_id     bigint GENERATED ALWAYS AS IDENTITY,
  xid           xid8 NOT NULL DEFAULT pg_current_xact_id(),
  at            timestamptz NOT NULL DEFAULT clock_timestamp(),
  table_name    text NOT NULL,
  op            text NOT NULL,
  login         text NOT NULL,
  address       text,
  program       text NOT NULL,
  statement_sha bytea NOT NULL,                       -- its text may hold secrets
  row_key       text NOT NULL DEFAULT '',
  event_id      uuid,                                 -- set when it is in the log
  PRIMARY KEY (tenant_id, shadow_id)
);
CREATE INDEX audit_shadow_new ON audit_shadow (xid, shadow_id) WHERE event_id IS NULL;

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['audit_hold', 'audit_retention', 'audit_subject_key', 'audit_export', 'audit_anchor', 'audit_shadow'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_tenant ON %I TO falaj_app USING (tenant_id = current_setting(''app.tenant'')::uuid)', t);
    EXECUTE format('CREATE POLICY system ON %I TO falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer, falaj_owner USING (true)', t);
  END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE ON audit_hold, audit_retention, audit_subject_key, audit_export TO falaj_app;
GRANT SELECT ON audit_anchor TO falaj_app;
GRANT SELECT ON audit_head, audit_seq, audit_log_state TO falaj_scheduler;
GRANT SELECT, INSERT ON audit_anchor TO falaj_sequencer;
GRANT SELECT, UPDATE ON audit_task TO falaj_sequencer;
GRANT SELECT ON audit_shadow, tenant TO falaj_sequencer;
GRANT UPDATE (event_id) ON audit_shadow TO falaj_sequencer;
GRANT SELECT ON audit_hold, audit_retention, audit_head TO falaj_system;
GRANT INSERT ON audit_shadow TO falaj_system;
GRANT SELECT, UPDATE ON audit_seq TO falaj_system;
GRANT DELETE ON audit_event TO falaj_system;

GRANT CREATE ON SCHEMA public TO falaj_system;

-- Is anything of this tenant held? Asked before it or its keys are destroyed. 0011 came with a stand-in that says no.
DROP FUNCTION IF EXISTS tenant_has_hold(uuid);
CREATE FUNCTION tenant_has_hold(t uuid) RETURNS boolean
LANGUAGE sql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT EXISTS (SELECT FROM audit_hold h WHERE h.state = 'ACTIVE' AND coalesce(h.about_tenant, h.tenant_id) = t)
$$;

-- Is this person held? Asked before they are erased.
CREATE FUNCTION subject_has_hold(t uuid, subject uuid) RETURNS boolean
LANGUAGE sql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT EXISTS (SELECT FROM audit_hold h WHERE h.state = 'ACTIVE' AND coalesce(h.about_tenant, h.tenant_id) = t
                    AND (h.subject_id IS NULL OR h.subject_id = subject))
$$;

-- How many days a class of events of a tenant is kept: its own term or the platform's, and never less than its zone's least.
CREATE FUNCTION audit_keep_days(t uuid, of_class text) RETURNS bigint
LANGUAGE sql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT greatest(
    coalesce((SELECT r.keep_days FROM audit_retention r WHERE r.tenant_id = t AND r.zone = '' AND r.class IN (of_class, '*')
               ORDER BY r.class = '*' LIMIT 1),
             (SELECT r.keep_days FROM audit_retention r WHERE r.tenant_id = '00000000-0000-0000-0000-000000000000' AND r.zone = ''
                 AND r.class IN (of_class, '*') ORDER BY r.class = '*' LIMIT 1), 2557),
    coalesce((SELECT max(r.keep_days) FROM audit_retention r JOIN tenant n ON n.tenant_id = t AND n.home_zone = r.zone
               WHERE r.tenant_id = '00000000-0000-0000-0000-000000000000' AND r.class IN (of_class, '*')), 0))
$$;

-- Drops at most `most` bodies that are past their time, and what was taken out of them; number, leaf and chain stay, so every proof
-- stays. Only what a signed head covers is dropped, and nothing that is held. One row for each log that lost something.
CREATE FUNCTION audit_retention_drop(most bigint)
RETURNS TABLE (tenant_id uuid, dropped bigint, until_tseq bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE r record;
BEGIN
  FOR r IN
  WITH least AS MATERIALIZED (SELECT min(r.keep_days) AS days FROM audit_retention r),
  classes AS MATERIALIZED (
    SELECT n.tenant_id, c.class, audit_keep_days(n.tenant_id, c.class) AS days
      FROM (SELECT DISTINCT s.tenant_id FROM audit_log_state s) n
      CROSS JOIN (SELECT DISTINCT r.class FROM audit_retention r UNION SELECT '*') c),
  old AS MATERIALIZED (
    SELECT s.tenant_id, s.tseq, s.event_id
      FROM audit_seq s
      JOIN (SELECT h.tenant_id, max(h.size) AS size FROM audit_head h GROUP BY 1) h ON h.tenant_id = s.tenant_id AND s.tseq <= h.size
      CROSS JOIN LATERAL (SELECT c.days FROM classes c WHERE c.tenant_id = s.tenant_id AND c.class IN (substr(s.code, 5, 3), '*')
                           ORDER BY c.class = '*' LIMIT 1) k
     WHERE s.dropped_at IS NULL AND s.at < now() - make_interval(days => (SELECT l.days::int FROM least l))
       AND s.at < now() - make_interval(days => k.days::int)
       AND NOT EXISTS (SELECT FROM audit_hold h
                        WHERE h.state = 'ACTIVE' AND coalesce(h.about_tenant, h.tenant_id) = s.tenant_id
                          AND (h.subject_id IS NULL OR h.subject_id = s.actor_id OR s.resource_id = 'usr_' || replace(h.subject_id::text, '-', ''))
                          AND (h.from_at IS NULL OR s.at >= h.from_at) AND (h.until_at IS NULL OR s.at < h.until_at))
     LIMIT most),
  gone AS (DELETE FROM audit_event e USING old o WHERE e.tenant_id = o.tenant_id AND e.event_id = o.event_id),
  kept AS (
    UPDATE audit_seq s SET dropped_at = now(), actor_id = NULL, resource_id = NULL, request_id = NULL, source = NULL
      FROM old o WHERE s.tenant_id = o.tenant_id AND s.tseq = o.tseq
    RETURNING s.tenant_id, s.tseq)
  SELECT k.tenant_id AS of_tenant, count(*) AS n, min(k.tseq) AS low, max(k.tseq) AS high FROM kept k GROUP BY 1
  LOOP
    PERFORM audit_system_event(r.of_tenant, (SELECT n.home_zone FROM tenant n WHERE n.tenant_id = r.of_tenant), 'FLJ-AUD-006S', 'audit.retention',
                               format('"dropped":%s,"from_tseq":%s,"until_tseq":%s', r.n, r.low, r.high));
    tenant_id := r.of_tenant;
    dropped := r.n;
    until_tseq := r.high;
    RETURN NEXT;
  END LOOP;
END $$;
GRANT SELECT ON audit_log_state TO falaj_system;

-- An event of the system, written by the database itself: canonical bytes as audit/record.c makes them (tests/db compares the two).
CREATE FUNCTION audit_system_event(t uuid, in_zone text, code text, action text, details text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  us bigint := extract(epoch FROM clock_timestamp()) * 1000000;
  b bytea := overlay(uuid_send(gen_random_uuid()) PLACING substring(int8send(us / 1000) FROM 3) FROM 1 FOR 6);
  id uuid := encode(set_byte(b, 6, (get_byte(b, 6) & 15) | 112), 'hex')::uuid;
BEGIN
  INSERT INTO audit_event (tenant_id, event_id, body) VALUES (t, id, convert_to(format(
    '{"v":1,"event_id":"%s","zone":"%s","tenant":"%s","ts_us":%s,"code":"%s","actor":{"type":"system","id":null,"roles":[],"token_id":null},'
    '"src_ip":null,"request_id":null,"resource":{"kind":"tenant","id":"tnt_%s"},"action":"%s","decision":{"effect":"allow","rule":null},'
    '"outcome":"success","http_status":null,"details":{%s}}',
    id, coalesce(in_zone, ''), t, us, code, replace(t::text, '-', ''), action, details), 'UTF8'));
END $$;

-- The first entry of every log, in the transaction that opens it: whoever makes a tenant, however.
CREATE FUNCTION audit_genesis() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  PERFORM audit_system_event(NEW.tenant_id, NEW.home_zone, 'FLJ-AUD-001S', 'audit.genesis', '');
  RETURN NULL;
END $$;
CREATE TRIGGER audit_genesis AFTER INSERT ON tenant FOR EACH ROW EXECUTE FUNCTION audit_genesis();

-- Somebody who is not one of Falaj's programs changed a row (or emptied a table).
CREATE FUNCTION audit_shadow_note() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE r jsonb := '{}';
BEGIN
  IF TG_LEVEL = 'ROW' AND TG_OP = 'DELETE' THEN
    r := to_jsonb(OLD);
  ELSIF TG_LEVEL = 'ROW' THEN
    r := to_jsonb(NEW);
  END IF;
  INSERT INTO audit_shadow (tenant_id, table_name, op, login, address, program, statement_sha, row_key)
  VALUES (coalesce((r ->> 'tenant_id')::uuid, '00000000-0000-0000-0000-000000000000'), TG_TABLE_NAME, TG_OP, session_user,
          host(inet_client_addr()), coalesce(current_setting('application_name', true), ''), sha256(convert_to(current_query(), 'UTF8')),
          coalesce((SELECT string_agg(a.attname || '=' || (r ->> a.attname::text), ' ' ORDER BY a.attnum)
                      FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
                     WHERE i.indrelid = TG_RELID AND i.indisprimary AND a.attname <> 'tenant_id'), ''));
  RETURN NULL;
END $$;

-- The log is written once. Grants say so already; this says it to the owner's login as well.
CREATE FUNCTION audit_refuse_rewrite() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'the audit log is written once' USING ERRCODE = '42501';
END $$;

-- Guards every table, those of later migrations too when they call it again. Left out: what is written by the thousand and
-- stands for nothing by itself. ALWAYS: session_replication_role does not switch it off.
CREATE FUNCTION audit_guard_tables() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  t text;
  ours CONSTANT text := '(session_user <> ALL (''{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_retention,falaj_migrate}''::name[]))';
BEGIN
  FOR t IN SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
              AND c.relname NOT IN ('idempotency', 'job_log', 'job_metric', 'audit_cursor', 'audit_task') AND c.relname NOT LIKE 'schema\_%'
              AND NOT EXISTS (SELECT FROM pg_trigger g WHERE g.tgrelid = c.oid AND g.tgname = 'audit_shadow') LOOP
    EXECUTE format('CREATE TRIGGER audit_shadow AFTER %s ON %I FOR EACH ROW WHEN %s EXECUTE FUNCTION audit_shadow_note()',
                   CASE t WHEN 'audit_shadow' THEN 'UPDATE OR DELETE' ELSE 'INSERT OR UPDATE OR DELETE' END, t, ours);
    EXECUTE format('CREATE TRIGGER audit_shadow_truncate AFTER TRUNCATE ON %I FOR EACH STATEMENT WHEN %s EXECUTE FUNCTION audit_shadow_note()',
                   t, ours);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER audit_shadow', t);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER audit_shadow_truncate', t);
  END LOOP;
END $$;
SELECT audit_guard_tables();

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['audit_event', 'audit_seq', 'audit_head'] LOOP
    EXECUTE format('CREATE TRIGGER audit_refuse BEFORE UPDATE OR DELETE ON %I FOR EACH ROW WHEN (session_user = ANY ('
      '''{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_migrate}''::name[])) EXECUTE FUNCTION audit_refuse_rewrite()', t);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER audit_refuse', t);
  END LOOP;
END $$;

REVOKE ALL ON FUNCTION audit_guard_tables(), audit_system_event(uuid, text, text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION audit_system_event(uuid, text, text, text, text) TO falaj_system;
DO $$
DECLARE f text;
BEGIN
  FOREACH f IN ARRAY ARRAY['tenant_has_hold(uuid)', 'subject_has_hold(uuid,uuid)', 'audit_keep_days(uuid,text)', 'audit_retention_drop(bigint)',
      'audit_genesis()', 'audit_shadow_note()'] LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
    EXECUTE format('ALTER FUNCTION %s OWNER TO falaj_system', f);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM falaj_owner', f);
  END LOOP;
END $$;
GRANT EXECUTE ON FUNCTION tenant_has_hold(uuid), subject_has_hold(uuid, uuid), audit_keep_days(uuid, text) TO falaj_app, falaj_scheduler;
GRANT EXECUTE ON FUNCTION audit_retention_drop(bigint) TO falaj_retention;
GRANT USAGE ON SCHEMA public TO falaj_retention;
GRANT EXECUTE ON FUNCTION audit_shadow_note() TO falaj_owner;     -- to guard the tables of later migrations
REVOKE CREATE ON SCHEMA public FROM falaj_system;

-- Logs that are older than their first entry: the platform's, whose tenant row came with 0001.
SELECT audit_system_event(t.tenant_id, t.home_zone, 'FLJ-AUD-001S', 'audit.genesis', '') FROM tenant t
 WHERE NOT EXISTS (SELECT FROM audit_event e WHERE e.tenant_id = t.tenant_id);
