-- SPDX-License-Identifier: Apache-2.0
-- A machine that was lent for one lease and has had it (scheduler/engines/lent.h) is not made ready again, and keeps its reason
-- while it is drained.
-- A machine from one of `froms` to `wanted`, by platform staff only. No row: there is no such machine, or its state is another.
CREATE OR REPLACE FUNCTION node_move(node uuid, wanted text, froms text[], why text) RETURNS SETOF uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF current_setting('app.tenant')::uuid <> '00000000-0000-0000-0000-000000000000' THEN
    RAISE EXCEPTION 'machines are the platform''s' USING ERRCODE = 'FJ403';
  END IF;
  RETURN QUERY UPDATE node n
     SET state = wanted, reason = CASE WHEN wanted = 'DRAINING' AND n.is_spent THEN n.reason ELSE why END,
         is_spent = n.is_spent AND wanted <> 'QUARANTINED',
         is_drained = CASE WHEN wanted = n.state THEN n.is_drained ELSE wanted = 'DRAINING' END
   WHERE n.node_id = node AND n.state = ANY (froms) AND NOT (wanted = 'READY' AND n.is_spent)
  RETURNING n.node_id;
END $$;
SELECT falaj_system_function('node_move', 'falaj_app');
