-- SPDX-License-Identifier: Apache-2.0
-- What runs (a row for each of its machines) and what waits, for a run ahead of the planner (scheduler/plan/ahead.h) in a
-- tenant's own transaction. What is
-- not the tenant's, or of a project that its caller may not see, has an alias instead of an id and no name: it takes room and
-- turns, and cannot be told. Waiting jobs are read as the planner reads them: of each tenant and shape the first, `most` in
-- all and one of a shape at least; and the first 200 whose time comes within `until`. Of those that run at most 20000
-- (BOARD_TIMED and BOARD_RUNNING of scheduler/mirror/board.h, which tells when there may be more). `zones`: where the database's
-- judge of residency lets a waiting job run. `needs`: of one that waits for others, each as TYPE:ID between commas; 400 such
-- rows of the tenant are read and 400 of others. may_leave and what follows: whether it may be told to make room, as
-- scheduler/mirror/holders.c reads it. `runs`: how many seconds the newest completed jobs of its kind and shape took, at most 20
-- of the newest 100 of that kind, which are looked for once for each kind among the tenant's newest 10000.
CREATE OR REPLACE FUNCTION queue_jobs(most bigint, until interval)
RETURNS TABLE (is_live boolean, is_own boolean, tenant_id uuid, job_id uuid, name text, machine uuid, zone text, pool text,
               kind text,
               data_class text, queue text, project_id uuid, slots bigint, gpus bigint, cpu_milli bigint, memory_bytes bigint,
               gpu_milli bigint, gpu_models text, class text, class_value bigint, priority bigint, shape bigint, depth bigint,
               submitted_at timestamptz, ready_at timestamptz, begun_at timestamptz, devices bigint, stays boolean,
               max_runtime_s bigint, runs text, zones text, needs text, may_leave boolean, grace_s bigint, min_runtime_s bigint,
               preempted bigint, saved_at timestamptz, leaves_at timestamptz, leaves_for uuid, nodes bigint,
               nodes_max bigint, engine text)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
  mine uuid := nullif(current_setting('app.tenant', true), '')::uuid;
