-- SPDX-License-Identifier: Apache-2.0
-- Open uploads of the whole tenant, also for those who are held to some of its projects.
CREATE OR REPLACE FUNCTION uploads_open(in_tenant uuid, in_user uuid, OUT of_tenant bigint, OUT of_user bigint)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF in_tenant IS DISTINCT FROM nullif(current_setting('app.tenant', true), '')::uuid THEN
    RETURN;
  END IF;
  SELECT count(*), count(*) FILTER (WHERE u.created_by = in_user) INTO of_tenant, of_user
    FROM upload u WHERE u.tenant_id = in_tenant AND u.state IN ('OPEN', 'COMPLETING');
END $$;
SELECT falaj_system_function('uploads_open', 'falaj_app');
