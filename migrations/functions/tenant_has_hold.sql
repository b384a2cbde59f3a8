-- SPDX-License-Identifier: Apache-2.0
-- Is anything of this tenant held? Asked before it or its keys are destroyed.
CREATE OR REPLACE FUNCTION tenant_has_hold(t uuid) RETURNS boolean
LANGUAGE sql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT EXISTS (SELECT FROM audit_hold h WHERE h.state = 'ACTIVE' AND coalesce(h.about_tenant, h.tenant_id) = t)
$$;
SELECT falaj_system_function('tenant_has_hold', 'falaj_app', 'falaj_scheduler');
