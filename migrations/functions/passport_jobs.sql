-- SPDX-License-Identifier: Apache-2.0
-- Jobs that had a data set as input, in any version or copy, newest first, with who submitted them and in which zone the data
-- lay.
CREATE OR REPLACE FUNCTION passport_jobs(t uuid, set_id uuid, most bigint)
RETURNS TABLE (job_id uuid, name text, kind text, state text, zone text, dataset_version bigint, submitted_at timestamptz,
               submitted_by uuid, submitted_by_name text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT j.job_id, j.name, j.kind, j.state, o.zone, max(p.version), j.submitted_at, j.created_by, u.name
    FROM passport_places(t, set_id, most) p
         JOIN job_object i ON i.tenant_id = t AND i.object_id = p.object_id AND i.direction = 'input'
         JOIN job j ON j.tenant_id = t AND j.job_id = i.job_id
         JOIN object o ON o.tenant_id = t AND o.object_id = p.object_id
         LEFT JOIN app_user u ON u.tenant_id = t AND u.user_id = j.created_by
   GROUP BY j.job_id, j.name, j.kind, j.state, o.zone, j.submitted_at, j.created_by, u.name
   ORDER BY j.job_id DESC LIMIT most $$;
GRANT EXECUTE ON FUNCTION passport_jobs(uuid, uuid, bigint) TO falaj_app;
