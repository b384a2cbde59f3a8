-- SPDX-License-Identifier: Apache-2.0
-- Has the caller's tenant a queue of that name, declared or in a quota rule, of whatever project? Asked of who acts in some
-- projects alone, too, who sees no row of the tenant as a whole (docs/adr/0080).
CREATE OR REPLACE FUNCTION queue_known(in_name text) RETURNS boolean
LANGUAGE sql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT EXISTS (SELECT FROM queue q WHERE q.tenant_id = current_setting('app.tenant')::uuid AND q.name = in_name)
      OR EXISTS (SELECT FROM quota_rule r
                  WHERE r.tenant_id = current_setting('app.tenant')::uuid AND r.place = 'queue' AND r.queue = in_name)
$$;
SELECT falaj_system_function('queue_known', 'falaj_app');
