-- SPDX-License-Identifier: Apache-2.0
-- Whatever writes an attempt: its machine must stand where its tenant's data may be. Tenants that have the same zones and no rows of their
-- own are judged together; a tenant or job that is not there is nobody's, and is refused.
CREATE OR REPLACE FUNCTION attempt_residency() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  -- Nearly every attempt: at home, in a zone that takes data of the class, of a tenant whose zones are the same for each
  -- class. To all of these residency_zone_ok says yes, and setting its questions up costs as much as writing the attempts.
  IF NOT EXISTS (
    SELECT FROM fresh a
     WHERE NOT EXISTS (
       SELECT FROM (SELECT zone FROM node WHERE node.node_id = a.node_id LIMIT 1) n
         CROSS JOIN LATERAL (
           SELECT FROM tenant
            WHERE tenant.tenant_id = a.tenant_id AND tenant.home_zone = n.zone AND n.zone = ANY (tenant.allowed_zones)
              AND NOT EXISTS (SELECT FROM tenant_zone z WHERE z.tenant_id = a.tenant_id OFFSET 0) LIMIT 1) t
         CROSS JOIN LATERAL (
           SELECT data_class FROM job WHERE job.tenant_id = a.tenant_id AND job.job_id = a.job_id LIMIT 1) j
         CROSS JOIN LATERAL (
           SELECT FROM zone WHERE zone.code = n.zone AND j.data_class = ANY (zone.data_classes) LIMIT 1) z)) THEN
    RETURN NULL;
  END IF;
  -- Each look-up by its key, whatever the planner believes of the tables: joined otherwise it read all tenants.
  IF EXISTS (
    SELECT FROM (
      SELECT (array_agg(a.tenant_id))[1] AS tenant_id, j.data_class, j.kind, n.zone
        FROM fresh a
        LEFT JOIN LATERAL (
          SELECT data_class, kind FROM job WHERE job.tenant_id = a.tenant_id AND job.job_id = a.job_id LIMIT 1) j ON true
        LEFT JOIN LATERAL (SELECT zone FROM node WHERE node.node_id = a.node_id LIMIT 1) n ON true
        LEFT JOIN LATERAL (
          SELECT home_zone, allowed_zones FROM tenant WHERE tenant.tenant_id = a.tenant_id
             AND NOT EXISTS (SELECT FROM tenant_zone z WHERE z.tenant_id = a.tenant_id OFFSET 0)
             AND NOT EXISTS (SELECT FROM transfer_policy p WHERE p.tenant_id = a.tenant_id OFFSET 0) LIMIT 1) t ON true
       GROUP BY j.data_class, j.kind, n.zone, t.home_zone, t.allowed_zones, CASE WHEN t.home_zone IS NULL THEN a.tenant_id END) x
     WHERE residency_zone_ok(x.tenant_id, x.data_class, x.zone, job_purpose(x.kind)) IS NOT TRUE) THEN
    RAISE EXCEPTION 'the data may not be in that zone' USING ERRCODE = '42501';
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER attempt_residency AFTER INSERT ON attempt REFERENCING NEW TABLE AS fresh
  FOR EACH STATEMENT EXECUTE FUNCTION attempt_residency();
