-- SPDX-License-Identifier: Apache-2.0
-- Drops at most `most` bodies that are past their time, and what was taken out of them; number, leaf and chain stay, so every proof
-- stays. Only what a signed head covers is dropped, nothing held, and no event of retention itself: such an event lists what
-- was dropped (docs/audit-format.md §1), 84 ranges at most, so that a missing body can be proven dropped. One row for each event.
CREATE OR REPLACE FUNCTION audit_retention_drop(most bigint)
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
      JOIN (SELECT h.tenant_id,
          max(h.size) AS size FROM audit_head h GROUP BY 1) h ON h.tenant_id = s.tenant_id AND s.tseq <= h.size
      CROSS JOIN LATERAL (SELECT c.days FROM classes c WHERE c.tenant_id = s.tenant_id AND c.class IN (substr(s.code, 5, 3), '*')
                           ORDER BY c.class = '*' LIMIT 1) k
     WHERE s.dropped_at IS NULL AND s.code <> 'FLJ-AUD-006S'
       AND s.at < now() - make_interval(days => (SELECT l.days::int FROM least l))
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
    RETURNING s.tenant_id, s.tseq),
  pages AS (
    UPDATE audit_page p SET bloom = NULL
      FROM (SELECT DISTINCT k.tenant_id, f.first_tseq FROM kept k CROSS JOIN LATERAL (
              SELECT p.first_tseq FROM audit_page p WHERE p.tenant_id = k.tenant_id AND p.first_tseq <= k.tseq
               ORDER BY p.first_tseq DESC LIMIT 1) f) d
     WHERE p.tenant_id = d.tenant_id AND p.first_tseq = d.first_tseq AND p.bloom IS NOT NULL),
  runs AS (
    SELECT i.tenant_id, min(i.tseq) AS low, max(i.tseq) AS high
      FROM (SELECT k.tenant_id, k.tseq, k.tseq - row_number() OVER (PARTITION BY k.tenant_id ORDER BY k.tseq) AS run
              FROM kept k) i
     GROUP BY i.tenant_id, i.run),
  placed AS (SELECT u.*, row_number() OVER (PARTITION BY u.tenant_id ORDER BY u.low) - 1 AS place FROM runs u),
  lists AS (     -- seven ranges of two numbers of 16 digits fit the 256 bytes of a text, twelve texts a set of details
    SELECT p.tenant_id, p.place / 84 AS part, p.place / 7 % 12 + 1 AS list, sum(p.high - p.low + 1) AS n,
           min(p.low) AS low, max(p.high) AS high,
           string_agg(CASE WHEN p.low = p.high THEN p.low::text ELSE p.low || '-' || p.high END, ',' ORDER BY p.low) AS ranges
      FROM placed p GROUP BY 1, 2, 3)
  SELECT l.tenant_id AS of_tenant, sum(l.n)::bigint AS n, min(l.low) AS low, max(l.high) AS high,
         string_agg(format(',"list_%s":"%s"', l.list, l.ranges), '' ORDER BY l.list) AS lists
    FROM lists l GROUP BY l.tenant_id, l.part ORDER BY l.tenant_id, l.part
  LOOP
    PERFORM audit_system_event(r.of_tenant, (SELECT n.home_zone FROM tenant n WHERE n.tenant_id = r.of_tenant), 'FLJ-AUD-006S', 'audit.retention',
                               format('"dropped":%s,"from_tseq":%s,"until_tseq":%s', r.n, r.low, r.high) || r.lists);
    tenant_id := r.of_tenant;
    dropped := r.n;
    until_tseq := r.high;
    RETURN NEXT;
  END LOOP;
END $$;
SELECT falaj_system_function('audit_retention_drop', 'falaj_retention');
