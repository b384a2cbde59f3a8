-- SPDX-License-Identifier: Apache-2.0
-- The jobs of a tenant ($1) whose live attempt has said where it listens.
CREATE OR REPLACE FUNCTION serving_jobs() RETURNS text LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT 'SELECT a.job_id FROM attempt a JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id AND j.fence = a.fence'
         ' WHERE a.tenant_id = $1 AND a.live AND a.state = ''RUNNING'' AND a.endpoint IS NOT NULL AND j.state = ''RUNNING''' $$;
