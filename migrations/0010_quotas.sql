-- SPDX-License-Identifier: Apache-2.0
-- 0010 - quota rules by queue, flavor and zone; budgets and the price book; usage as double entry. N-1: additive: the old program submits to
-- the queue 'default' through the function it knows, and the attempts that it ends have no lines in the ledger (J9 counts them).
SET LOCAL ROLE falaj_owner;

-- What kind of machine it is, for quotas and prices. Set by the platform while nothing runs there.
ALTER TABLE node ADD COLUMN flavor text NOT NULL DEFAULT 'cpu' CHECK (flavor ~ '^[a-z0-9][a-z0-9-]{0,62}$');
GRANT UPDATE (flavor) ON node TO falaj_system;
ALTER TABLE job ADD COLUMN queue text NOT NULL DEFAULT 'default' CHECK (queue ~ '^[a-z0-9][a-z0-9-]{0,62}$');
-- The live attempts of one tenant: what its rules and budgets count.
CREATE INDEX attempt_live_tenant ON attempt (tenant_id, attempt_id) WHERE live;

-- ------------------------------------------------------------------------------------------------------------- hard limits
ALTER TABLE quota DROP CONSTRAINT quota_resource_check, ADD CONSTRAINT quota_resource_check
  CHECK (resource IN ('jobs', 'slots', 'gpus', 'stored_bytes', 'objects', 'running_jobs', 'pending_jobs', 'api_rate_per_minute'));
-- Tells the hot paths to look further: on the row 'jobs', submissions are judged by budgets and pending_jobs; on 'slots', placements by
-- rules and running_jobs. Tenants without any of these never pay for them.
ALTER TABLE quota ADD COLUMN guarded boolean NOT NULL DEFAULT false;
COMMENT ON TABLE quota IS 'jobs: live (not terminal) jobs; slots, gpus: booked by live attempts; stored_bytes, objects: committed objects. '
  'running_jobs, pending_jobs and api_rate_per_minute are limits without a counter: what is used is counted when asked';

-- ------------------------------------------------------------------------------------------------------------- quota rules
CREATE TABLE quota_rule (
  tenant_id       uuid NOT NULL REFERENCES tenant,
  rule_id         uuid NOT NULL,
  place           text NOT NULL CHECK (place IN ('tenant', 'project', 'queue')),
  project_id      uuid,                             -- place project: whose; place queue: jobs of this project only, NULL: of no project
  queue           text NOT NULL DEFAULT '' CHECK (queue = '' OR queue ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  resource        text NOT NULL CHECK (resource IN ('slots', 'gpus')),
  flavor          text NOT NULL DEFAULT '',         -- '': every flavor together
  zone            text NOT NULL DEFAULT '',         -- '': every zone together
  nominal         bigint NOT NULL CHECK (nominal BETWEEN 0 AND 1000000000),
  borrowing_limit bigint CHECK (borrowing_limit BETWEEN 0 AND 1000000000),      -- NULL: as much as there is
  lending_limit   bigint CHECK (lending_limit BETWEEN 0 AND nominal),           -- NULL: all of nominal
  weight          bigint NOT NULL DEFAULT 1000 CHECK (weight BETWEEN 0 AND 1000000),
  version         bigint NOT NULL DEFAULT 1,
  created_by      uuid NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, rule_id),
  FOREIGN KEY (tenant_id, project_id) REFERENCES project,
  CHECK ((place = 'queue') = (queue <> '')),
  CHECK (place <> 'project' OR project_id IS NOT NULL),
  CHECK (place <> 'tenant' OR project_id IS NULL)
);
CREATE UNIQUE INDEX quota_rule_once ON quota_rule (tenant_id, place, coalesce(project_id, '00000000-0000-0000-0000-000000000000'::uuid), queue,
  resource, flavor, zone);
CREATE INDEX quota_rule_tenants ON quota_rule (resource, flavor, zone) WHERE place = 'tenant';

