-- SPDX-License-Identifier: Apache-2.0
-- Sessions, devices and open invitations end with the person too. Outside tokens (JWT) and sign-on providers leave nothing that lives on: each of
-- their sign-ins reads the user's state.
CREATE OR REPLACE FUNCTION user_end_credentials(t uuid, u uuid) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE api_token SET revoked_at = coalesce(revoked_at, clock_timestamp()) WHERE tenant_id = t AND user_id = u;
  UPDATE session SET ended_at = clock_timestamp(), reason = 'revoked' WHERE tenant_id = t AND user_id = u AND ended_at IS NULL;
  UPDATE device_grant SET state = 'DENIED' WHERE of_tenant = t AND of_user = u AND state IN ('PENDING', 'APPROVED');
  UPDATE invitation SET state = 'WITHDRAWN' WHERE tenant_id = t AND created_by = u AND state = 'OPEN';
END $$;
