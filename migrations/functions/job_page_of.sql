-- SPDX-License-Identifier: Apache-2.0
-- What a page (job_page) of the jobs with after < job_id <= last says.
CREATE OR REPLACE FUNCTION job_page_of(t uuid, after uuid, last uuid, OUT jobs bigint, OUT names text, OUT ids uuid[],
    OUT facets text[])
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT count(*), string_agg(replace(lower(j.name), chr(1), ' '), chr(1) ORDER BY j.job_id),
      array_agg(j.job_id ORDER BY j.job_id),
         ARRAY(SELECT DISTINCT f FROM job v, unnest(job_facets(v.kind, v.project_id, v.created_by, v.zone, v.pool)) f
                WHERE v.tenant_id = t AND v.job_id > after AND v.job_id <= last)
    FROM job j WHERE j.tenant_id = t AND j.job_id > after AND j.job_id <= last $$;
