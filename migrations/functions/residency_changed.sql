-- SPDX-License-Identifier: Apache-2.0
-- Counts every change of the rules of residency, of tenants' states and of their limits, and machines that go, so that whoever
-- remembers them notices.
CREATE OR REPLACE FUNCTION residency_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE residency_revision SET revision = revision + 1 WHERE id = 1;
  RETURN NULL;
END $$;
SELECT falaj_system_function('residency_changed', 'falaj_app');
CREATE OR REPLACE TRIGGER zone_changed AFTER INSERT OR UPDATE OR DELETE ON zone FOR EACH STATEMENT EXECUTE FUNCTION residency_changed();
CREATE OR REPLACE TRIGGER zone_rule_changed AFTER INSERT OR UPDATE OR DELETE ON zone_rule FOR EACH STATEMENT EXECUTE FUNCTION residency_changed();
CREATE OR REPLACE TRIGGER tenant_zone_changed AFTER INSERT OR UPDATE OR DELETE ON tenant_zone FOR EACH STATEMENT EXECUTE FUNCTION residency_changed();
CREATE OR REPLACE TRIGGER transfer_policy_changed AFTER INSERT OR UPDATE OR DELETE ON transfer_policy FOR EACH STATEMENT EXECUTE FUNCTION residency_changed();
CREATE OR REPLACE TRIGGER tenant_zones_changed AFTER UPDATE OF home_zone, allowed_zones, state ON tenant
  FOR EACH STATEMENT EXECUTE FUNCTION residency_changed();
CREATE OR REPLACE TRIGGER quota_changed AFTER INSERT OR DELETE OR UPDATE OF hard_limit, guarded ON quota
  FOR EACH STATEMENT EXECUTE FUNCTION residency_changed();
-- Who keeps machines from plan to plan (ADR 0108) has to forget those that are gone.
CREATE OR REPLACE TRIGGER node_removed AFTER DELETE OR TRUNCATE ON node FOR EACH STATEMENT EXECUTE FUNCTION residency_changed();
-- And of which it takes one lease alone (scheduler/engines/lent.h).
CREATE OR REPLACE TRIGGER engine_changed AFTER INSERT OR DELETE OR UPDATE OF name, zone, pool ON engine
  FOR EACH STATEMENT EXECUTE FUNCTION residency_changed();