-- ------------------------------------------------------------------------------------------------------------- price book
-- What an hour of a slot and of a GPU and a kWh cost on a flavor from a moment on, in minor units of the currency (fils, cents), and how
-- many watts they draw while they are booked: until power is measured, that is the energy. An attempt is charged by the row that was
-- valid when it was leased. Rows are never changed: a new price has a later moment.
CREATE TABLE price (
  price_id        uuid PRIMARY KEY,
  flavor          text NOT NULL CHECK (flavor ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  valid_from      timestamptz NOT NULL,
  currency        text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  slot_hour       bigint NOT NULL CHECK (slot_hour BETWEEN 0 AND 100000000),
  gpu_hour        bigint NOT NULL CHECK (gpu_hour BETWEEN 0 AND 100000000),
  kwh             bigint NOT NULL CHECK (kwh BETWEEN 0 AND 100000000),
  slot_watts      bigint NOT NULL CHECK (slot_watts BETWEEN 0 AND 100000),
  gpu_watts       bigint NOT NULL CHECK (gpu_watts BETWEEN 0 AND 100000),
  created_by      uuid NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  UNIQUE (flavor, valid_from)
);

-- Watts times milliseconds are millijoules. Money is kept in millionths of a minor unit, so that a second of a slot does not round to nothing.
CREATE FUNCTION usage_energy_mj(slot_ms bigint, gpu_ms bigint, slot_watts bigint, gpu_watts bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$ SELECT coalesce(slot_ms * slot_watts + gpu_ms * gpu_watts, 0) $$;
CREATE FUNCTION usage_money_micro(slot_ms bigint, gpu_ms bigint, slot_hour bigint, gpu_hour bigint, energy_mj bigint, kwh bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(round((slot_ms::numeric * slot_hour + gpu_ms::numeric * gpu_hour) / 3.6 + energy_mj::numeric * kwh / 3600), 0)::bigint $$;

-- ------------------------------------------------------------------------------------------------------------- usage ledger
-- Each ended attempt is one transaction of two lines that sum to zero in every measure: line 1 debits who used (account 'tenant' or
-- 'project'), line 2 credits what was used (account 'zone'). Written by the statement that ends the attempt. What live attempts have used so
-- far stands in usage_open: an open commitment is the live attempt itself, so the two cannot differ.
CREATE TABLE ledger_entry (
  tenant_id       uuid NOT NULL,                      -- see idempotency
  transaction_id  uuid NOT NULL,                      -- the attempt
  line            int NOT NULL CHECK (line IN (1, 2)),
  account         text NOT NULL CHECK (account IN ('tenant', 'project', 'zone')),
  project_id      uuid,
  queue           text NOT NULL,
  zone            text NOT NULL,
  pool            text NOT NULL,
  flavor          text NOT NULL,
  slot_ms         bigint NOT NULL,
  gpu_ms          bigint NOT NULL,
  energy_mj       bigint NOT NULL,
  money_micro     bigint NOT NULL,
  currency        text NOT NULL DEFAULT '',
  at              timestamptz NOT NULL DEFAULT clock_timestamp(),
  xid             xid8 NOT NULL DEFAULT pg_current_xact_id(),
  PRIMARY KEY (tenant_id, transaction_id, line),
  CHECK ((line = 2) = (account = 'zone')),
  CHECK (CASE line WHEN 1 THEN slot_ms >= 0 AND gpu_ms >= 0 AND energy_mj >= 0 AND money_micro >= 0
                   ELSE slot_ms <= 0 AND gpu_ms <= 0 AND energy_mj <= 0 AND money_micro <= 0 END)
);
CREATE INDEX ledger_entry_at ON ledger_entry (tenant_id, at) WHERE line = 1;

INSERT INTO ledger_entry (tenant_id, transaction_id, line, account, project_id, queue, zone, pool, flavor, slot_ms, gpu_ms, energy_mj, money_micro, at)
SELECT u.tenant_id, u.attempt_id, l.line, CASE WHEN l.line = 2 THEN 'zone' WHEN j.project_id IS NULL THEN 'tenant' ELSE 'project' END,
       j.project_id, j.queue, u.zone, u.pool, 'cpu', l.sign * u.slot_ms, l.sign * u.gpu_ms, 0, 0, u.ended_at
  FROM usage_record u JOIN job j ON j.tenant_id = u.tenant_id AND j.job_id = u.job_id CROSS JOIN (VALUES (1, 1), (2, -1)) AS l(line, sign);

-- Open commitments: the live attempts, by the price at their lease.
CREATE VIEW usage_open WITH (security_invoker = true) AS
  SELECT a.tenant_id, a.attempt_id, a.job_id, j.project_id, j.queue, n.zone, n.pool, n.flavor, a.slots, a.gpus, u.wall_ms,
         u.wall_ms * a.slots AS slot_ms, u.wall_ms * a.gpus AS gpu_ms, e.energy_mj,
         usage_money_micro(u.wall_ms * a.slots, u.wall_ms * a.gpus, p.slot_hour, p.gpu_hour, e.energy_mj, p.kwh) AS money_micro,
         coalesce(p.currency, '') AS currency
    FROM attempt a JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id JOIN node n ON n.node_id = a.node_id
    LEFT JOIN LATERAL (SELECT slot_hour, gpu_hour, kwh, slot_watts, gpu_watts, currency FROM price WHERE price.flavor = n.flavor AND valid_from <= a.leased_at ORDER BY valid_from DESC LIMIT 1) p ON true
    CROSS JOIN LATERAL (SELECT greatest(0, extract(epoch FROM clock_timestamp() - coalesce(a.started_at, a.leased_at)) * 1000)::bigint AS wall_ms) u
    CROSS JOIN LATERAL (SELECT usage_energy_mj(u.wall_ms * a.slots, u.wall_ms * a.gpus, p.slot_watts, p.gpu_watts) AS energy_mj) e
   WHERE a.live;

-- ------------------------------------------------------------------------------------------------------------- budgets
CREATE TABLE budget (
  tenant_id       uuid NOT NULL REFERENCES tenant,
  budget_id       uuid NOT NULL,
  project_id      uuid,                               -- NULL: the whole tenant
  name            text NOT NULL CHECK (length(name) BETWEEN 1 AND 128),
  measure         text NOT NULL CHECK (measure IN ('money', 'gpu_hours', 'kwh')),
  amount          bigint NOT NULL CHECK (amount BETWEEN 1 AND 1000000000),      -- minor units, hours, kWh
  currency        text NOT NULL DEFAULT '' CHECK ((measure = 'money') = (currency ~ '^[A-Z]{3}$')),
  period          text NOT NULL CHECK (period IN ('month', 'total')),           -- calendar month, UTC
  warn_percent    bigint[] NOT NULL DEFAULT '{80,100}',
  stop_percent    bigint CHECK (stop_percent BETWEEN 1 AND 1000),               -- NULL: only warns
  reserve         boolean NOT NULL DEFAULT false,     -- a job is accepted only if the most it can cost still fits
  state           text NOT NULL DEFAULT 'OPEN' CHECK (state IN ('OPEN', 'STOPPED')),
  warned          bigint NOT NULL DEFAULT 0,          -- highest threshold told of in this period
  settled         numeric NOT NULL DEFAULT 0,         -- entries of the period in transactions before counted_xid, in the measure's unit
  counted_xid     xid8 NOT NULL DEFAULT '0',
  counted_at      timestamptz NOT NULL DEFAULT '-infinity',                     -- no transaction lasts an hour: an index condition
  period_start    timestamptz NOT NULL,
  version         bigint NOT NULL DEFAULT 1,
  created_by      uuid NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, budget_id),
  UNIQUE (tenant_id, name),
  FOREIGN KEY (tenant_id, project_id) REFERENCES project
) WITH (fillfactor = 50);

-- One measure out of four, in the unit that budgets are kept in: millionths of a minor unit, GPU milliseconds, millijoules.
CREATE FUNCTION budget_unit(measure text) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE measure WHEN 'money' THEN 1000000 WHEN 'gpu_hours' THEN 3600000 ELSE 3600000000 END::numeric $$;
CREATE FUNCTION budget_pick(measure text, budget_currency text, currency text, money_micro bigint, gpu_ms bigint, energy_mj bigint) RETURNS numeric
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE measure WHEN 'money' THEN CASE WHEN currency = budget_currency THEN money_micro ELSE 0 END
                      WHEN 'gpu_hours' THEN gpu_ms ELSE energy_mj END::numeric $$;

-- The most that one attempt can take, on the dearest flavor of today.
CREATE FUNCTION budget_most(measure text, budget_currency text, slots bigint, gpus bigint, runtime_s bigint) RETURNS numeric
LANGUAGE sql STABLE AS $$
  SELECT coalesce(max(budget_pick($1, $2, p.currency, usage_money_micro(1000 * $5 * $3, 1000 * $5 * $4, p.slot_hour, p.gpu_hour, w.energy_mj, p.kwh),
                                  1000 * $5 * $4, w.energy_mj)), CASE WHEN $1 = 'gpu_hours' THEN 1000 * $5 * $4 ELSE 0 END)
    FROM (SELECT DISTINCT ON (flavor) currency, slot_hour, gpu_hour, kwh, slot_watts, gpu_watts FROM price WHERE valid_from <= now() ORDER BY flavor, valid_from DESC) p
    CROSS JOIN LATERAL (SELECT usage_energy_mj(1000 * $5 * $3, 1000 * $5 * $4, p.slot_watts, p.gpu_watts) AS energy_mj) w $$;

-- Where budgets stand now: settled by ended attempts, running in live ones, and, of a reserving budget, the most that live jobs may still
-- take for one attempt each. Exact in one snapshot: entries that the leader has not summed up yet are added by the number of their
-- transaction. tid NULL: of all tenants. Runs with its caller's rights.
CREATE FUNCTION budget_now(tid uuid)
RETURNS TABLE (tenant_id uuid, budget_id uuid, project_id uuid, settled numeric, running numeric, reserved numeric, whole numeric, stop_at numeric,
               used numeric, starts timestamptz)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT b.tenant_id, b.budget_id, b.project_id, s.amount, r.amount, v.amount, b.amount * budget_unit(b.measure),
         b.amount * budget_unit(b.measure) * b.stop_percent / 100, s.amount + greatest(r.amount, v.amount), c.starts
    FROM budget b
    CROSS JOIN LATERAL (SELECT CASE WHEN b.period = 'month' THEN greatest(b.period_start, date_trunc('month', now(), 'UTC')) ELSE b.period_start END
                          AS starts) c
    CROSS JOIN LATERAL (
      SELECT CASE WHEN c.starts = b.period_start THEN b.settled ELSE 0 END
             + coalesce(sum(budget_pick(b.measure, b.currency, l.currency, l.money_micro, l.gpu_ms, l.energy_mj)), 0) AS amount
        FROM ledger_entry l
       WHERE l.tenant_id = b.tenant_id AND l.line = 1 AND (b.project_id IS NULL OR l.project_id = b.project_id)
         AND l.at >= CASE WHEN c.starts = b.period_start THEN greatest(c.starts, b.counted_at - interval '1 hour') ELSE c.starts END
         AND (c.starts <> b.period_start OR l.xid >= b.counted_xid)) s
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(budget_pick(b.measure, b.currency, o.currency, o.money_micro, o.gpu_ms, o.energy_mj)), 0) AS amount
        FROM usage_open o WHERE o.tenant_id = b.tenant_id AND (b.project_id IS NULL OR o.project_id = b.project_id)) r
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(budget_most(b.measure, b.currency, j.slots, j.gpus, j.max_runtime_s)), 0) AS amount
        FROM job j WHERE b.reserve AND j.tenant_id = b.tenant_id AND j.finished_at IS NULL AND (b.project_id IS NULL OR j.project_id = b.project_id)) v
   WHERE tid IS NULL OR b.tenant_id = tid;
