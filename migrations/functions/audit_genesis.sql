-- SPDX-License-Identifier: Apache-2.0
-- The first entry of every log, in the transaction that opens it: whoever makes a tenant, however.
CREATE OR REPLACE FUNCTION audit_genesis() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  PERFORM audit_system_event(NEW.tenant_id, NEW.home_zone, 'FLJ-AUD-001S', 'audit.genesis', '');
  RETURN NULL;
END $$;
SELECT falaj_system_function('audit_genesis');
CREATE OR REPLACE TRIGGER audit_genesis AFTER INSERT ON tenant FOR EACH ROW EXECUTE FUNCTION audit_genesis();
