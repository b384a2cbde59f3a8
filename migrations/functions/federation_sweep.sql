-- SPDX-License-Identifier: Apache-2.0
-- Removes what outside sign-ins left behind once its time is over.
CREATE OR REPLACE FUNCTION federation_sweep() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  DELETE FROM jwt_used WHERE until < clock_timestamp();
  DELETE FROM oidc_login WHERE expires_at < clock_timestamp();
END $$;
SELECT falaj_system_function('federation_sweep', 'falaj_app');
