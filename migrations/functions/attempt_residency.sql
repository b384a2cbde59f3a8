-- SPDX-License-Identifier: Apache-2.0
-- Whatever writes an attempt: its machine must stand where its tenant's data may be.
CREATE OR REPLACE FUNCTION attempt_residency() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM (SELECT DISTINCT a.tenant_id, j.data_class, j.kind, n.zone FROM fresh a
                            JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id JOIN node n ON n.node_id = a.node_id) x
              WHERE NOT residency_zone_ok(x.tenant_id, x.data_class, x.zone, job_purpose(x.kind))) THEN
    RAISE EXCEPTION 'the data may not be in that zone' USING ERRCODE = '42501';
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER attempt_residency AFTER INSERT ON attempt REFERENCING NEW TABLE AS fresh
  FOR EACH STATEMENT EXECUTE FUNCTION attempt_residency();
