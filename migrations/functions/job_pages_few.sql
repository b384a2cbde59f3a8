-- SPDX-License-Identifier: Apache-2.0
-- Whether values of a filter (job_facets; not none) stand in so few pages that their jobs are read faster than an index of all
-- jobs.
CREATE OR REPLACE FUNCTION job_pages_few(t uuid, wanted text[]) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT cardinality(wanted) > 0 AND EXISTS (SELECT FROM job_page WHERE tenant_id = t)
     AND (SELECT count(*) FROM (SELECT FROM job_page WHERE tenant_id = t AND facets @> wanted LIMIT 31) x) <= 30 $$;
