-- SPDX-License-Identifier: Apache-2.0
-- When sessions were used last; one that has ended stays ended.
CREATE OR REPLACE FUNCTION session_seen(tenants uuid[], sessions uuid[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE session s SET last_seen = clock_timestamp()
    FROM unnest(tenants, sessions) AS i(tenant_id, session_id)
   WHERE s.tenant_id = i.tenant_id AND s.session_id = i.session_id AND s.ended_at IS NULL;
END $$;
SELECT falaj_system_function('session_seen', 'falaj_app');
