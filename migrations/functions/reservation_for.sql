-- SPDX-License-Identifier: Apache-2.0
-- Whom machines may be kept for: NULL where there is no such tenant in use or it has no such project, else how many of the zones
-- it may not use. In the platform's scope alone, which sees no projects.
CREATE OR REPLACE FUNCTION reservation_for(t uuid, project uuid, zones text[]) RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF current_setting('app.tenant')::uuid <> '00000000-0000-0000-0000-000000000000' THEN
    RAISE EXCEPTION 'machines are the platform''s' USING ERRCODE = 'FJ403';
  END IF;
  IF NOT project_goes(t, project) THEN
    RETURN NULL;
  END IF;
  RETURN (SELECT (SELECT count(*) FROM unnest(zones) AS z(zone)
                   WHERE z.zone <> x.home_zone AND NOT z.zone = ANY (x.allowed_zones))
            FROM tenant x WHERE x.tenant_id = t AND x.state = 'ACTIVE');
END $$;
SELECT falaj_system_function('reservation_for', 'falaj_app');
