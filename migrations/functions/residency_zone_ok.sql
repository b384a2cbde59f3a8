-- SPDX-License-Identifier: Apache-2.0
-- May a tenant's data of a class be in a zone now? The same question as tenants/residency.c asks, answered apart from it, from the
-- rows as they are at this moment: the last word on a lease. Unknown tenant, zone or class: no.
--   need 0: home or allowed, and no law of the home zone objects; 1: a policy in force; 2: a policy that names its exception.
CREATE OR REPLACE FUNCTION residency_zone_ok(t uuid, class text, target text, purpose_ text DEFAULT NULL) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  -- Nearly every question: at home, in a zone that takes data of the class, of a tenant whose zones are the same for each class.
  -- The rest answers these likewise (need 0), at three times the price.
  IF EXISTS (
    SELECT FROM (
      SELECT FROM tenant
       WHERE tenant.tenant_id = t AND tenant.home_zone = target AND target = ANY (tenant.allowed_zones)
         AND NOT EXISTS (SELECT FROM tenant_zone a WHERE a.tenant_id = t OFFSET 0) LIMIT 1) n
      CROSS JOIN LATERAL (SELECT FROM zone WHERE zone.code = target AND class = ANY (zone.data_classes) LIMIT 1) z) THEN
    RETURN true;
  END IF;
  -- PL/pgSQL keeps the plan of this query; an SQL function that pins its path would make it anew at each call.
  RETURN coalesce((
    SELECT class = ANY (z.data_classes) AND (need.level = 0 OR EXISTS (
             SELECT FROM transfer_policy p
              WHERE p.tenant_id = t AND p.to_zone = target AND p.from_zone = n.home_zone AND p.data_class = class AND p.state = 'ACTIVE'
                AND p.valid_from <= clock_timestamp() AND clock_timestamp() < p.valid_until AND p.purpose IN ('any', coalesce(purpose_, 'any'))
                AND (need.level < 2 OR p.exception_ref <> '')))
      FROM tenant n JOIN zone h ON h.code = n.home_zone JOIN zone z ON z.code = target
           CROSS JOIN LATERAL (
             SELECT greatest(
               CASE WHEN EXISTS (SELECT FROM tenant_zone a WHERE a.tenant_id = t AND a.data_class = class)
                    THEN NOT EXISTS (SELECT FROM tenant_zone a WHERE a.tenant_id = t AND a.data_class = class AND a.zone = target)
                    ELSE NOT (target = ANY (n.allowed_zones)) END::int,
               CASE WHEN h.code = z.code THEN 0
                    ELSE coalesce((SELECT max(CASE WHEN z.country = ANY (r.countries) OR (r.countries = '{}' AND z.country = h.country) THEN 0
                                                   WHEN r.may_leave = 'never' THEN 2 WHEN r.may_leave = 'with_basis' THEN 1 ELSE 0 END)
                                     FROM zone_rule r
                                    WHERE r.zone = h.code AND r.version = h.law_version AND r.data_class = class
                                      AND r.valid_from <= clock_timestamp() AND (r.valid_to IS NULL OR clock_timestamp() < r.valid_to)),
                                  CASE WHEN z.country = h.country OR class IN ('public', 'internal') THEN 0
                                       WHEN class IN ('health', 'banking', 'gov') THEN 2 ELSE 1 END) END) AS level) need
     WHERE n.tenant_id = t), false);
END $$;
