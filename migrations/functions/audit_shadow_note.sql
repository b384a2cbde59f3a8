-- SPDX-License-Identifier: Apache-2.0
-- Somebody who is not one of Falaj's programs changed a row (or emptied a table). The row's key goes into the log for ever, so
-- who a person is to a provider of sign-on (`subject`) is left out of it.
CREATE OR REPLACE FUNCTION audit_shadow_note() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE r jsonb := '{}';
BEGIN
  IF TG_LEVEL = 'ROW' AND TG_OP = 'DELETE' THEN
    r := to_jsonb(OLD);
  ELSIF TG_LEVEL = 'ROW' THEN
    r := to_jsonb(NEW);
  END IF;
  INSERT INTO audit_shadow (tenant_id, table_name, op, login, address, program, statement_sha, row_key)
  VALUES (coalesce((r ->> 'tenant_id')::uuid, '00000000-0000-0000-0000-000000000000'), TG_TABLE_NAME, TG_OP, session_user,
          host(inet_client_addr()), coalesce(current_setting('application_name', true), ''), sha256(convert_to(current_query(), 'UTF8')),
          coalesce((SELECT string_agg(a.attname || '=' || CASE a.attname WHEN 'subject' THEN '?' ELSE r ->> a.attname::text END,
                                      ' ' ORDER BY a.attnum)
                      FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
                     WHERE i.indrelid = TG_RELID AND i.indisprimary AND a.attname <> 'tenant_id'), ''));
  RETURN NULL;
END $$;
SELECT falaj_system_function('audit_shadow_note', 'falaj_owner');     -- falaj_owner makes its triggers
