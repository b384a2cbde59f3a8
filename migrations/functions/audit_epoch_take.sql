-- SPDX-License-Identifier: Apache-2.0
-- Where this database stands: the cluster that was made once, the database in it, and the timeline, which changes when a
-- standby takes over or a backup is rolled forward. A byte copy that is started without a new timeline cannot be told from what
-- it was copied from.
CREATE OR REPLACE FUNCTION audit_cluster() RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  -- PL/pgSQL keeps the plan of this query; an SQL function that pins its path would make it anew at each call.
  RETURN (
    SELECT format('%s/%s/%s', c.system_identifier, d.oid, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))
      FROM pg_control_system() c, pg_database d WHERE d.datname = current_database());
END $$;
REVOKE ALL ON FUNCTION audit_cluster() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION audit_cluster() TO falaj_system;

-- An event for each log: the database stands in another cluster than before.
CREATE OR REPLACE FUNCTION audit_epoch_tell(kind text, came_from text, came_to text, epoch bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  PERFORM audit_system_event(s.tenant_id, t.home_zone, 'FLJ-AUD-010S', 'audit.epoch',
                             format('"kind":"%s","from":"%s","to":"%s","epoch":%s,"size":%s,"late":%s', kind, came_from, came_to,
                                    epoch, s.size, (SELECT count(*) FROM audit_backlog b WHERE b.tenant_id = s.tenant_id)))
     FROM audit_log_state s JOIN tenant t ON t.tenant_id = s.tenant_id ORDER BY s.tenant_id;
END $$;
REVOKE ALL ON FUNCTION audit_epoch_tell(text, text, text, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION audit_epoch_tell(text, text, text, bigint) TO falaj_system;

-- Begin to open the next epoch. Places of insertion are taken from the sequences, which a dump restores to at least what its
-- rows have: what was restored, and what was written here before this moment, lies below; all that is written later lies above.
-- A transaction that took a place below knew its number before, so it is below the number that the inner block gets after the
-- sequences were asked (that of this transaction may be older than they: it waited for the lock).
CREATE OR REPLACE FUNCTION audit_epoch_begin(seen text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  top bigint := pg_current_xact_id()::text::bigint;
  sub bigint;
BEGIN
  UPDATE database_epoch SET stage = 'draining', came_from = cluster, cluster = seen, moved_at = clock_timestamp(),
         next_event_ord = nextval('public.audit_event_ord_seq'), next_usage_ord = nextval('public.usage_ord')
   WHERE id = 1;
  BEGIN
    UPDATE database_epoch SET stage = 'draining' WHERE id = 1 RETURNING xmin::text::bigint INTO sub;
  EXCEPTION WHEN division_by_zero THEN NULL;         -- an inner block with a handler has a number of its own
  END;
  sub := sub + (top >> 32 << 32);
  UPDATE database_epoch SET drain = (CASE WHEN sub < top THEN sub + 4294967296 ELSE sub END)::text::xid8,
         written = pg_current_xact_id() WHERE id = 1;
END $$;
REVOKE ALL ON FUNCTION audit_epoch_begin(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION audit_epoch_begin(text) TO falaj_system;

-- Looks through the events below the fence for those without a number, page by page, for three seconds at most; true: all were
-- seen.
CREATE OR REPLACE FUNCTION audit_epoch_list() RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = on AS $$
DECLARE
  until CONSTANT timestamptz := clock_timestamp() + interval '3 seconds';
  step CONSTANT bigint := 1000;
  d database_epoch;
BEGIN
  SELECT e.* INTO d FROM database_epoch e WHERE e.id = 1;
  WHILE d.next_page < d.pages AND clock_timestamp() < until LOOP
    INSERT INTO audit_backlog (tenant_id, event_id, ord)
    SELECT e.tenant_id, e.event_id, e.ord FROM audit_event e
     WHERE e.ctid >= format('(%s,0)', d.next_page)::tid AND e.ctid < format('(%s,0)', d.next_page + step)::tid
       AND e.ord <= d.next_event_ord
       AND NOT EXISTS (SELECT FROM audit_seq s WHERE s.tenant_id = e.tenant_id AND s.event_id = e.event_id)
        ON CONFLICT DO NOTHING;                       -- left by the epoch before
    d.next_page := d.next_page + step;
  END LOOP;
  UPDATE database_epoch SET next_page = d.next_page, written = pg_current_xact_id() WHERE id = 1;
  RETURN d.next_page >= d.pages;
END $$;
REVOKE ALL ON FUNCTION audit_epoch_list() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION audit_epoch_list() TO falaj_system;

-- The lock of sequencing, and what may be numbered now: events of this epoch lie after (xid, ord) and above since_ord; those of
-- epochs before are in audit_backlog, whose turn comes first; nothing while an epoch is being opened. Each call does one step
-- of that, in the caller's transaction, and its order is safe: nothing is listed before every transaction that could still
-- write below the fence has ended. Moved is what stands in another cluster or database; what was written into this row by
-- another transaction than it says (a dump was read in); and what was numbered in a transaction that is yet to come.
CREATE OR REPLACE FUNCTION audit_epoch_take()
RETURNS TABLE (xid xid8, ord bigint, since_ord bigint, is_open boolean, has_backlog boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
  c audit_cursor;
  d database_epoch;
  seen text := audit_cluster();
  next_xid CONSTANT xid8 := pg_snapshot_xmax(pg_current_snapshot());
  is_moved boolean;
BEGIN
  SELECT a.* INTO c FROM audit_cursor a WHERE a.id = 1 FOR UPDATE;
  SELECT e.* INTO d FROM database_epoch e WHERE e.id = 1;
  is_moved := substring(d.cluster FROM '^\d+/\d+') IS DISTINCT FROM substring(seen FROM '^\d+/\d+')
           OR (SELECT e.xmin::text <> ((e.written::text::numeric % 4294967296)::text) FROM database_epoch e WHERE e.id = 1)
           OR (d.stage = 'open' AND c.xid >= next_xid);
  IF d.cluster = '' AND NOT EXISTS (SELECT FROM audit_log_state) AND
     NOT EXISTS (SELECT FROM audit_event e WHERE e.xid >= next_xid) THEN
    UPDATE database_epoch SET cluster = seen, written = pg_current_xact_id() WHERE id = 1;              -- a log that begins here
  ELSIF is_moved THEN
    PERFORM audit_epoch_begin(seen);
  ELSIF d.cluster <> seen THEN                                                        -- another timeline: transactions count on
    UPDATE database_epoch SET cluster = seen, written = pg_current_xact_id() WHERE id = 1;
    PERFORM audit_epoch_tell('timeline', d.cluster, seen, d.epoch);
  ELSIF d.stage = 'draining' AND pg_snapshot_xmin(pg_current_snapshot()) >= d.drain THEN
    UPDATE database_epoch SET stage = 'listing', next_page = 0, pages = pg_relation_size('public.audit_event') / 8192 + 1,
           written = pg_current_xact_id() WHERE id = 1;
  ELSIF d.stage = 'listing' AND audit_epoch_list() THEN
    UPDATE audit_cursor SET xid = '0', ord = 0 WHERE id = 1;
    UPDATE database_epoch SET stage = 'open', epoch = d.epoch + 1, event_ord = d.next_event_ord, usage_ord = d.next_usage_ord,
           began_at = clock_timestamp(), began_xid = pg_current_xact_id(), written = pg_current_xact_id() WHERE id = 1;
    PERFORM audit_epoch_tell(CASE d.came_from WHEN '' THEN 'first' ELSE 'restore' END, d.came_from, seen, d.epoch + 1);
  END IF;
  RETURN QUERY SELECT a.xid, a.ord, e.event_ord, e.stage = 'open', EXISTS (SELECT FROM audit_backlog)
                 FROM audit_cursor a, database_epoch e WHERE a.id = 1 AND e.id = 1;
END $$;
SELECT falaj_system_function('audit_epoch_take', 'falaj_sequencer');
