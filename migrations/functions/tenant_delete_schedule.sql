-- SPDX-License-Identifier: Apache-2.0
-- Called in the platform's scope by the approved request; true when it did something.
CREATE OR REPLACE FUNCTION tenant_delete_schedule(t uuid, after timestamptz, why text, event uuid, event_body bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE tenant SET state = 'DELETING', delete_after = after, state_reason = why, version = version + 1, authz_rev = authz_rev + 1
   WHERE tenant_id = t AND home_zone IS NOT NULL AND state IN ('ACTIVE', 'SUSPENDED') AND NOT tenant_has_hold(t);
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE job SET cancel_requested = true WHERE job.tenant_id = t AND finished_at IS NULL AND NOT cancel_requested;
  INSERT INTO audit_event (tenant_id, event_id, body) VALUES (t, event, event_body);
  RETURN true;
END $$;
SELECT falaj_system_function('tenant_delete_schedule', 'falaj_app');
