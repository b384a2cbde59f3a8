-- SPDX-License-Identifier: Apache-2.0
-- The issuers that a token may come from by what it says of itself, unverified: nothing is believed of it before its signature is checked
-- with the keys found here.
CREATE OR REPLACE FUNCTION issuer_find(token_issuer text, audiences text[])
RETURNS TABLE (tenant_id uuid, issuer_id uuid, issuer text, audience text, algorithms text[], jwks_uri text, jwks jsonb, single_use boolean)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT i.tenant_id, i.issuer_id, i.issuer, i.audience, i.algorithms, i.jwks_uri, i.jwks, i.single_use
    FROM issuer i WHERE i.issuer = token_issuer AND i.audience = ANY (audiences) AND i.state = 'ACTIVE' LIMIT 2;
END $$;
SELECT falaj_system_function('issuer_find', 'falaj_app');
