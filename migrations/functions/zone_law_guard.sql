-- SPDX-License-Identifier: Apache-2.0
-- A zone's law is the platform's: written in the platform's scope only (zone itself carries no tenant and so no row-level security).
CREATE OR REPLACE FUNCTION zone_law_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF current_user = 'falaj_app' AND current_setting('app.tenant')::uuid <> '00000000-0000-0000-0000-000000000000' THEN
    RAISE EXCEPTION 'the law of a zone is set in the scope of the platform' USING ERRCODE = '42501';
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER zone_platform_only AFTER INSERT OR UPDATE OR DELETE ON zone FOR EACH STATEMENT EXECUTE FUNCTION zone_law_guard();
CREATE OR REPLACE TRIGGER zone_law_platform_only AFTER INSERT OR UPDATE OR DELETE ON zone_law FOR EACH STATEMENT EXECUTE FUNCTION zone_law_guard();
CREATE OR REPLACE TRIGGER zone_rule_platform_only AFTER INSERT OR UPDATE OR DELETE ON zone_rule FOR EACH STATEMENT EXECUTE FUNCTION zone_law_guard();
CREATE OR REPLACE TRIGGER zone_clock_platform_only AFTER INSERT OR UPDATE OR DELETE ON zone_clock FOR EACH STATEMENT EXECUTE FUNCTION zone_law_guard();
