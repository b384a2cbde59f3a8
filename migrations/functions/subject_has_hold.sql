-- SPDX-License-Identifier: Apache-2.0
-- Is this person held? Asked before they are erased.
CREATE OR REPLACE FUNCTION subject_has_hold(t uuid, subject uuid) RETURNS boolean
LANGUAGE sql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT EXISTS (SELECT FROM audit_hold h WHERE h.state = 'ACTIVE' AND coalesce(h.about_tenant, h.tenant_id) = t
                    AND (h.subject_id IS NULL OR h.subject_id = subject))
$$;
SELECT falaj_system_function('subject_has_hold', 'falaj_app', 'falaj_scheduler');
