-- SPDX-License-Identifier: Apache-2.0
-- Keeps from whom an account, a role, a link or a token of a user came, whichever program or route wrote the row. Of a link that
-- nobody made by hand the giver is who set the provider up: at a provider of one's own one signs in as anybody.
CREATE OR REPLACE FUNCTION person_origin_note() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  giver uuid;
  kind text;
BEGIN
  CASE TG_TABLE_NAME
  WHEN 'app_user' THEN
    giver := NEW.created_by;
    kind := 'account';
  WHEN 'role_binding' THEN
    giver := NEW.created_by;
    kind := 'role';
  WHEN 'api_token' THEN
    giver := NEW.created_by;
    kind := 'token';
  WHEN 'federated_user' THEN
    giver := NEW.linked_by;
    kind := 'link';
    INSERT INTO person_origin (tenant_id, user_id, maker, what, at)
    SELECT NEW.tenant_id, NEW.user_id, p.set_by, 'provider', clock_timestamp() FROM identity_provider p
     WHERE p.tenant_id = NEW.tenant_id AND p.provider_id = NEW.provider_id AND p.set_by <> NEW.user_id
        ON CONFLICT (tenant_id, user_id, maker, what) DO UPDATE SET at = excluded.at;
  ELSE
    SELECT i.created_by INTO giver FROM issuer i WHERE i.tenant_id = NEW.tenant_id AND i.issuer_id = NEW.issuer_id;
    kind := 'subject';
  END CASE;
  IF giver IS NOT NULL AND giver <> NEW.user_id THEN
    INSERT INTO person_origin (tenant_id, user_id, maker, what, at) VALUES (NEW.tenant_id, NEW.user_id, giver, kind,
        clock_timestamp())
        ON CONFLICT (tenant_id, user_id, maker, what) DO UPDATE SET at = excluded.at;
  END IF;
  RETURN NULL;
END $$;
SELECT falaj_system_function('person_origin_note', 'falaj_owner');    -- falaj_owner makes its triggers
CREATE OR REPLACE TRIGGER person_origin AFTER INSERT OR UPDATE OF created_by ON app_user
  FOR EACH ROW EXECUTE FUNCTION person_origin_note();
CREATE OR REPLACE TRIGGER person_origin AFTER INSERT ON role_binding FOR EACH ROW EXECUTE FUNCTION person_origin_note();
CREATE OR REPLACE TRIGGER person_origin AFTER INSERT ON api_token FOR EACH ROW EXECUTE FUNCTION person_origin_note();
CREATE OR REPLACE TRIGGER person_origin AFTER INSERT ON federated_user FOR EACH ROW EXECUTE FUNCTION person_origin_note();
CREATE OR REPLACE TRIGGER person_origin AFTER INSERT ON issuer_subject FOR EACH ROW EXECUTE FUNCTION person_origin_note();
