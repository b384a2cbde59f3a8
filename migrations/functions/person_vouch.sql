-- SPDX-License-Identifier: Apache-2.0
-- Two people have said that this account is a person of its own. What others may have made for it ends: tokens, sessions, links
-- made by hand, subjects; the person signs in anew.
CREATE OR REPLACE FUNCTION person_vouch(t uuid, u uuid, approved_by uuid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  PERFORM user_end_credentials(t, u);
  DELETE FROM federated_user WHERE tenant_id = t AND user_id = u AND linked_by IS NOT NULL;
  DELETE FROM issuer_subject WHERE tenant_id = t AND user_id = u;
  UPDATE app_user SET vouched_at = clock_timestamp(), vouched_by = approved_by, version = version + 1 WHERE tenant_id =
      t AND user_id = u;
END $$;
