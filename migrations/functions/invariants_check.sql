-- SPDX-License-Identifier: Apache-2.0
-- J1 to J8 and J12: each row is a promise and how often it is broken. Looks across tenants, so it gives back counts and nothing
-- else. J6 compares transactions: a transition's row (job_event, or what job_step_xid says of rows that change later) was written
-- by the transaction that wrote its audit event. A restore writes all rows anew, so of what was there before (database_epoch) it
-- can only say that there are as many events. Whole tables are read: what a connection of a program leaves out (core/db/conn.c)
-- is on here.
CREATE OR REPLACE FUNCTION invariants_check()
RETURNS TABLE (name text, doc text, violations bigint)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp
  SET enable_seqscan = on SET enable_mergejoin = on SET enable_bitmapscan = on SET work_mem = '64MB' AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT 'J1', 'Every accepted submission has exactly one job',
         (SELECT count(*) FROM idempotency i
           WHERE i.route IN ('job_submit', 'job_submit_batch') AND i.status = 201 AND i.resource_id IS NOT NULL
             AND NOT EXISTS (SELECT FROM job j WHERE j.tenant_id = i.tenant_id AND j.job_id = i.resource_id))
  UNION ALL
  SELECT 'J2', 'A job moves along legal edges only',
         (SELECT count(*) FROM (
            SELECT s.state, s.version, lag(s.state) OVER w AS before, lag(s.version) OVER w AS version_before
              FROM job_step s WINDOW w AS (PARTITION BY s.tenant_id, s.job_id ORDER BY s.version)) n
           WHERE n.before IS NOT NULL AND n.before <> n.state
             AND (n.version <> n.version_before + 1
                  OR NOT EXISTS (SELECT FROM job_edge d WHERE d.from_state = n.before AND d.to_state = n.state)))
  UNION ALL
  SELECT 'J3', 'Fences grow by one and never repeat; at most one attempt of a job is live, and it is the newest',
         (SELECT count(*) FROM (
            SELECT FROM job j LEFT JOIN attempt a ON a.tenant_id = j.tenant_id AND a.job_id = j.job_id
             GROUP BY j.tenant_id, j.job_id, j.fence
            HAVING count(a.fence) <> j.fence OR coalesce(max(a.fence), 0) <> j.fence OR count(*) FILTER (WHERE a.live) > 1
                OR count(*) FILTER (WHERE a.live AND a.fence <> j.fence) > 0) x)
       -- An attempt on several machines has a member on each, rank 0 where the attempt is; none outlives it.
       + (SELECT count(*) FROM (
            SELECT FROM attempt a LEFT JOIN attempt_member m ON m.tenant_id = a.tenant_id AND m.attempt_id = a.attempt_id
             GROUP BY a.tenant_id, a.attempt_id, a.nodes, a.node_id, a.live, a.state
            HAVING count(m.rank) <> CASE WHEN a.nodes > 1 THEN a.nodes ELSE 0 END OR count(DISTINCT m.node_id) <> count(m.rank)
                OR bool_or(m.rank = 0 AND (m.node_id <> a.node_id OR m.state <> a.state)) OR bool_or(m.live AND NOT a.live)) x)
  UNION ALL
  SELECT 'J4', 'A job has at most one result, made by its newest attempt alone',
         (SELECT count(*) FROM (
            SELECT FROM attempt a JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id
             WHERE a.state = 'SUCCEEDED' GROUP BY j.tenant_id, j.job_id, j.fence, j.state
            HAVING count(*) > 1 OR max(a.fence) <> j.fence OR j.state <> 'COMPLETED') x)
       + (SELECT count(*) FROM job_object o JOIN object b ON b.tenant_id = o.tenant_id AND b.object_id = o.object_id
           JOIN job j ON j.tenant_id = o.tenant_id AND j.job_id = o.job_id
           WHERE o.direction = 'output' AND b.state = 'COMMITTED' AND (o.fence <> j.fence OR j.state <> 'COMPLETED'))
  UNION ALL
  SELECT 'J5', 'Quotas hold the live jobs, and live attempts no more slots and GPUs than they allow',
         (SELECT count(*) FROM quota q
            LEFT JOIN (SELECT j.tenant_id, count(*) AS n FROM job j WHERE j.finished_at IS NULL GROUP BY 1) l ON l.tenant_id = q.tenant_id
            LEFT JOIN (SELECT a.tenant_id, sum(a.slots) AS slots, sum(a.gpus) AS gpus FROM attempt a WHERE a.live GROUP BY 1) r
              ON r.tenant_id = q.tenant_id
            LEFT JOIN job_end e ON e.tenant_id = q.tenant_id
           WHERE (q.resource = 'jobs' AND q.used + q.ended - coalesce(e.ended, q.ended) <> coalesce(l.n, 0))
              OR (q.resource = 'slots' AND q.hard_limit < coalesce(r.slots, 0))
              OR (q.resource = 'gpus' AND q.hard_limit < coalesce(r.gpus, 0)))
       + (SELECT count(*) FROM (
            SELECT FROM attempt a JOIN attempt_member m ON m.tenant_id = a.tenant_id AND m.attempt_id = a.attempt_id
             GROUP BY a.tenant_id, a.attempt_id, a.slots, a.gpus HAVING sum(m.slots) <> a.slots OR sum(m.gpus) <> a.gpus) x)
  UNION ALL
  SELECT 'J6', 'Every transition has an audit event of the same transaction',
         (SELECT count(*) FROM (SELECT s.tenant_id, s.xid, count(*) AS n FROM (
                                  SELECT e.tenant_id, e.xmin::text::bigint AS xid FROM job_event e, database_epoch d
                                   WHERE e.at >= d.began_at AND age(e.xmin) <= age(d.began_xid::xid)
                                  UNION ALL
                                  SELECT r.tenant_id, r.xid::text::bigint % 4294967296 FROM job_step_xid r, database_epoch d
                                   WHERE r.at >= d.began_at) s GROUP BY 1, 2) t
            LEFT JOIN (SELECT a.tenant_id, a.xid::text::bigint % 4294967296 AS xid, count(*) AS n
                         FROM audit_event a, database_epoch d WHERE a.ord > d.event_ord GROUP BY 1, 2) u
              ON u.tenant_id = t.tenant_id AND u.xid = t.xid
           WHERE coalesce(u.n, 0) < t.n)
       + (SELECT count(*) FROM (SELECT e.tenant_id, count(*) AS n
                                  FROM (SELECT tenant_id, at FROM job_event UNION ALL SELECT tenant_id, at FROM job_step_xid) e,
                                       database_epoch d
                                 WHERE e.at < d.began_at GROUP BY 1) t
           WHERE t.n > (SELECT count(*) FROM audit_event a WHERE a.tenant_id = t.tenant_id)
                       + (SELECT count(*) FROM audit_seq s WHERE s.tenant_id = t.tenant_id AND s.dropped_at IS NOT NULL))
  UNION ALL
  SELECT 'J7', 'An attempt runs only in a zone that its tenant may use and its job allows',
         (SELECT count(*) FROM (SELECT a.tenant_id, a.job_id, a.node_id FROM attempt a WHERE a.live
                                 UNION SELECT h.tenant_id, h.job_id, h.node_id FROM machine_hold h) a
            JOIN node n ON n.node_id = a.node_id JOIN tenant t ON t.tenant_id = a.tenant_id
            JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id
           WHERE (n.zone <> ALL (t.allowed_zones) OR (j.zone IS NOT NULL AND j.zone <> n.zone) OR j.pool <> n.pool))
  UNION ALL
  SELECT 'J8', 'A job is held by a live attempt exactly while its state says so',
         (SELECT count(*) FROM job j
           WHERE (j.state IN ('ADMITTED', 'STARTING', 'RUNNING', 'COMPLETING', 'PREEMPTING'))
              <> EXISTS (SELECT FROM attempt a WHERE a.tenant_id = j.tenant_id AND a.job_id = j.job_id AND a.live))
       + (SELECT count(*) FROM attempt_member m JOIN attempt a ON a.tenant_id = m.tenant_id AND a.attempt_id = m.attempt_id
           WHERE m.live AND m.rank > 0 AND a.state = 'RUNNING' AND m.endpoint IS NULL)
  UNION ALL
  SELECT 'J12', 'Every audit event has a number ten minutes after it was written',
         (SELECT count(*) FROM audit_event e WHERE e.at < clock_timestamp() - interval '10 minutes'
             AND NOT EXISTS (SELECT FROM audit_seq s WHERE s.tenant_id = e.tenant_id AND s.event_id = e.event_id));
END $$;
SELECT falaj_system_function('invariants_check', 'falaj_app');
