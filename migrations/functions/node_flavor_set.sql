-- SPDX-License-Identifier: Apache-2.0
-- Under the planners' lock, and only while nothing runs there: what rules and prices counted under one flavor must end under it.
CREATE OR REPLACE FUNCTION node_flavor_set(node uuid, new_flavor text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(4630123712);
  UPDATE node n SET flavor = new_flavor WHERE n.node_id = node
     AND NOT EXISTS (SELECT FROM machine_hold a WHERE a.node_id = n.node_id);
  RETURN FOUND;
END $$;
SELECT falaj_system_function('node_flavor_set', 'falaj_app');
