-- SPDX-License-Identifier: Apache-2.0
-- How many days a class of events of a tenant is kept: its own term or the platform's, and never less than its zone's least.
CREATE OR REPLACE FUNCTION audit_keep_days(t uuid, of_class text) RETURNS bigint
LANGUAGE sql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT greatest(
    coalesce((SELECT r.keep_days FROM audit_retention r WHERE r.tenant_id = t AND r.zone = '' AND r.class IN (of_class, '*')
               ORDER BY r.class = '*' LIMIT 1),
             (SELECT r.keep_days FROM audit_retention r WHERE r.tenant_id = '00000000-0000-0000-0000-000000000000' AND r.zone = ''
                 AND r.class IN (of_class, '*') ORDER BY r.class = '*' LIMIT 1), 2557),
    coalesce((SELECT max(r.keep_days) FROM audit_retention r JOIN tenant n ON n.tenant_id = t AND n.home_zone = r.zone
               WHERE r.tenant_id = '00000000-0000-0000-0000-000000000000' AND r.class IN (of_class, '*')), 0))
$$;
SELECT falaj_system_function('audit_keep_days', 'falaj_app', 'falaj_scheduler');
