-- SPDX-License-Identifier: Apache-2.0
-- Submissions of many tenants, combined into one transaction; each item keeps its own verdict:
--   'ok' stored; 'replay' the key's first answer stands (job_id is that job's); 'reused' the key belongs to another request;
--   'busy' the key is being used by a call in flight; 'quota' no room (room is how much there was); 'pending' and 'budget' a limit
--   refuses (message says the numbers); 'gone' an input is not there any more.
-- Locks come in one order: the inputs' objects, then the quota's row. content_delete takes objects first, too, and the stronger
-- lock: whoever deletes an input waits until this job is stored and then finds it, or this waits until the deletion is over and
-- then finds that.
-- Plans are made once: with the arrays' lengths known the server would make that of the quota's rows anew in each call.
-- Within a tenant items are admitted in their order until the quota is full. Items of one call have distinct keys.
-- A submission that comes alone, of a tenant without rules and with nothing to wait for, is six small statements, since setting
-- the others up costs more than a row's writing. Many that all have room and whose keys are all new, which is nearly every batch,
-- are written straight from the arrays. Only where one of them is refused or known is each judged, and the rest of them written.
-- What a row is stands here twice, for one and for many (test_job_repo.c compares the two).
-- Keys are taken by writing them: one that is known leaves the count short, and the judge tells those written here by their job.
CREATE OR REPLACE FUNCTION job_submit_many(
  tenants uuid[], jobs uuid[], names text[], kinds text[], specs text[], zones text[], pools text[], classes text[],
  slotss bigint[], gpuss bigint[], priorities bigint[], attempts bigint[], runtimes bigint[], users uuid[],
  routes text[], keys text[], shas bytea[], event_ids uuid[], events bytea[],
  input_ords bigint[], input_names text[], input_objects uuid[], projects uuid[], queues text[],
  cpus bigint[], memories bigint[], millis bigint[], modelss text[], class_names text[], begins bigint[], deadlines bigint[],
  dep_ords bigint[], dep_types text[], dep_jobs uuid[])
