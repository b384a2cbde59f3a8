-- SPDX-License-Identifier: Apache-2.0
-- Zones that are made without saying so have a first law too, with nothing in it.
CREATE OR REPLACE FUNCTION zone_first_law() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  INSERT INTO zone_law (zone, version, law, set_by)
    SELECT code, 1, '{}', '00000000-0000-0000-0000-000000000000' FROM fresh WHERE law_version = 1 ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
SELECT falaj_system_function('zone_first_law', 'falaj_app');
CREATE OR REPLACE TRIGGER zone_first_law AFTER INSERT ON zone REFERENCING NEW TABLE AS fresh
  FOR EACH STATEMENT EXECUTE FUNCTION zone_first_law();
