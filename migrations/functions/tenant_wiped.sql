-- SPDX-License-Identifier: Apache-2.0
-- The end of it, once nothing is left and no key opens anything: true when it did something.
CREATE OR REPLACE FUNCTION tenant_wiped(t uuid, events uuid[], bodies bytea[]) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE tenant SET state = 'DELETED', name = 'deleted-' || replace(t::text, '-', ''), display_name = '', display_name_ar = '',
                    state_reason = '', version = version + 1
   WHERE tenant_id = t AND state = 'DELETING' AND delete_after <= now() AND NOT tenant_has_hold(t)
     AND NOT EXISTS (SELECT FROM tenant_key k WHERE k.tenant_id = t AND k.wrapped IS NOT NULL);
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO audit_event (tenant_id, event_id, body) VALUES (t, events[1], bodies[1]),
    ('00000000-0000-0000-0000-000000000000', events[2], bodies[2]);
  RETURN true;
END $$;
SELECT falaj_system_function('tenant_wiped', 'falaj_scheduler');
