-- SPDX-License-Identifier: Apache-2.0
-- Versions of models that were made by jobs with a data set as input, newest first, each with how many deployments serve it now.
CREATE OR REPLACE FUNCTION passport_models(t uuid, set_id uuid, most bigint)
RETURNS TABLE (model_id uuid, name text, display_name text, display_name_ar text, version bigint,
               job_id uuid, created_at timestamptz, deployments bigint)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT m.model_id, m.name, m.display_name, m.display_name_ar, v.version, v.job_id, v.created_at,
         (SELECT count(*) FROM deployment d
           WHERE d.tenant_id = t AND d.model_id = v.model_id AND d.model_version = v.version AND d.state = 'ACTIVE')
    FROM model_version v JOIN model m ON m.tenant_id = t AND m.model_id = v.model_id
   WHERE v.tenant_id = t AND v.job_id IN (SELECT j.job_id FROM passport_jobs(t, set_id, most) j)
   ORDER BY v.created_at DESC, m.name LIMIT most $$;
GRANT EXECUTE ON FUNCTION passport_models(uuid, uuid, bigint) TO falaj_app;
