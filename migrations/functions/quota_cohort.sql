-- SPDX-License-Identifier: Apache-2.0
-- What the tenants of one cohort have of a resource, for the rule of one of them: sums only, never who.
CREATE OR REPLACE FUNCTION quota_cohort(in_resource text, in_flavor text, in_zone text, but uuid, OUT lendable bigint, OUT lent bigint)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  SELECT coalesce(sum(coalesce(r.lending_limit, r.nominal)), 0), coalesce(sum(greatest(0, u.n - (r.nominal - coalesce(r.lending_limit, r.nominal)))), 0)
    INTO lendable, lent
    FROM quota_rule r CROSS JOIN LATERAL (
      SELECT coalesce(sum(CASE r.resource WHEN 'slots' THEN a.slots ELSE a.gpus END), 0) AS n
        FROM attempt a JOIN node m ON m.node_id = a.node_id
       WHERE a.tenant_id = r.tenant_id AND a.live AND (r.flavor = '' OR r.flavor = m.flavor) AND (r.zone = '' OR r.zone = m.zone)) u
   WHERE r.place = 'tenant' AND r.resource = in_resource AND r.flavor = in_flavor AND r.zone = in_zone AND r.tenant_id <> but;
END $$;
SELECT falaj_system_function('quota_cohort', 'falaj_app');
