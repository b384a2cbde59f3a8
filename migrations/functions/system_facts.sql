-- SPDX-License-Identifier: Apache-2.0
-- Counts across tenants, for the platform alone. Long lists are counted to 100001 at most, so that asking stays cheap when all is not well.
CREATE OR REPLACE FUNCTION system_facts()
RETURNS TABLE (server_version text, in_recovery boolean, standbys bigint, replay_age_ms bigint,
               round_age_ms bigint, round_us bigint, round_version text,
               unnumbered bigint, unnumbered_age_ms bigint, unsigned_logs bigint, head_age_ms bigint,
               waiting bigint, running bigint, nodes_ready bigint, nodes_draining bigint, nodes_quarantined bigint, nodes_lost bigint,
               slots bigint, used_slots bigint)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE now_at timestamptz := clock_timestamp();
BEGIN
  IF current_setting('app.tenant')::uuid <> '00000000-0000-0000-0000-000000000000' THEN
    RAISE EXCEPTION 'the platform is the platform''s' USING ERRCODE = 'FJ403';
  END IF;
  RETURN QUERY
  WITH pending AS (
    SELECT u.n, u.oldest FROM audit_unnumbered() u
  ), logs AS (
    SELECT s.size, h.size AS signed, h.ts_us FROM audit_log_state s
      LEFT JOIN LATERAL (SELECT h.size, h.ts_us FROM audit_head h WHERE h.tenant_id = s.tenant_id ORDER BY h.size DESC LIMIT 1) h ON true
  ), machines AS (
    SELECT count(*) FILTER (WHERE n.state = 'READY') AS ready, count(*) FILTER (WHERE n.state = 'DRAINING') AS draining,
           count(*) FILTER (WHERE n.state = 'QUARANTINED') AS quarantined, count(*) FILTER (WHERE n.state = 'LOST') AS lost,
           coalesce(sum(n.slots) FILTER (WHERE n.state = 'READY'), 0)::bigint AS slots FROM node n
  ), live AS (
    SELECT count(*) AS n, coalesce(sum(a.slots), 0)::bigint AS slots FROM attempt a WHERE a.live
  )
  SELECT current_setting('server_version'), pg_is_in_recovery(), (SELECT count(*) FROM pg_stat_replication),
         (extract(epoch FROM now_at - pg_last_xact_replay_timestamp()) * 1000)::bigint,
         (SELECT (extract(epoch FROM now_at - r.at) * 1000)::bigint FROM scheduler_round r), (SELECT r.plan_us FROM scheduler_round r),
         (SELECT r.version FROM scheduler_round r),
         (SELECT p.n FROM pending p), (SELECT (extract(epoch FROM now_at - p.oldest) * 1000)::bigint FROM pending p),
         (SELECT count(*) FROM logs l WHERE l.size > coalesce(l.signed, 0)),
         (SELECT (extract(epoch FROM now_at) * 1000)::bigint - max(l.ts_us) / 1000 FROM logs l),
         (SELECT count(*) FROM (SELECT FROM job j WHERE j.queued LIMIT 100001) q), live.n,
         m.ready, m.draining, m.quarantined, m.lost, m.slots, live.slots
    FROM machines m, live;
END $$;
SELECT falaj_system_function('system_facts', 'falaj_app', 'falaj_scheduler');