END $$;

-- ------------------------------------------------------------------------------------------------------------- guarded
CREATE FUNCTION quota_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE t uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.tenant_id ELSE NEW.tenant_id END;
BEGIN
  UPDATE quota SET guarded = g.is
    FROM (SELECT EXISTS (SELECT FROM quota_rule r WHERE r.tenant_id = t) OR
                 EXISTS (SELECT FROM quota q WHERE q.tenant_id = t AND q.resource = 'running_jobs') AS is) g
   WHERE quota.tenant_id = t AND quota.resource = 'slots' AND guarded <> g.is;
  UPDATE quota SET guarded = g.is
    FROM (SELECT EXISTS (SELECT FROM budget b WHERE b.tenant_id = t AND b.stop_percent IS NOT NULL) OR
                 EXISTS (SELECT FROM quota q WHERE q.tenant_id = t AND q.resource = 'pending_jobs') AS is) g
   WHERE quota.tenant_id = t AND quota.resource = 'jobs' AND guarded <> g.is;
  RETURN NULL;
END $$;
CREATE TRIGGER quota_rule_guard AFTER INSERT OR DELETE ON quota_rule FOR EACH ROW EXECUTE FUNCTION quota_guard();
CREATE TRIGGER budget_guard AFTER INSERT OR DELETE OR UPDATE OF stop_percent ON budget FOR EACH ROW EXECUTE FUNCTION quota_guard();
CREATE TRIGGER quota_limit_guard AFTER INSERT OR DELETE ON quota FOR EACH ROW EXECUTE FUNCTION quota_guard();

