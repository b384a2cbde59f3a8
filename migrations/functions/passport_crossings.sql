-- SPDX-License-Identifier: Apache-2.0
-- Each time a data set crossed from one zone to another, newest first, with the basis and who did it.
CREATE OR REPLACE FUNCTION passport_crossings(t uuid, set_id uuid, most bigint)
RETURNS TABLE (transfer_id uuid, dataset_version bigint, from_zone text, to_zone text, purpose text, rule text, legal_basis text,
               assessment_ref text, document_sha256 text, bytes bigint, by_user uuid, by_name text, at timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT x.transfer_id, x.version, x.from_zone, x.to_zone, x.purpose, x.rule, p.legal_basis, p.assessment_ref,
         encode(p.document_sha256, 'hex'), x.bytes, x.by_user, u.name, x.at
    FROM transfer x LEFT JOIN transfer_policy p ON p.tenant_id = t AND p.policy_id = x.policy_id
         LEFT JOIN app_user u ON u.tenant_id = t AND u.user_id = x.by_user
   WHERE x.tenant_id = t AND x.dataset_id = set_id ORDER BY x.transfer_id DESC LIMIT most $$;
GRANT EXECUTE ON FUNCTION passport_crossings(uuid, uuid, bigint) TO falaj_app;
