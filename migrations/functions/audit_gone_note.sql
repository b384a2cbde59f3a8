-- SPDX-License-Identifier: Apache-2.0
-- Keeps the names of what is deleted, whichever program or route deletes it; not while its whole tenant goes.
-- TG_ARGV: the kind as the audit log writes it, and the column of the id.
CREATE OR REPLACE FUNCTION audit_gone_note() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  INSERT INTO audit_gone (tenant_id, kind, thing_id, name, display_name, display_name_ar)
  SELECT OLD.tenant_id, TG_ARGV[0], (to_jsonb(OLD) ->> TG_ARGV[1])::uuid, OLD.name,
         coalesce(to_jsonb(OLD) ->> 'display_name', ''), coalesce(to_jsonb(OLD) ->> 'display_name_ar', '') FROM tenant t
   WHERE t.tenant_id = OLD.tenant_id AND t.state <> 'DELETING'
      ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
SELECT falaj_system_function('audit_gone_note', 'falaj_owner');    -- falaj_owner makes its triggers
CREATE OR REPLACE TRIGGER audit_gone AFTER DELETE ON dataset
  FOR EACH ROW EXECUTE FUNCTION audit_gone_note('dataset', 'dataset_id');
CREATE OR REPLACE TRIGGER audit_gone AFTER DELETE ON model
  FOR EACH ROW EXECUTE FUNCTION audit_gone_note('model', 'model_id');
CREATE OR REPLACE TRIGGER audit_gone AFTER DELETE ON user_group
  FOR EACH ROW EXECUTE FUNCTION audit_gone_note('group', 'group_id');