BEGIN
  RETURN QUERY
  WITH RECURSIVE c AS (
    (SELECT j.tenant_id, j.shape FROM job j WHERE j.queued AND j.not_before IS NULL ORDER BY j.tenant_id, j.shape LIMIT 1)
    UNION ALL
    SELECT n.tenant_id, n.shape FROM c CROSS JOIN LATERAL (
      SELECT j.tenant_id, j.shape FROM job j
       WHERE j.queued AND j.not_before IS NULL AND (j.tenant_id, j.shape) > (c.tenant_id, c.shape)
       ORDER BY j.tenant_id, j.shape LIMIT 1) n),
  k AS MATERIALIZED (SELECT c.tenant_id, c.shape FROM c LIMIT most),
  d AS MATERIALIZED (SELECT greatest(1, most / greatest(1, count(*))) AS depth FROM k),
  w AS MATERIALIZED (
    SELECT j.tenant_id, j.job_id, d.depth FROM k CROSS JOIN d CROSS JOIN LATERAL (
      SELECT x.tenant_id, x.job_id FROM job x
       WHERE x.tenant_id = k.tenant_id AND x.shape = k.shape AND x.queued AND x.not_before IS NULL AND NOT x.cancel_requested
       ORDER BY x.priority DESC, x.job_id LIMIT (SELECT depth FROM d)) j
    UNION ALL
    (SELECT x.tenant_id, x.job_id, 0 FROM job x
      WHERE x.queued AND x.not_before IS NOT NULL AND x.not_before < now() + until AND NOT x.cancel_requested
      ORDER BY x.not_before LIMIT 200)
    UNION ALL
    SELECT x.tenant_id, x.job_id, 0 FROM (
      (SELECT d.tenant_id, d.job_id FROM job_dependency d WHERE d.open AND d.tenant_id = mine
        ORDER BY d.tenant_id, d.on_job_id, d.type LIMIT 400)
      UNION
      (SELECT d.tenant_id, d.job_id FROM job_dependency d WHERE d.open AND d.tenant_id IS DISTINCT FROM mine
        ORDER BY d.tenant_id, d.on_job_id, d.type LIMIT 400)) e
      JOIN job x ON x.tenant_id = e.tenant_id AND x.job_id = e.job_id
     WHERE x.queued AND x.not_before = 'infinity' AND NOT x.cancel_requested),
  l AS MATERIALIZED (
    SELECT a.tenant_id, a.job_id, h.node_id, h.slots, h.gpus, h.cpu_milli, h.memory_bytes, h.gpu_milli, h.devices,
           coalesce(a.started_at, now()) AS begun_at, a.state = 'RUNNING' AS is_running, a.evict_until, a.evict_for
      FROM machine_hold h JOIN attempt a ON a.tenant_id = h.tenant_id AND a.attempt_id = h.attempt_id LIMIT 20000),
  b AS MATERIALIZED (
    SELECT true AS is_live, j, l.node_id, l.slots, l.gpus, l.cpu_milli, l.memory_bytes, l.gpu_milli, l.devices, l.begun_at,
           0::bigint AS depth, l.is_running, l.evict_until, l.evict_for
      FROM l JOIN job j ON j.tenant_id = l.tenant_id AND j.job_id = l.job_id
    UNION ALL
    SELECT false, j, NULL, j.slots, j.gpus, j.cpu_milli, j.memory_bytes, j.gpu_milli, 0, NULL, w.depth, true, NULL, NULL
      FROM w JOIN job j ON j.tenant_id = w.tenant_id AND j.job_id = w.job_id),
  t AS MATERIALIZED (
    SELECT s.tenant_id, e.shape, e.job_id, extract(epoch FROM e.finished_at - e.started_at)::bigint AS took,
           row_number() OVER (PARTITION BY s.tenant_id, e.shape ORDER BY e.job_id DESC) AS place
      FROM (SELECT DISTINCT (b.j).tenant_id, (b.j).kind FROM b) s CROSS JOIN LATERAL (
        SELECT y.job_id FROM (
          SELECT x.job_id, x.kind FROM job x
           WHERE x.tenant_id = s.tenant_id AND x.ended = 'COMPLETED' ORDER BY x.job_id DESC LIMIT 10000) y
         WHERE y.kind = s.kind ORDER BY y.job_id DESC LIMIT 100) n
      JOIN job e ON e.tenant_id = s.tenant_id AND e.job_id = n.job_id AND e.started_at IS NOT NULL),
  r AS MATERIALIZED (
    SELECT t.tenant_id, t.shape, string_agg(t.took::text, ',' ORDER BY t.job_id DESC) AS runs FROM t WHERE t.place <= 20
     GROUP BY t.tenant_id, t.shape),
  z AS MATERIALIZED (
    SELECT s.tenant_id, s.data_class, s.kind, (
        SELECT string_agg(o.code, ',' ORDER BY o.code) FROM zone o
         WHERE residency_zone_ok(s.tenant_id, s.data_class, o.code, job_purpose(s.kind))) AS zones
      FROM (SELECT DISTINCT (b.j).tenant_id, (b.j).data_class, (b.j).kind FROM b WHERE NOT b.is_live) s),
  o AS MATERIALIZED (SELECT b, (b.j).tenant_id = mine AND project_visible((b.j).project_id) AS is_own FROM b),
  m AS MATERIALIZED (SELECT ((o.b).j).job_id AS id FROM o WHERE o.is_own),
  n AS MATERIALIZED (
    SELECT d.tenant_id, d.job_id, string_agg(d.type || ':' ||
             CASE WHEN m.id IS NULL THEN queue_alias(d.on_job_id::text) ELSE m.id END, ',' ORDER BY d.on_job_id, d.type) AS needs
      FROM o JOIN job_dependency d ON d.tenant_id = ((o.b).j).tenant_id AND d.job_id = ((o.b).j).job_id AND d.open
           JOIN job p ON p.tenant_id = d.tenant_id AND p.job_id = d.on_job_id AND p.ended IS NULL
           LEFT JOIN m ON m.id = d.on_job_id
     WHERE NOT (o.b).is_live GROUP BY d.tenant_id, d.job_id),
  q AS MATERIALIZED (
    SELECT p.tenant_id, p.job_id, count(*) AS preempted
      FROM o JOIN attempt p ON p.tenant_id = ((o.b).j).tenant_id AND p.job_id = ((o.b).j).job_id
     WHERE ((o.b).j).fence > 1 AND (p.state = 'PREEMPTED' OR (p.state = 'FENCED' AND p.evict_until IS NOT NULL))
       AND p.evict_for IS DISTINCT FROM '00000000-0000-0000-0000-000000000000' GROUP BY p.tenant_id, p.job_id)
  SELECT (o.b).is_live, coalesce(o.is_own, false), queue_alias(((o.b).j).tenant_id::text),
         CASE WHEN o.is_own THEN ((o.b).j).job_id ELSE queue_alias(((o.b).j).job_id::text) END,
         CASE WHEN o.is_own THEN ((o.b).j).name ELSE '' END, queue_alias((o.b).node_id::text), ((o.b).j).zone, ((o.b).j).pool,
         ((o.b).j).kind, ((o.b).j).data_class,
         CASE WHEN ((o.b).j).tenant_id = mine THEN ((o.b).j).queue
              ELSE queue_alias(((o.b).j).tenant_id || ((o.b).j).queue)::text END,
         queue_alias(((o.b).j).project_id::text), (o.b).slots, (o.b).gpus, (o.b).cpu_milli, (o.b).memory_bytes, (o.b).gpu_milli,
         ((o.b).j).gpu_models, ((o.b).j).class, coalesce(v.value, 0), ((o.b).j).priority, ((o.b).j).shape, (o.b).depth,
         ((o.b).j).submitted_at,
         CASE WHEN ((o.b).j).not_before = 'infinity' THEN ((o.b).j).begin_at ELSE ((o.b).j).not_before END,
         (o.b).begun_at, (o.b).devices, job_stays(((o.b).j).kind),
         ((o.b).j).max_runtime_s, coalesce(r.runs, ''), coalesce(z.zones, ''), coalesce(n.needs, ''),
         coalesce(v.preemptible, false) AND (o.b).is_running AND NOT job_stays(((o.b).j).kind)
           AND NOT ((o.b).j).cancel_requested, coalesce(v.grace_s, 0), coalesce(v.min_runtime_s, 0), coalesce(q.preempted, 0),
         CASE WHEN (o.b).is_live AND v.preemptible THEN (
           SELECT max(k.whole_at) FROM checkpoint k WHERE k.tenant_id = ((o.b).j).tenant_id AND k.job_id = ((o.b).j).job_id) END,
         (o.b).evict_until,
         CASE WHEN (o.b).evict_for IN (SELECT m.id FROM m) THEN (o.b).evict_for ELSE queue_alias((o.b).evict_for::text) END,
         ((o.b).j).nodes, ((o.b).j).nodes_max, ((o.b).j).engine
    FROM o
    LEFT JOIN n ON n.tenant_id = ((o.b).j).tenant_id AND n.job_id = ((o.b).j).job_id
    LEFT JOIN q ON q.tenant_id = ((o.b).j).tenant_id AND q.job_id = ((o.b).j).job_id
    LEFT JOIN r ON r.tenant_id = ((o.b).j).tenant_id AND r.shape = ((o.b).j).shape
    LEFT JOIN z ON z.tenant_id = ((o.b).j).tenant_id AND z.data_class = ((o.b).j).data_class AND z.kind = ((o.b).j).kind
    LEFT JOIN priority_class v ON v.class = ((o.b).j).class
   ORDER BY 1 DESC, (o.b).depth = 0, 3, 22, ((o.b).j).priority DESC, ((o.b).j).job_id;
END $$;
SELECT falaj_system_function('queue_jobs', 'falaj_app');
