-- SPDX-License-Identifier: Apache-2.0
-- Counts every change of reservations, so that planners which remember them notice.
CREATE OR REPLACE FUNCTION reservation_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE reservation_revision SET revision = revision + 1 WHERE id = 1;
  RETURN NULL;
END $$;
SELECT falaj_system_function('reservation_changed', 'falaj_app');
CREATE OR REPLACE TRIGGER reservation_changed AFTER INSERT OR UPDATE OR DELETE ON reservation
  FOR EACH STATEMENT EXECUTE FUNCTION reservation_changed();
CREATE OR REPLACE TRIGGER reservation_machine_changed AFTER INSERT OR UPDATE OR DELETE ON reservation_machine
  FOR EACH STATEMENT EXECUTE FUNCTION reservation_changed();
