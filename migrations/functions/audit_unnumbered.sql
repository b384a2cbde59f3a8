-- SPDX-License-Identifier: Apache-2.0
-- Audit events without a number, and since when the oldest waits: those whose turn it is, those that a move of the database
-- left behind, and, so that no fault of the order can hide any, what the last count by id found (audit_count_unnumbered).
-- Counted to 100001 at most.
CREATE OR REPLACE FUNCTION audit_unnumbered() RETURNS TABLE (n bigint, oldest timestamptz)
LANGUAGE sql SECURITY DEFINER VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
  WITH waits AS (
    (SELECT e.at FROM audit_event e, audit_cursor c, database_epoch d
      WHERE c.id = 1 AND (e.xid, e.ord) > (c.xid, c.ord) AND e.xid < pg_snapshot_xmax(pg_current_snapshot())
        AND e.ord > d.event_ord LIMIT 100001)
    UNION ALL
    (SELECT e.at FROM audit_backlog b JOIN audit_event e ON e.tenant_id = b.tenant_id AND e.event_id = b.event_id LIMIT 100001)
    UNION ALL
    SELECT d.moved_at FROM database_epoch d WHERE d.stage <> 'open'
  ), counted AS (
    SELECT split_part(t.state, ' ', 1)::bigint AS n, to_timestamp(split_part(t.state, ' ', 2)::bigint) AS oldest
      FROM audit_task t WHERE t.name = 'count' AND t.state LIKE '% %'
  )
  SELECT greatest(count(*), (SELECT k.n FROM counted k)), least(min(w.at), (SELECT k.oldest FROM counted k WHERE k.n > 0))
    FROM waits w $$;
SELECT falaj_system_function('audit_unnumbered', 'falaj_sequencer');

-- Looks for events of the last day, a minute old, that are in no log; keeps and gives back how many.
CREATE OR REPLACE FUNCTION audit_count_unnumbered() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  day_ago_ms CONSTANT bigint := (extract(epoch FROM now()) - 86400) * 1000;
  since CONSTANT uuid := (lpad(to_hex(day_ago_ms), 12, '0') || repeat('0', 20))::uuid;       -- ids begin with their time
  k bigint;
  oldest timestamptz;
BEGIN
  SELECT count(*), min(u.at) INTO k, oldest FROM tenant t CROSS JOIN LATERAL (
    SELECT e.at FROM audit_event e
     WHERE e.tenant_id = t.tenant_id AND e.event_id >= since AND e.at < clock_timestamp() - interval '1 minute'
       AND NOT EXISTS (SELECT FROM audit_seq s WHERE s.tenant_id = e.tenant_id AND s.event_id = e.event_id)) u;
  UPDATE audit_task SET state = format('%s %s', k, coalesce(extract(epoch FROM oldest), 0)::bigint) WHERE name = 'count';
  RETURN k;
END $$;
SELECT falaj_system_function('audit_count_unnumbered', 'falaj_sequencer');
