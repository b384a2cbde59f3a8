-- SPDX-License-Identifier: Apache-2.0
-- The log is written once. Grants say so already; this says it to the owner's login as well.
CREATE OR REPLACE FUNCTION audit_refuse_rewrite() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'the audit log is written once' USING ERRCODE = '42501';
END $$;
CREATE OR REPLACE TRIGGER audit_refuse BEFORE UPDATE OR DELETE ON audit_event FOR EACH ROW
  WHEN (session_user = ANY ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_migrate}'::name[])) EXECUTE FUNCTION audit_refuse_rewrite();
ALTER TABLE audit_event ENABLE ALWAYS TRIGGER audit_refuse;
CREATE OR REPLACE TRIGGER audit_refuse BEFORE UPDATE OR DELETE ON audit_seq FOR EACH ROW
  WHEN (session_user = ANY ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_migrate}'::name[])) EXECUTE FUNCTION audit_refuse_rewrite();
ALTER TABLE audit_seq ENABLE ALWAYS TRIGGER audit_refuse;
CREATE OR REPLACE TRIGGER audit_refuse BEFORE UPDATE OR DELETE ON audit_head FOR EACH ROW
  WHEN (session_user = ANY ('{falaj_app,falaj_worker_api,falaj_scheduler,falaj_sequencer,falaj_migrate}'::name[])) EXECUTE FUNCTION audit_refuse_rewrite();
ALTER TABLE audit_head ENABLE ALWAYS TRIGGER audit_refuse;
