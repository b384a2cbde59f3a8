-- SPDX-License-Identifier: Apache-2.0
-- A key's state changes along the rows of key_edge only.
CREATE OR REPLACE FUNCTION tenant_key_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF NEW.state <> OLD.state AND NOT EXISTS (SELECT FROM key_edge WHERE from_state = OLD.state AND to_state = NEW.state) THEN
    RAISE EXCEPTION 'key state % does not become %', OLD.state, NEW.state USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER tenant_key_guard BEFORE UPDATE OF state ON tenant_key FOR EACH ROW EXECUTE FUNCTION tenant_key_guard();
