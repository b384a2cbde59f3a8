-- SPDX-License-Identifier: Apache-2.0
-- When and whence tokens were used last; falaj-api gathers the uses of a second into one call. What was gathered when a token
-- was revoked says nothing any more: its person may have been erased.
CREATE OR REPLACE FUNCTION authn_token_used(tenants uuid[], tokens uuid[], addresses text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE api_token k SET last_used_at = clock_timestamp(), last_used_ip = coalesce(nullif(i.address, '')::inet, k.last_used_ip)
    FROM unnest(tenants, tokens, addresses) AS i(tenant_id, token_id, address)
   WHERE k.tenant_id = i.tenant_id AND k.token_id = i.token_id AND k.revoked_at IS NULL;
END $$;
SELECT falaj_system_function('authn_token_used', 'falaj_app');
