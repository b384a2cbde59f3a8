-- SPDX-License-Identifier: Apache-2.0
-- An event of the system, written by the database itself: canonical bytes as audit/record.c makes them (tests/db compares the two).
CREATE OR REPLACE FUNCTION audit_system_event(t uuid, in_zone text, code text, action text, details text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  us bigint := extract(epoch FROM clock_timestamp()) * 1000000;
  b bytea := overlay(uuid_send(gen_random_uuid()) PLACING substring(int8send(us / 1000) FROM 3) FROM 1 FOR 6);
  id uuid := encode(set_byte(b, 6, (get_byte(b, 6) & 15) | 112), 'hex')::uuid;
BEGIN
  INSERT INTO audit_event (tenant_id, event_id, body) VALUES (t, id, convert_to(format(
    '{"v":1,"event_id":"%s","zone":"%s","tenant":"%s","ts_us":%s,"code":"%s","actor":{"type":"system","id":null,"roles":[],"token_id":null},'
    '"src_ip":null,"request_id":null,"resource":{"kind":"tenant","id":"tnt_%s"},"action":"%s","decision":{"effect":"allow","rule":null},'
    '"outcome":"success","http_status":null,"details":{%s}}',
    id, coalesce(in_zone, ''), t, us, code, replace(t::text, '-', ''), action, details), 'UTF8'));
END $$;
REVOKE ALL ON FUNCTION audit_system_event(uuid, text, text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION audit_system_event(uuid, text, text, text, text) TO falaj_system;
