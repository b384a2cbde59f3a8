-- SPDX-License-Identifier: Apache-2.0
-- J9 to J11, beside invariants_check. Whole tables are read: what a connection of a program leaves out (core/db/conn.c) is on
-- here.
CREATE OR REPLACE FUNCTION invariants_quota() RETURNS TABLE (name text, doc text, violations bigint)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp
  SET enable_seqscan = on SET enable_mergejoin = on SET enable_bitmapscan = on SET work_mem = '64MB' AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT 'J9', 'Each ended attempt is charged once; what is open are the live attempts and no more',
         (SELECT count(*) FROM (
            SELECT FROM ledger_entry l LEFT JOIN attempt a ON a.tenant_id = l.tenant_id AND a.attempt_id = l.transaction_id
              LEFT JOIN usage_record u ON u.tenant_id = l.tenant_id AND u.attempt_id = l.transaction_id
             GROUP BY l.tenant_id, l.transaction_id, a.live, u.slot_ms, u.gpu_ms
            HAVING count(*) <> 2 OR sum(l.slot_ms) <> 0 OR sum(l.gpu_ms) <> 0 OR sum(l.energy_mj) <> 0 OR sum(l.money_micro) <> 0
                OR a.live IS DISTINCT FROM false OR max(l.slot_ms) IS DISTINCT FROM u.slot_ms OR max(l.gpu_ms) IS DISTINCT FROM u.gpu_ms) x)
       + (SELECT count(*) FROM attempt a WHERE NOT a.live AND 1 <> (
            SELECT count(*) FROM usage_debit l WHERE l.tenant_id = a.tenant_id AND l.attempt_id = a.attempt_id))
       + (SELECT count(*) FROM usage_record u LEFT JOIN attempt a ON a.tenant_id = u.tenant_id AND a.attempt_id = u.attempt_id
           WHERE a.live IS DISTINCT FROM false)
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
SELECT falaj_system_function('invariants_quota', 'falaj_app');