-- ------------------------------------------------------------------------------------------------------------- row-level security
DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['quota_rule', 'ledger_entry', 'budget'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_tenant ON %I TO falaj_app USING (tenant_id = current_setting(''app.tenant'')::uuid)', t);
    EXECUTE format('CREATE POLICY system ON %I TO falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer, falaj_owner USING (true)', t);
    -- Who is held to projects sees their rules, budgets and charges, and all the attempts that those count.
    EXECUTE format('CREATE POLICY in_projects ON %I AS RESTRICTIVE TO falaj_app USING (project_visible(project_id))', t);
  END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE, DELETE ON quota_rule, budget TO falaj_app;
GRANT DELETE ON quota TO falaj_app;
GRANT SELECT ON ledger_entry, usage_open TO falaj_app;
GRANT SELECT, INSERT ON price TO falaj_app;
GRANT SELECT ON quota_rule, price, ledger_entry, usage_open TO falaj_scheduler, falaj_system;
GRANT SELECT ON price TO falaj_worker_api;
GRANT INSERT ON ledger_entry TO falaj_worker_api, falaj_scheduler;
GRANT SELECT, UPDATE ON budget TO falaj_scheduler;
GRANT SELECT ON budget, usage_record TO falaj_system;

-- ------------------------------------------------------------------------------------------------------------- definer functions
GRANT CREATE ON SCHEMA public TO falaj_system;

-- Which of these submissions a limit of waiting jobs or a budget refuses, in words with numbers. Called by job_submit_many for guarded
-- tenants only, under the lock of their quota rows, in a statement newer than that lock: so nobody else submits for them meanwhile. Calls
-- whose key is known already are not asked for anything.
CREATE FUNCTION submit_guard(
  tenants uuid[], projects uuid[], slotss bigint[], gpuss bigint[], runtimes bigint[], users uuid[], routes text[], keys text[])
RETURNS TABLE (ord bigint, verdict text, message text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH f AS MATERIALIZED (
    SELECT i.* FROM unnest(tenants, projects, slotss, gpuss, runtimes, users, routes, keys) WITH ORDINALITY
      AS i(tenant_id, project_id, slots, gpus, runtime_s, user_id, route, key, ord)
     WHERE NOT EXISTS (SELECT FROM idempotency d
                        WHERE d.tenant_id = i.tenant_id AND d.principal_id = i.user_id AND d.route = i.route AND d.key = i.key)),
  t AS MATERIALIZED (
    SELECT q.tenant_id FROM quota q WHERE q.tenant_id = ANY (tenants) AND q.resource = 'jobs' AND q.guarded),
  p AS (
    SELECT f.ord, 'pending' AS verdict, format('The limit of waiting jobs does not allow this: %s of %s wait', w.n, q.hard_limit) AS message,
           row_number() OVER (PARTITION BY f.tenant_id ORDER BY f.ord) > q.hard_limit - w.n AS is_refused
      FROM f JOIN quota q ON q.tenant_id = f.tenant_id AND q.resource = 'pending_jobs'
      CROSS JOIN LATERAL (SELECT count(*) AS n FROM job j WHERE j.tenant_id = f.tenant_id AND j.queued) w),
  n AS MATERIALIZED (SELECT x.* FROM t CROSS JOIN LATERAL budget_now(t.tenant_id) x WHERE x.stop_at IS NOT NULL),
  b AS (
    SELECT f.ord, 'budget' AS verdict,
           format('The budget %s allows %s %s; %s are used or promised', d.name, trim_scale(round(n.stop_at / budget_unit(d.measure), 3)),
                  CASE d.measure WHEN 'money' THEN 'minor units of ' || d.currency WHEN 'kwh' THEN 'kWh' ELSE 'GPU hours' END,
                  trim_scale(round(n.used / budget_unit(d.measure), 3)))
           || CASE WHEN d.reserve THEN format(', and this may take %s', trim_scale(round(m.most / budget_unit(d.measure), 3))) ELSE '' END AS message,
           CASE WHEN d.reserve THEN n.used + sum(m.most) OVER (PARTITION BY n.tenant_id, n.budget_id ORDER BY f.ord) > n.stop_at
                ELSE n.used >= n.stop_at END AS is_refused
      FROM f JOIN n ON n.tenant_id = f.tenant_id AND (n.project_id IS NULL OR n.project_id = f.project_id)
      JOIN budget d ON d.tenant_id = n.tenant_id AND d.budget_id = n.budget_id
      CROSS JOIN LATERAL (SELECT budget_most(d.measure, d.currency, f.slots, f.gpus, f.runtime_s) AS most) m)
  SELECT DISTINCT ON (x.ord) x.ord, x.verdict, x.message FROM (TABLE p UNION ALL TABLE b) x WHERE x.is_refused ORDER BY x.ord, x.verdict;
END $$;

-- As in 0003, with the project and the queue of each job, and with verdicts 'pending' and 'budget' (message says the numbers).
CREATE FUNCTION job_submit_many(
  tenants uuid[], jobs uuid[], names text[], kinds text[], specs text[], zones text[], pools text[], classes text[],
  slotss bigint[], gpuss bigint[], priorities bigint[], attempts bigint[], runtimes bigint[], users uuid[],
  routes text[], keys text[], shas bytea[], event_ids uuid[], events bytea[],
  input_ords bigint[], input_names text[], input_objects uuid[], projects uuid[], queues text[])
RETURNS TABLE (ord bigint, verdict text, job_id uuid, room bigint, submitted_at timestamptz, message text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
  is_guarded boolean;
  no_ords bigint[] := '{}';
  no_verdicts text[] := '{}';
  no_messages text[] := '{}';
BEGIN
  -- A statement of its own, so that the next one's snapshot is newer than any change made to these rows while we waited for them.
  SELECT bool_or(x.guarded) INTO is_guarded FROM (
    SELECT guarded FROM quota WHERE quota.tenant_id = ANY (tenants) AND resource = 'jobs' ORDER BY quota.tenant_id FOR NO KEY UPDATE) x;
  IF is_guarded THEN
    SELECT coalesce(array_agg(g.ord), '{}'), coalesce(array_agg(g.verdict), '{}'), coalesce(array_agg(g.message), '{}')
      INTO no_ords, no_verdicts, no_messages FROM submit_guard(tenants, projects, slotss, gpuss, runtimes, users, routes, keys) g;
  END IF;
  RETURN QUERY
  WITH i AS MATERIALIZED (
    SELECT * FROM unnest(tenants, jobs, names, kinds, specs, zones, pools, classes, slotss, gpuss, priorities, attempts, runtimes, users,
                         routes, keys, shas, event_ids, events, projects, queues) WITH ORDINALITY
      AS u(tenant_id, job_id, name, kind, spec, zone, pool, data_class, slots, gpus, priority, max_attempts, max_runtime_s, user_id,
           route, key, sha, event_id, event, project_id, queue, ord)),
  seen AS MATERIALIZED (
    SELECT i.ord, d.request_sha = i.sha AS same, d.resource_id, d.status
      FROM i CROSS JOIN LATERAL (      -- one index look-up per item, whatever the planner believes of the table's size
        SELECT request_sha, resource_id, status FROM idempotency
         WHERE tenant_id = i.tenant_id AND principal_id = i.user_id AND route = i.route AND key = i.key LIMIT 1) d),
  no AS MATERIALIZED (SELECT * FROM unnest(no_ords, no_verdicts, no_messages) AS u(ord, verdict, message)),
  q AS MATERIALIZED (
    SELECT quota.tenant_id, hard_limit - used AS room FROM quota
     WHERE quota.tenant_id = ANY (tenants) AND resource = 'jobs'),
  fresh AS MATERIALIZED (
    SELECT i.*, row_number() OVER (PARTITION BY i.tenant_id ORDER BY i.ord) AS nth
      FROM i WHERE i.ord NOT IN (SELECT seen.ord FROM seen) AND i.ord <> ALL (no_ords)),
  new AS MATERIALIZED (SELECT f.* FROM fresh f JOIN q ON q.tenant_id = f.tenant_id WHERE f.nth <= q.room),
  -- Whoever else submits for this tenant waits for the quota row above, so no key can have appeared since `seen`.
  idem AS (
    INSERT INTO idempotency (tenant_id, principal_id, route, key, request_sha, status, resource_id)
    SELECT tenant_id, user_id, route, key, sha, 201, job_id FROM new),
  j AS (
    INSERT INTO job (tenant_id, job_id, name, kind, spec, zone, pool, data_class, slots, gpus, priority, max_attempts, max_runtime_s,
                     created_by, reason, project_id, queue)
    SELECT tenant_id, job_id, name, kind, spec::jsonb, zone, pool, data_class, slots, gpus, priority, max_attempts, max_runtime_s, user_id,
           'Resources', project_id, queue FROM new),
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
              ELSE coalesce(no.verdict, 'quota') END,
         coalesce(seen.resource_id, i.job_id), coalesce(q.room, 0), now(), coalesce(no.message, '')
    FROM i LEFT JOIN new ON new.ord = i.ord LEFT JOIN seen ON seen.ord = i.ord LEFT JOIN no ON no.ord = i.ord
           LEFT JOIN q ON q.tenant_id = i.tenant_id;
END $$;

-- As job_read_many in 0003, with whole rows, so that a later column needs no new function.
CREATE FUNCTION job_rows(tenants uuid[], jobs uuid[]) RETURNS SETOF job
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  RETURN QUERY SELECT j.* FROM unnest(tenants, jobs) AS i(tenant_id, job_id) JOIN job j ON j.tenant_id = i.tenant_id AND j.job_id = i.job_id;
END $$;

-- Under the planners' lock, and only while nothing runs there: what rules and prices counted under one flavor must end under it.
CREATE FUNCTION node_flavor_set(node uuid, new_flavor text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(4630123712);
  UPDATE node n SET flavor = new_flavor WHERE n.node_id = node AND NOT EXISTS (SELECT FROM attempt a WHERE a.node_id = n.node_id AND a.live);
  RETURN FOUND;
END $$;

-- What a limit without a counter has in use: of the whole tenant, also for those who are held to some of its projects.
CREATE FUNCTION quota_counted(in_tenant uuid, in_resource text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF in_tenant IS DISTINCT FROM nullif(current_setting('app.tenant', true), '')::uuid THEN
    RETURN 0;
  END IF;
  RETURN CASE in_resource WHEN 'running_jobs' THEN (SELECT count(*) FROM attempt a WHERE a.tenant_id = in_tenant AND a.live)
                          WHEN 'pending_jobs' THEN (SELECT count(*) FROM job j WHERE j.tenant_id = in_tenant AND j.queued) ELSE 0 END;
END $$;

-- The few tenants with a rate of their own, for the memory of each falaj-api.
CREATE FUNCTION quota_api_rates() RETURNS TABLE (tenant_id uuid, per_minute bigint)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT q.tenant_id, q.hard_limit FROM quota q WHERE q.resource = 'api_rate_per_minute' ORDER BY 1;
END $$;

-- What the tenants of one cohort have of a resource, for the rule of one of them: sums only, never who.
CREATE FUNCTION quota_cohort(in_resource text, in_flavor text, in_zone text, but uuid, OUT lendable bigint, OUT lent bigint)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  SELECT coalesce(sum(coalesce(r.lending_limit, r.nominal)), 0), coalesce(sum(greatest(0, u.n - (r.nominal - coalesce(r.lending_limit, r.nominal)))), 0)
    INTO lendable, lent
    FROM quota_rule r CROSS JOIN LATERAL (
      SELECT coalesce(sum(CASE r.resource WHEN 'slots' THEN a.slots ELSE a.gpus END), 0) AS n
        FROM attempt a JOIN node m ON m.node_id = a.node_id
       WHERE a.tenant_id = r.tenant_id AND a.live AND (r.flavor = '' OR r.flavor = m.flavor) AND (r.zone = '' OR r.zone = m.zone)) u
   WHERE r.place = 'tenant' AND r.resource = in_resource AND r.flavor = in_flavor AND r.zone = in_zone AND r.tenant_id <> but;
END $$;

-- J9 to J11, beside invariants_check.
CREATE FUNCTION invariants_quota() RETURNS TABLE (name text, doc text, violations bigint)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT 'J9', 'Each ended attempt is one ledger transaction of two lines that sum to zero; what is open are the live attempts and no more',
         (SELECT count(*) FROM (
            SELECT FROM ledger_entry l LEFT JOIN attempt a ON a.tenant_id = l.tenant_id AND a.attempt_id = l.transaction_id
              LEFT JOIN usage_record u ON u.tenant_id = l.tenant_id AND u.attempt_id = l.transaction_id
             GROUP BY l.tenant_id, l.transaction_id, a.live, u.slot_ms, u.gpu_ms
            HAVING count(*) <> 2 OR sum(l.slot_ms) <> 0 OR sum(l.gpu_ms) <> 0 OR sum(l.energy_mj) <> 0 OR sum(l.money_micro) <> 0
                OR a.live IS DISTINCT FROM false OR max(l.slot_ms) IS DISTINCT FROM u.slot_ms OR max(l.gpu_ms) IS DISTINCT FROM u.gpu_ms) x)
       + (SELECT count(*) FROM attempt a WHERE NOT a.live AND NOT EXISTS (
            SELECT FROM ledger_entry l WHERE l.tenant_id = a.tenant_id AND l.transaction_id = a.attempt_id))
       + (SELECT count(*) FROM attempt a FULL JOIN usage_open o ON o.tenant_id = a.tenant_id AND o.attempt_id = a.attempt_id
           WHERE a.live IS NOT false AND (a.attempt_id IS NULL OR o.attempt_id IS NULL OR a.slots <> o.slots OR a.gpus <> o.gpus))
  UNION ALL
  SELECT 'J10', 'No rule is used beyond its nominal and what it may borrow, and no cohort beyond what it lends',
         (WITH r AS MATERIALIZED (
            SELECT q.tenant_id, q.place, q.project_id, q.resource, q.flavor, q.zone, q.nominal, q.borrowing_limit, coalesce(q.lending_limit, q.nominal) AS lend, (
              SELECT coalesce(sum(CASE q.resource WHEN 'slots' THEN a.slots ELSE a.gpus END), 0)
                FROM attempt a JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id JOIN node n ON n.node_id = a.node_id
               WHERE a.live AND a.tenant_id = q.tenant_id AND (q.flavor = '' OR q.flavor = n.flavor) AND (q.zone = '' OR q.zone = n.zone)
                 AND (q.place = 'tenant' OR (q.project_id IS NOT DISTINCT FROM j.project_id AND (q.place = 'project' OR q.queue = j.queue)))) AS used
              FROM quota_rule q)
          SELECT (SELECT count(*) FROM r WHERE r.used > r.nominal + r.borrowing_limit)
               + (SELECT count(*) FROM (SELECT FROM r
                   GROUP BY r.place, r.resource, r.flavor, r.zone, CASE WHEN r.place <> 'tenant' THEN r.tenant_id END,
                            CASE WHEN r.place = 'queue' THEN r.project_id END
                  HAVING sum(greatest(0, r.used - (r.nominal - r.lend))) > sum(r.lend)) x))
  UNION ALL
  SELECT 'J11', 'No more jobs of a tenant run than its limit allows',
         (SELECT count(*) FROM quota q WHERE q.resource = 'running_jobs'
             AND (SELECT count(*) FROM attempt a WHERE a.tenant_id = q.tenant_id AND a.live) > q.hard_limit);
END $$;

DO $$
DECLARE f text;
BEGIN
  FOREACH f IN ARRAY ARRAY['submit_guard(uuid[], uuid[], bigint[], bigint[], bigint[], uuid[], text[], text[])', 'quota_api_rates()', 'job_rows(uuid[], uuid[])', 'invariants_quota()', 'node_flavor_set(uuid, text)',
      'quota_cohort(text, text, text, uuid)', 'quota_counted(uuid, text)',
      'job_submit_many(uuid[], uuid[], text[], text[], text[], text[], text[], text[], bigint[], bigint[], bigint[], bigint[], bigint[], uuid[], '
      'text[], text[], bytea[], uuid[], bytea[], bigint[], text[], uuid[], uuid[], text[])'] LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
    EXECUTE format('ALTER FUNCTION %s OWNER TO falaj_system', f);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM falaj_owner', f);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO falaj_app', f);
  END LOOP;
END $$;
REVOKE CREATE ON SCHEMA public FROM falaj_system;