RETURNS TABLE (ord bigint, verdict text, job_id uuid, room bigint, submitted_at timestamptz, message text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  is_guarded boolean;
  gone_ords bigint[] := '{}';
  no_ords bigint[] := '{}';
  no_verdicts text[] := '{}';
  no_messages text[] := '{}';
  was_ended bigint;
  now_ended bigint;
  owners uuid[];        -- the tenants of this call, each once; beside them how many they submit, what has ended, and their room
  counts bigint[];
  endeds bigint[];
  rooms bigint[];
  is_room boolean;      -- for all of everybody
  new_ords bigint[];    -- NULL: all
  verdicts text[];      -- of all, where they were judged
  answers uuid[];
  messages text[];
  n_keys bigint := 0;
  n_all CONSTANT bigint := cardinality(jobs);
BEGIN
  IF cardinality(input_objects) > 0 THEN
    PERFORM FROM object o JOIN (SELECT DISTINCT tenants[x.ord] AS tenant_id, x.object_id
                                  FROM unnest(input_ords, input_objects) AS x(ord, object_id)) i
              ON o.tenant_id = i.tenant_id AND o.object_id = i.object_id
      ORDER BY o.tenant_id, o.object_id FOR KEY SHARE OF o;
    -- Again a statement of its own: it sees what was done while we waited.
    SELECT coalesce(array_agg(DISTINCT x.ord), '{}') INTO gone_ords
      FROM unnest(input_ords, input_objects) AS x(ord, object_id)
     WHERE NOT EXISTS (SELECT FROM object o
                        WHERE o.tenant_id = tenants[x.ord] AND o.object_id = x.object_id AND o.state = 'COMMITTED');
    no_ords := gone_ords;
    no_verdicts := array_fill('gone'::text, ARRAY[cardinality(gone_ords)]);
    no_messages := array_fill(''::text, ARRAY[cardinality(gone_ords)]);
  END IF;
  IF cardinality(jobs) = 1 AND cardinality(input_objects) = 0 AND cardinality(dep_jobs) = 0 THEN
    SELECT guarded, ended, hard_limit - used INTO is_guarded, was_ended, room
      FROM quota WHERE quota.tenant_id = tenants[1] AND resource = 'jobs' FOR NO KEY UPDATE;
    now_ended := coalesce((SELECT ended FROM job_end WHERE job_end.tenant_id = tenants[1]), was_ended);
    room := room - was_ended + now_ended;
    IF room > 0 AND NOT is_guarded THEN
      INSERT INTO idempotency (tenant_id, principal_id, route, key, request_sha, status, resource_id)
      VALUES (tenants[1], users[1], routes[1], keys[1], shas[1], 201, jobs[1]) ON CONFLICT DO NOTHING;
      IF FOUND THEN
        INSERT INTO job (tenant_id, job_id, name, kind, spec, zone, pool, data_class, slots, gpus, priority, max_attempts,
                         max_runtime_s, created_by, reason, project_id, queue, submitted_xid, cpu_milli, memory_bytes, gpu_milli,
                         gpu_models, class, not_before, begin_at, deadline_at, shape)
        VALUES (tenants[1], jobs[1], names[1], kinds[1], specs[1]::jsonb, zones[1], pools[1], classes[1], slotss[1], gpuss[1],
                priorities[1], attempts[1], runtimes[1], users[1], CASE WHEN begins[1] > 0 THEN 'BeginTime' ELSE 'Resources' END,
                projects[1], queues[1], pg_current_xact_id(), cpus[1], memories[1], coalesce(nullif(millis[1], 0), 1000),
                coalesce(modelss[1], ''), coalesce(class_names[1], 'default'),
                CASE WHEN begins[1] > 0 THEN 'epoch'::timestamptz + begins[1] * interval '1 microsecond' END,
                CASE WHEN begins[1] > 0 THEN 'epoch'::timestamptz + begins[1] * interval '1 microsecond' END,
                CASE WHEN deadlines[1] > 0 THEN 'epoch'::timestamptz + deadlines[1] * interval '1 microsecond' END,
                job_shape(projects[1], queues[1], kinds[1], classes[1], zones[1], pools[1], slotss[1], gpuss[1],
                          coalesce(class_names[1], 'default'), cpus[1], memories[1], coalesce(nullif(millis[1], 0), 1000),
                          coalesce(modelss[1], '')));
        INSERT INTO audit_event (tenant_id, event_id, body) VALUES (tenants[1], event_ids[1], events[1]);
        UPDATE quota SET used = used + 1 + was_ended - now_ended, ended = now_ended
         WHERE quota.tenant_id = tenants[1] AND resource = 'jobs';
        ord := 1;
        verdict := 'ok';
        job_id := jobs[1];
        submitted_at := now();
        message := '';
        RETURN NEXT;
        RETURN;
      END IF;
    END IF;
  END IF;
  -- A statement of its own, so that the next one's snapshot is newer than any change made to these rows while we waited for them.
  SELECT bool_or(x.guarded) INTO is_guarded FROM (
    SELECT guarded FROM quota WHERE quota.tenant_id = ANY (tenants) AND resource = 'jobs' ORDER BY quota.tenant_id FOR NO KEY UPDATE) x;
  IF is_guarded THEN
    SELECT no_ords || array_agg(g.ord), no_verdicts || array_agg(g.verdict), no_messages || array_agg(g.message)
      INTO no_ords, no_verdicts, no_messages FROM submit_guard(tenants, projects, slotss, gpuss, runtimes, users, routes, keys) g
     WHERE g.ord <> ALL (gone_ords);
  END IF;
  SELECT array_agg(n.tenant_id), array_agg(n.k), array_agg(q.ended), array_agg(q.room), bool_and(coalesce(n.k <= q.room, false))
    INTO owners, counts, endeds, rooms, is_room
    FROM (SELECT t AS tenant_id, count(*) AS k FROM unnest(tenants) AS t GROUP BY t) n
    LEFT JOIN LATERAL (      -- one look-up per tenant, whatever the planner believes of the table's size
     SELECT e.ended, quota.hard_limit - quota.used - quota.ended + e.ended AS room
       FROM quota CROSS JOIN LATERAL (
         SELECT coalesce((SELECT job_end.ended FROM job_end WHERE job_end.tenant_id = quota.tenant_id), quota.ended) AS ended) e
      WHERE quota.tenant_id = n.tenant_id AND resource = 'jobs' LIMIT 1) q ON true;
  is_room := is_room AND coalesce(cardinality(no_ords), 0) = 0;
  -- Whoever else submits for these tenants waits for the quota rows above: a key that is not there now comes from nobody else.
  IF is_room THEN
    INSERT INTO idempotency (tenant_id, principal_id, route, key, request_sha, status, resource_id)
    SELECT i.tenant_id, i.user_id, i.route, i.key, i.sha, 201, i.job_id
      FROM unnest(tenants, users, routes, keys, shas, jobs) AS i(tenant_id, user_id, route, key, sha, job_id) ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS n_keys = ROW_COUNT;
  END IF;
  IF n_keys < n_all THEN
    WITH i AS MATERIALIZED (
      SELECT * FROM unnest(tenants, jobs, users, routes, keys, shas) WITH ORDINALITY
        AS u(tenant_id, job_id, user_id, route, key, sha, ord)),
    seen AS MATERIALIZED (
      SELECT i.ord, d.request_sha = i.sha AS same, d.resource_id, d.status
        FROM i CROSS JOIN LATERAL (      -- one index look-up per item
          SELECT request_sha, resource_id, status FROM idempotency
           WHERE tenant_id = i.tenant_id AND principal_id = i.user_id AND route = i.route AND key = i.key LIMIT 1) d
       WHERE d.resource_id IS DISTINCT FROM i.job_id),
    no AS MATERIALIZED (SELECT * FROM unnest(no_ords, no_verdicts, no_messages) AS u(ord, verdict, message)),
    q AS MATERIALIZED (SELECT * FROM unnest(owners, rooms) AS u(tenant_id, room)),
    fresh AS MATERIALIZED (
      SELECT i.ord, i.tenant_id, row_number() OVER (PARTITION BY i.tenant_id ORDER BY i.ord) AS nth
        FROM i WHERE i.ord NOT IN (SELECT seen.ord FROM seen) AND i.ord <> ALL (no_ords)),
    new AS MATERIALIZED (SELECT f.ord FROM fresh f JOIN q ON q.tenant_id = f.tenant_id WHERE f.nth <= q.room)
    SELECT coalesce(array_agg(new.ord) FILTER (WHERE new.ord IS NOT NULL), '{}'),
           array_agg(CASE WHEN new.ord IS NOT NULL THEN 'ok'
                          WHEN seen.ord IS NULL THEN coalesce(no.verdict, 'quota')
                          WHEN NOT seen.same THEN 'reused' WHEN seen.status = 0 THEN 'busy' ELSE 'replay' END ORDER BY i.ord),
           array_agg(coalesce(seen.resource_id, i.job_id) ORDER BY i.ord), array_agg(coalesce(no.message, '') ORDER BY i.ord)
      INTO new_ords, verdicts, answers, messages
      FROM i LEFT JOIN new ON new.ord = i.ord LEFT JOIN seen ON seen.ord = i.ord LEFT JOIN no ON no.ord = i.ord;
    SELECT array_agg((SELECT count(*) FROM unnest(new_ords) AS o WHERE tenants[o] = w.tenant_id) ORDER BY w.nth)
      INTO counts FROM unnest(owners) WITH ORDINALITY AS w(tenant_id, nth);
  END IF;
  IF NOT is_room THEN
    INSERT INTO idempotency (tenant_id, principal_id, route, key, request_sha, status, resource_id)
    SELECT i.tenant_id, i.user_id, i.route, i.key, i.sha, 201, i.job_id
      FROM unnest(tenants, users, routes, keys, shas, jobs) WITH ORDINALITY AS i(tenant_id, user_id, route, key, sha, job_id, ord)
     WHERE i.ord = ANY (new_ords);
  END IF;
  -- Functions of sets in the list of columns are asked value by value; in FROM each would fill a store of its own.
  INSERT INTO job (tenant_id, job_id, name, kind, spec, zone, pool, data_class, slots, gpus, priority, max_attempts, max_runtime_s,
                   created_by, reason, project_id, queue, submitted_xid, cpu_milli, memory_bytes, gpu_milli, gpu_models, class,
                   not_before, begin_at, deadline_at, shape)
  SELECT tenant_id, job_id, name, kind, spec::jsonb, zone, pool, data_class, slots, gpus, priority, max_attempts, max_runtime_s,
         user_id, CASE WHEN ord = ANY (dep_ords) THEN 'Dependency' WHEN begin_us > 0 THEN 'BeginTime' ELSE 'Resources' END, project_id,
         queue, pg_current_xact_id(), cpu_milli, memory_bytes, coalesce(nullif(gpu_milli, 0), 1000), coalesce(gpu_models, ''),
         coalesce(class, 'default'),
         CASE WHEN ord = ANY (dep_ords) THEN 'infinity'
              WHEN begin_us > 0 THEN 'epoch'::timestamptz + begin_us * interval '1 microsecond' END,
         CASE WHEN begin_us > 0 THEN 'epoch'::timestamptz + begin_us * interval '1 microsecond' END,
         CASE WHEN deadline_us > 0 THEN 'epoch'::timestamptz + deadline_us * interval '1 microsecond' END,
         job_shape(project_id, queue, kind, data_class, zone, pool, slots, gpus, coalesce(class, 'default'), cpu_milli,
                   memory_bytes, coalesce(nullif(gpu_milli, 0), 1000), coalesce(gpu_models, ''))
    FROM (SELECT unnest(tenants) AS tenant_id, unnest(jobs) AS job_id, unnest(names) AS name, unnest(kinds) AS kind,
                 unnest(specs) AS spec, unnest(zones) AS zone, unnest(pools) AS pool, unnest(classes) AS data_class,
                 unnest(slotss) AS slots, unnest(gpuss) AS gpus, unnest(priorities) AS priority, unnest(attempts) AS max_attempts,
                 unnest(runtimes) AS max_runtime_s, unnest(users) AS user_id, unnest(projects) AS project_id,
                 unnest(queues) AS queue, unnest(cpus) AS cpu_milli, unnest(memories) AS memory_bytes, unnest(millis) AS gpu_milli,
                 unnest(modelss) AS gpu_models, unnest(class_names) AS class, unnest(begins) AS begin_us,
                 unnest(deadlines) AS deadline_us, generate_series(1, n_all) AS ord) i
   WHERE new_ords IS NULL OR i.ord = ANY (new_ords);
  INSERT INTO audit_event (tenant_id, event_id, body)
  SELECT i.tenant_id, i.event_id, i.event
    FROM (SELECT unnest(tenants) AS tenant_id, unnest(event_ids) AS event_id, unnest(events) AS event,
                 generate_series(1, n_all) AS ord) i
   WHERE new_ords IS NULL OR i.ord = ANY (new_ords);
  IF cardinality(input_objects) > 0 THEN
    INSERT INTO job_object (tenant_id, job_id, direction, name, object_id)
    SELECT tenants[x.ord], jobs[x.ord], 'input', x.name, x.object_id
      FROM unnest(input_ords, input_names, input_objects) AS x(ord, name, object_id)
     WHERE new_ords IS NULL OR x.ord = ANY (new_ords);
  END IF;
  UPDATE quota SET used = used + n.k + quota.ended - n.ended, ended = n.ended
    FROM (SELECT unnest(owners) AS tenant_id, unnest(counts) AS k, unnest(endeds) AS ended) n
   WHERE quota.tenant_id = n.tenant_id AND quota.resource = 'jobs' AND n.k > 0;
  RETURN QUERY
  SELECT i.ord, coalesce(i.verdict, 'ok'), coalesce(i.answer, i.job_id), coalesce(q.room, 0), now(), coalesce(i.message, '')
    FROM unnest(jobs, tenants, verdicts, answers, messages) WITH ORDINALITY AS i(job_id, tenant_id, verdict, answer, message, ord)
    LEFT JOIN unnest(owners, rooms) AS q(tenant_id, room) ON q.tenant_id = i.tenant_id;
  -- Of the jobs that were stored, and not of a replay's.
  IF cardinality(dep_jobs) > 0 THEN
    INSERT INTO job_dependency (tenant_id, job_id, on_job_id, type)
    SELECT DISTINCT j.tenant_id, j.job_id, d.on_job_id, d.type
      FROM unnest(dep_ords, dep_types, dep_jobs) AS d(ord, type, on_job_id)
      JOIN job j ON j.tenant_id = tenants[d.ord] AND j.job_id = jobs[d.ord] AND j.submitted_xid = pg_current_xact_id();
  END IF;
END $$;
SELECT falaj_system_function('job_submit_many', 'falaj_app', 'falaj_scheduler');
